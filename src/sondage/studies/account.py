"""What a study tells: where it stands, its labels and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from reprlib import repr as brief
from typing import Any, Self

import numpy as np

from sondage.core.checks import listed, require, require_generator
from sondage.studies.answers import compare_session, estimate_session
from sondage.studies.chronicle import Chronicle, held_by
from sondage.studies.labels import decode_label
from sondage.studies.selecting import select_session
from sondage.studies.session import Session

__all__ = ["Account", "Status"]


@dataclass(frozen=True)
class Status:
    """Where a study stands.

    Attributes
    ----------
    budget, spent : float
        Labels, or cost.
    asked, labelled, skipped, pending : int
        Items asked for, and of these: answered, answered with a skip, not answered.
    remaining : int
        Items that can still be asked for.
    claimed : int
        Labels that somebody is at work on.
    wanted : int
        Labels that the items asked for are still to get; more than `pending` where several people label an item.
    disputed : int
        Items of which people disagree without a majority; they are pending until somebody resolves them.
    costs : bool
        Whether `budget` and `spent` are cost.
    """

    budget: float
    spent: float
    asked: int
    labelled: int
    skipped: int
    pending: int
    remaining: int
    claimed: int = 0
    wanted: int = 0
    disputed: int = 0
    costs: bool = False

    @classmethod
    def of(cls, session: Session, **more: Any) -> Self:
        """Return the counts of a session, with what only its study knows."""
        return cls(
            budget=session.budget,
            spent=session.spent,
            asked=len(session.asked),
            labelled=session.n_labels,
            skipped=sum(label is None for label in session.answers.values()),
            pending=len(session.pending),
            remaining=session.remaining,
            costs=session.costs is not None,
            **more,
        )

    @property
    def complete(self) -> bool:
        """Whether everything was asked for and answered."""
        return not self.remaining and not self.pending and not self.wanted


class Account(Chronicle):
    """The side of a study that only reads."""

    def __repr__(self) -> str:
        status, question = self.status, self.question
        measures = ", ".join(measure.name for measure in question.measures)
        return (
            f"<Study {self._store.name}: {question.kind} {measures}, {status.labelled} of {status.budget:g} labelled>"
        )

    @property
    def status(self) -> Status:
        """Counts, as they are in the file now."""
        with self._reading() as (session, ledger):
            at_work = ledger.assignments.open()
            return Status.of(
                session,
                claimed=sum(held_by(at_work).values()),
                wanted=len(at_work),
                disputed=sum(position not in session.answers for position in session.opinions),
            )

    def estimate(self, generator: np.random.Generator | None = None) -> Any:
        """Return the answer from the labels so far; the pool is not needed.

        Parameters
        ----------
        generator : numpy.random.Generator, optional
            Randomness of a permutation or bootstrap test; by default it follows from the study's seed.

        Returns
        -------
        Estimate, dict of str to Estimate, Comparison or Selection
            By the question: of one measure; of several, by their full names (``"f1:positive=spam"`` where the study
            has a positive class); of two models; of all.

        Raises
        ------
        InputError
            If there are no labels yet, or `generator` is no random generator.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     _ = study.tell(study.ask(3), ["ham"] * 3)
        ...     print(study.estimate())
        error_rate of model: 0.3333 +- 0 (3 labels)
        """
        return self.answer_of(self.snapshot(), generator)

    def answer_of(self, session: Session, generator: np.random.Generator | None = None) -> Any:
        """Return the answer from the labels of a snapshot, as `estimate` does from those in the file now.

        Parts of an answer are worked out when they are asked for: what is told later does not change them, and nobody
        waits while they are.

        Raises
        ------
        InputError
            If `session` is no snapshot, or as for `estimate`.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     _ = study.ask(3), study.tell(["a"], ["ham"])
        ...     before = study.snapshot()
        ...     _ = study.tell(["b", "c"], ["spam", "spam"])
        ...     study.answer_of(before).n_labels, study.estimate().n_labels
        (1, 3)
        """
        rule = "it must be a snapshot of the study, as in study.answer_of(study.snapshot())"
        require(
            isinstance(session, Session), f"session={brief(session)}: {rule}; an item's label is study.labels()[id]"
        )
        require_generator(generator)
        if self.question.kind == "compare":
            return compare_session(session, generator)
        if self.question.kind == "select":
            return select_session(session)
        estimates = estimate_session(session)
        return estimates if self._facts["several"] else next(iter(estimates.values()))

    def snapshot(self) -> Session:
        """Return the session as it is in the file now; what happens later does not change it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     before = study.snapshot()
        ...     _ = study.ask(3)
        ...     len(before.asked), len(study.snapshot().asked)
        (0, 3)
        """
        with self._reading() as (session, _):
            return session.copied()

    def fields(self, ids: Any) -> list[dict[str, Any]]:
        """Return what the pool shows to a labeller of these items.

        Parameters
        ----------
        ids : iterable
            Ids that were asked for, or their texts.

        Returns
        -------
        list of dict
            For each item field -> value; of a ranking's documents field -> (document -> value).

        Raises
        ------
        LabelError
            If an item was never asked for.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9], ids=["a", "b"], fields={"text": ["see you", "win"]})
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=2) as study:
        ...     _ = study.ask(2)
        ...     study.fields(["b", "a"])
        [{'text': 'win'}, {'text': 'see you'}]
        """
        with self._reading() as (session, _):
            return [self._shown(session.ids[position]) for position in session.located(listed("ids", ids))]

    def documents(self, ids: Any) -> list[list[Any]]:
        """Return, of rankings, the documents of these queries; a label judges all of them.

        Parameters
        ----------
        ids : iterable
            Queries that were asked for, or their texts.

        Raises
        ------
        LabelError
            If a query was never asked for.
        """
        with self._reading() as (session, _):
            return [session.documents(position) for position in session.located(listed("ids", ids))]

    def labels(self) -> dict[Any, Any]:
        """Return the labels that count, in the order of asking, by id; None is a skip, pending items are left out.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     _ = study.ask(3), study.tell({"a": "ham", "b": None})
        ...     sorted(study.labels().items())
        [('a', 'ham'), ('b', None)]
        """
        with self._reading() as (session, _):
            answers = {session.ids[p]: session.answers[p] for p in session.asked if p in session.answers}
        return {name: decode_label(label, self.task) for name, label in answers.items()}
