"""The default method as it suits a question: uniform where two classifiers differ, towards contenders among many."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sondage.core.comparisons import Contrast
from sondage.core.measures import Accuracy, ErrorRate, Task
from sondage.core.measures.bases import ROUNDING
from sondage.core.predictions import Classes
from sondage.core.ratios import decided_by_untold
from sondage.core.samples import Known
from sondage.core.significance import Counts
from sondage.pools import Pool
from sondage.studies.method import METHODS, Method, Question

if TYPE_CHECKING:
    from sondage.studies.session import Session

__all__ = ["classes_decide", "counts_of", "fitted_method", "immovable", "meant_to_count"]

_DRAWN_BY = ("design", "floor", "draw", "estimator", "stages", "belief")
_UNIFORM: dict[str, Any] = {"design": "active_neq", "floor": 0.0, "estimator": "hajek", "stages": (1.0,)}


def fitted_method(pool: Pool, question: Question, method: Method, *, begun: bool = False) -> Method:
    """Return the method, of which the default's draw is chosen by the question.

    Two classifiers compared by `ErrorRate` or `Accuracy`, with equal weights and costs, are labelled uniformly where
    they differ, which allows an exact test; a judge, or a belief that is named, makes the staged draw better. Three
    models and more get the staged draw that turns to the contenders.

    Parameters
    ----------
    pool, question, method
        What is asked of what, and how; a method whose draw was named stays as it is.
    begun : bool
        Whether there are labels already, of items on which the two models may agree: they go with stages alone.
    """
    default = METHODS["default"]
    if any(getattr(method, part) != getattr(default, part) for part in _DRAWN_BY) or question.kind == "evaluate":
        return method
    if len(question.models) > 2:
        if question.measures[0].ready(pool.task).corrected is not None:  # its influences' signs are not known
            return method
        return replace(method, design="contenders", belief=None if _informed(pool) else "vote")
    if begun or not _countable(pool, question):
        return method
    belief = "vote" if question.kind == "select" else None  # for each model's own value, where they agree
    return replace(method, **_UNIFORM, belief=belief)


def _informed(pool: Pool) -> bool:
    """Return whether the pool tells more of the labels than the models do."""
    return bool(pool.judges) or pool.outline.features is not None


def _countable(pool: Pool, question: Question) -> bool:
    """Return whether the two models differ by counts of items alone."""
    plain = (pool.prices is None or pool.prices.equal) and not _informed(pool) and not pool.grouped
    return _counts_right(question, pool.task) and plain and pool.equal_weights


def _counts_right(question: Question, task: Task) -> bool:
    """Return whether the first measure counts which predicted classes are right."""
    return isinstance(question.measures[0], Accuracy | ErrorRate) and task.kind == "classification"


def meant_to_count(session: Session) -> bool:
    """Return whether the items were drawn uniformly where the two models differ, for an exact test."""
    method, question = session.method, session.question
    uniform = all(getattr(method, part) == wanted for part, wanted in _UNIFORM.items() if part != "estimator")
    plain = session.units is None and method.draw == "without_replacement"
    two = len(question.models) == 2 and _counts_right(question, session.task)
    return uniform and two and plain and session.stage.drawn.settings["equal"]


def immovable(session: Session) -> bool:
    """Return whether no label can move what is asked for, and the estimator tells it without any.

    A population may have items of which the pool has none, and a mean over the classes that occur follows from which
    of them labels show.
    """
    known, method = session.stages[0].known, session.method
    told = known.immovable and method.target == "pool" and (method.assisted or meant_to_count(session))
    return told and not classes_decide(session, known)


def classes_decide(session: Session, known: Known) -> bool:
    """Return whether what is asked for follows from which of the classes occur that no label shows yet."""
    question, (first, *others) = session.question, map(session.models.index, session.question.models)
    functionals = question.functionals(session.task)
    if not any(one.class_ratios is not None and one.class_ratios.occurring for one in functionals):
        return False
    shown = set(np.unique(session.rows(np.array(session.labelled, dtype=np.int64))[1]).tolist())
    against: list[tuple[tuple[int, float], ...]] = [((other, -1.0),) for other in others] or [()]
    contrasts = [Contrast(functional, ((first, 1.0), *one)) for functional in functionals for one in against]
    return any(decided_by_untold(one, known.means_of(one), shown) for one in contrasts)


def _pool_size(weight: float) -> float:
    """Return how many items of this weight the pool has; a whole number unless others have other weights."""
    size = 1.0 / weight
    return float(round(size)) if abs(size - round(size)) <= ROUNDING * size else size


def counts_of(session: Session, models: tuple[int, ...]) -> Counts | None:
    """Return what an exact test counts; None where the labels are not a random part of the items that differ.

    Parameters
    ----------
    session : Session
        Of a question about two models.
    models : tuple of int
        First and second model.
    """
    asked = np.array(session.asked, dtype=np.int64)
    if not meant_to_count(session) or any(session.answers.get(p) is None for p in session.asked):
        return None
    items, labels, _ = session.rows(asked)
    first, second = (cast(Classes, items.models[model]).predictions for model in models)
    if not np.all(first != second):  # the models never differ, and anything was drawn
        return None
    sign = 1 if isinstance(session.question.measures[0], Accuracy) else -1
    difference = sign * ((first == labels).astype(np.int64) - (second == labels))
    positive, negative = int(np.sum(difference > 0)), int(np.sum(difference < 0))
    return Counts(
        positive,
        negative,
        len(asked) - positive - negative,
        disagreement_size=int(session.stage.drawn.settings["support"]),
        pool_size=_pool_size(float(items.weights[0])),
        ties=len(session.task.classes) > 2,
    )
