"""A study: a session that is kept in a file, survives everything, and is shared by processes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from reprlib import repr as brief
from types import TracebackType
from typing import Any

from sondage.core.checks import is_listed, require_number
from sondage.core.display import Shown
from sondage.core.measures import Measure
from sondage.errors import InputError, MeasureError
from sondage.pools import Pool
from sondage.pools.orders import tell_numbering
from sondage.studies.account import Account
from sondage.studies.desk import Desk
from sondage.studies.filing import creation_event, plan_event, stage_row, stage_rows, study_row, told_rows
from sondage.studies.method import Method, choose_method
from sondage.studies.questions import are_several, make_question
from sondage.studies.records import dump
from sondage.studies.session import Session
from sondage.studies.sharing import make_sharing
from sondage.studies.times import now

__all__ = ["Study"]


class Study(Account, Desk, Shown):
    """A question, its drawn items and their labels, in one file; made by `create`, found again by `open`.

    Every `ask`, `tell` and `extend` is one transaction: what returned is on the disk, what was interrupted left
    nothing. Several processes may hold the same study.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> pool = Pool(probabilities=[0.1, 0.9, 0.4, 0.7])
    >>> with TemporaryDirectory() as folder:
    ...     study = Study.create(f"{folder}/study.db", pool, measure="error_rate", budget=4)
    ...     study.tell(study.ask(4), [0, 0, 0, 0])
    ...     study.estimate().value
    4
    0.5
    """

    def __init__(self, *parts: Any, **named: Any) -> None:
        from sondage.studies.store import Store  # here, for SQLAlchemy takes a third of the time to import sondage

        if not (parts and isinstance(parts[0], Store)):
            raise InputError("a study is made with Study.create(place, pool, ...), and opened with Study.open(place)")
        super().__init__(*parts, **named)

    @classmethod
    def create(
        cls,
        place: str | os.PathLike[str],
        pool: Pool,
        measure: str | Measure | Sequence[str | Measure] = "error_rate",
        budget: float = 0,
        seed: int = 0,
        *,
        model: str | None = None,
        compare: Sequence[str] | None = None,
        select: bool = False,
        models: Sequence[str] | None = None,
        positive: Any = None,
        method: str | Method | None = None,
        start: Any = None,
        alpha: float = 0.05,
        alternative: str = "two-sided",
        margin: float = 0.0,
        raters: int | None = None,
        overlap: float | None = None,
        lease: float = 30.0,
        **parts: Any,
    ) -> Study:
        """Plan a study, draw its items and write it.

        Parameters
        ----------
        place : str or path
            The file to make, or a database URL.
        pool, measure, budget, seed, model
            As for `sondage.evaluate`.
        compare : (str, str), optional
            Compare these two models, as `sondage.compare`.
        select : bool
            Rank all models, or those of `models`, as `sondage.select`.
        models : sequence of str, optional
            Which models to rank.
        positive, method, start
            As for `sondage.evaluate`; labels that there are already are nobody's.
        alpha : float
            Level of the tests, in (0, 1).
        alternative, margin
            As for `sondage.compare`, which they go with.
        raters : int, optional
            How many people label each item of the share `overlap`, 1 to 1,000; each other item is labelled once. By
            default 1, or 2 where there is an overlap.
        overlap : float, optional
            Share of the items that several people label, in [0, 1], chosen by the seed; by default all if there are
            several raters.
        lease : float
            Minutes that a claim holds.
        **parts
            As for `sondage.compare`. A study keeps the method it began with.

        Returns
        -------
        Study
            With its first stage drawn, open.

        Raises
        ------
        StudyError
            If there is a study already, or the place cannot be written.
        InputError
            If an argument is not allowed; nothing is written.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> pool = Pool(probabilities=[0.1, 0.9, 0.4, 0.7])
        >>> with TemporaryDirectory() as folder:
        ...     with Study.create(f"{folder}/study.db", pool, measure="f1", budget=3, seed=1) as study:
        ...         study.status.remaining
        3
        """
        from sondage.studies.store import Store  # here, for SQLAlchemy takes a third of the time to import sondage

        question = make_question(
            pool,
            measure,
            model=model,
            compare=compare,
            select=select,
            models=models,
            positive=positive,
            alpha=alpha,
            alternative=alternative,
            margin=margin,
        )
        sharing = make_sharing(raters, overlap, lease)
        store = Store(place)
        store.require_free()
        tell_numbering(pool)
        chosen = choose_method(method, **parts)
        session = Session.start(pool, question, chosen, budget=budget, seed=seed, start=start, kept=True)
        facts = study_row(pool, session, are_several(measure), sharing)
        drawn = [stage_rows(session, pool, number, sharing) for number in range(len(session.stages))]
        store.use_log()
        with store.writing() as new:
            new.make_tables()
            new.add_study(facts)
            new.add_events([creation_event(facts)])
            for number, stage in enumerate(drawn):
                new.add_stage(*stage)
                before = session.early(session.firsts[number]).n_labels
                new.add_events([plan_event(session, facts["created"], before, number=number)])
            new.add_told(told_rows(session), facts["created"])
        return cls(store, pool, {measure.name: measure for measure in question.measures})

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str],
        pool: Pool | None = None,
        measures: Measure | Iterable[Measure] | None = None,
    ) -> Study:
        """Open a study.

        Parameters
        ----------
        place : str or path
            The file, or a database URL.
        pool : Pool, optional
            The pool, to be checked against the study's and for `extend`.
        measures : Measure or iterable of Measure, optional
            Your own measures, which a file cannot hold.

        Returns
        -------
        Study
            As it was left: question, draw and labels are those of the file.

        Raises
        ------
        StudyError
            If there is no study, it is of another pool or of a newer release, or needs your own measure.
        InputError
            If `measures` has something else, or `pool` is no pool.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> pool = Pool(probabilities=[0.1, 0.9, 0.4, 0.7])
        >>> with TemporaryDirectory() as folder:
        ...     Study.create(f"{folder}/study.db", pool, budget=3).close()
        ...     with Study.open(f"{folder}/study.db") as study:
        ...         study.question.measures[0].name
        'error_rate'
        """
        from sondage.studies.store import Store  # here, for SQLAlchemy takes a third of the time to import sondage

        own = _own_measures(measures)
        store = Store(place)
        store.require_study()
        return cls(store, pool, own)

    def __enter__(self) -> Study:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; a call after that opens it again. ``with`` does so at its end.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     study = Study.create(f"{folder}/study.db", Pool(probabilities=[0.1, 0.9, 0.4, 0.7]), budget=3)
        ...     study.close()
        """
        self._store.close()

    def extend(self, budget: float, pool: Pool | None = None) -> None:
        """Raise the budget; nothing asked so far changes.

        A single draw goes on in the same order; a staged method plans further stages from the labels.

        Parameters
        ----------
        budget : float
            The new budget, above the present one; or the present one, with a pool whose file has moved.
        pool : Pool, optional
            The pool; by default the one the study was opened with, or the file it came from, read again. Where it was
            read from a file, later stages find it there.

        Raises
        ------
        StudyError
            If the pool is not there, or not the same.
        InputError
            If the budget is not above the present one, or above the pool.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> pool = Pool(probabilities=[0.1, 0.9, 0.4, 0.7])
        >>> with TemporaryDirectory() as folder:
        ...     with Study.create(f"{folder}/study.db", pool, budget=2) as study:
        ...         told = study.tell(study.ask(2), [0, 0])
        ...         study.extend(3)
        ...         told, study.status.remaining
        (2, 1)
        """
        require_number("budget", budget)
        given, pool = pool, self._present_pool(pool)
        with self._writing() as (session, ledger):
            self._forget()
            if pool.source is not None:  # later stages look for it there
                ledger.move_pool(pool.source, dump(pool.reading))
            if given is not None and given.source is not None and budget == session.budget:
                ledger.count_revision()
                return
            before, at = session.budget, now()
            session.extend(pool, budget)
            if session.method.staged:
                ledger.end_stage(stage_row(session, len(session.stages) - 1), len(session.ids))
            else:
                ledger.drop_stages()
                ledger.add_stage(*stage_rows(session, pool, 0, self.sharing))
            ledger.raise_budget(session.budget)
            ledger.count_revision()
            ledger.add_events([{"at": at, "kind": "extended", "details": {"from": before, "to": session.budget}}])


def _own_measures(measures: Measure | Iterable[Measure] | None) -> dict[str, Measure]:
    """Return the user's measures by name."""
    given: Any = () if measures is None else measures if is_listed(measures) else [measures]
    found: dict[str, Measure] = {}
    for one in given:
        if isinstance(one, type) or not isinstance(one, Measure):
            raise MeasureError(f"measures has {brief(one)}, which is no measure of your own; a study knows all others")
        found[one.name] = one
    return found
