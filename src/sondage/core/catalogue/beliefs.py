"""Beliefs by name: model, vote, uniform, judge, learned, growing, ensemble, peaked, broad, or a class prior."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sondage.core.beliefs import (
    Belief,
    ClassBelief,
    Doubts,
    GaussianBelief,
    LearnedClassBelief,
    LearnedGaussianBelief,
    LearnedOutcomeBelief,
    OutcomeBelief,
    RankingBelief,
)
from sondage.core.beliefs.learned import Start
from sondage.core.checks import require_known, those_there
from sondage.core.measures import Task
from sondage.core.predictions import Classes, Grades, Items, Means, Ranks
from sondage.errors import InputError

__all__ = ["BELIEFS", "MOST_SOURCES", "Expectation", "named_belief", "uninformed_belief"]

SHARES = ((0.2, 0.5), (0.5, 0.1), (1.0, 0.05), (0.0, 0.35))
"""Shares that judges may have where models tell probabilities too, and how probable each is, a fifth on average.

The first is believed before any label: a bad judge must not cost much.
"""
MOST_SOURCES = 8
"""Of how many models a pool may have for all of them to be asked: what each says is read for every item."""
MOST_GAUSSIANS = 8
"""A vote of regressors is the mixture of this many at most: its cost grows with the product of both numbers."""


@dataclass(frozen=True, eq=False)
class Expectation:
    """What a belief can be made from.

    Attributes
    ----------
    task : Task
        The pool's task.
    items : Items
        What models, judges and features are there; rows are not read.
    models : tuple of int
        The models concerned.
    names : tuple of str
        Of all models of the pool.
    shares : mapping of int to float
        Of the models in a vote; empty for equal ones.
    doubts : Doubts
        How far to doubt sources that call classes impossible.
    """

    task: Task
    items: Items
    models: tuple[int, ...]
    names: tuple[str, ...] = ()
    shares: Mapping[int, float] = field(default_factory=dict)
    doubts: Doubts = field(default_factory=Doubts)

    @property
    def informed(self) -> tuple[int, ...]:
        """The models concerned that tell a distribution."""
        outputs = self.items.models
        return tuple(index for index in self.models if _tells(outputs[index]))


def _tells(output: Any) -> bool:
    if isinstance(output, Classes):
        return output.probabilities is not None
    if isinstance(output, Ranks):
        return output.documents.probabilities is not None
    return output.variances is not None if isinstance(output, Means) else output.judge is not None


def named_belief(belief: Any, expectation: Expectation) -> Belief:
    """Return the belief that a name or a class prior means for these models.

    Parameters
    ----------
    belief : str, mapping, sequence of float, or None
        ``"model"`` (the evaluated models in equal mixture, thesis 5.11; uniform for classifiers without
        probabilities, broad for regressors without variances), ``"vote"`` (the models' probabilities, or predictions
        where a model has none, weighted by how often they were right so far), ``"uniform"``, ``"judge"``,
        ``"peaked"``, ``"broad"``; ``"growing"`` (of one regressor without variances: labels tell how its errors grow
        with the predicted number); ``"learned"`` (the judges where the pool has some, else the models, and what labels
        tell of all these and of features), ``"ensemble"`` (the same, with every model of the pool to learn from); a
        mapping of class to probability, or a sequence in the classes' order, is a class prior; a mapping of model to
        share is a weighted mixture. None is ``"learned"`` where there are judges or features; of classifiers that tell
        probabilities and of regressors ``"ensemble"`` where the pool has two to eight models, and ``"learned"`` of two
        models in a larger one, since labels tell which of them is right; ``"learned"`` of a regressor without
        variances too, since labels tell what variance it has; else ``"model"``, of which labels tell what predictions
        without probabilities mean. These doubt sources that call classes impossible; ``"model"`` believes them as they
        are.
    expectation : Expectation
        The task and its models.

    Raises
    ------
    InputError
        If the belief does not exist, or the pool cannot support it.
    """
    if belief is None:
        return _default(expectation)
    if isinstance(belief, str):
        require_known("belief", belief, BELIEFS)
        return BELIEFS[belief](expectation)
    if isinstance(belief, Mapping) and belief and all(name in expectation.names for name in belief):
        return _weighted(belief, expectation)
    return _prior(belief, expectation)


def _weighted(shares: Mapping[str, float], expectation: Expectation) -> Belief:
    """Return the mixture of models in these shares (the convex combinations of thesis 5.11)."""
    told = _numbers(shares.values())
    indexed = {expectation.names.index(name): share for name, share in zip(shares, told, strict=True)}
    total = sum(told)
    if not (min(told) >= 0 and 0 < total < math.inf):
        raise InputError(f"shares {dict(shares)} must be finite, not negative, and not all 0")
    silent = [name for name in shares if not _tells(expectation.items.models[expectation.names.index(name)])]
    if silent:
        raise InputError(f"model {silent[0]!r} has no probabilities or variances to believe in")
    mixed = tuple((model, share / total) for model, share in sorted(indexed.items()) if share)
    if expectation.task.kind == "regression":
        return GaussianBelief(mixed)
    if expectation.task.kind == "classification":
        return ClassBelief(len(expectation.task.classes), models=mixed)
    raise InputError("outcomes and grades are believed one by one; a mixture of models does not apply")


def uninformed_belief(expectation: Expectation) -> Belief:
    """Return the belief that holds every label for possible, to tell which items can matter at all."""
    return _uniform(expectation) if expectation.task.kind != "regression" else _gaussian(expectation, broad=True)


def _shares(models: Sequence[int]) -> tuple[tuple[int, float], ...]:
    return tuple((model, 1.0 / len(models)) for model in models)


def _gaussian(expectation: Expectation, **limit: bool) -> Belief:
    return GaussianBelief(_shares(expectation.models), **limit)


def _model(expectation: Expectation) -> Belief:
    """Return the mixture of the models that tell a distribution; without any the least that can be believed."""
    kind, informed = expectation.task.kind, expectation.informed
    if kind == "ranking":
        return RankingBelief(len(expectation.task.grades))
    if kind == "outcomes":
        return OutcomeBelief()
    if kind == "regression":
        return GaussianBelief(_shares(informed)) if informed else _gaussian(expectation, broad=True)
    if not informed:
        return _uniform(expectation)
    return ClassBelief(len(expectation.task.classes), models=_shares(informed))


def _default(expectation: Expectation) -> Belief:
    """Return the belief where none is named, as `named_belief` describes it."""
    kind, every = expectation.task.kind, len(expectation.items.models)
    if expectation.items.judges or expectation.items.features is not None:
        return _learned(expectation)
    if kind == "classification" and not expectation.informed:
        return ClassBelief(len(expectation.task.classes), uniform=1.0, votes=expectation.models)
    if kind in ("classification", "regression") and 1 < every <= MOST_SOURCES:
        return _ensemble(expectation)
    if kind in ("classification", "regression") and len(expectation.models) == 2:
        return _learned(expectation)
    if kind == "regression" and not expectation.informed:  # labels tell the one variance that it has
        return _learned(expectation)
    return _doubting(_model(expectation), expectation)


def _doubting(belief: Belief, expectation: Expectation) -> Belief:
    """Return the belief in which no class is impossible only because few votes gave it none."""
    doubts = expectation.doubts
    if isinstance(belief, ClassBelief):
        return replace(belief, doubts=doubts.models, judge_doubts=doubts.judges)
    return replace(belief, doubts=doubts.models) if isinstance(belief, OutcomeBelief) else belief


def _learned(expectation: Expectation) -> Belief:
    return _doubting(_LEARNED[expectation.task.kind](expectation, expectation.models), expectation)


def _ensemble(expectation: Expectation) -> Belief:
    every = tuple(range(len(expectation.items.models)))
    return _doubting(_LEARNED[expectation.task.kind](expectation, every), expectation)


def _learned_classes(expectation: Expectation, models: tuple[int, ...]) -> Belief:
    """Return a pool of judges and models, else what predictions mean; labels may choose another mixture.

    Before labels it is of the models concerned, or where none of them tells a distribution of those that do; all of
    `models` are sources of what labels tell.
    """
    informed = _shares(expectation.informed or [m for m in models if _tells(expectation.items.models[m])])
    judges = len(expectation.items.judges)
    starts, priors = _starts(judges, informed)
    first: Start = starts[0] if starts else ((), 0.0, ())
    several = judges + len(models) > 1
    return LearnedClassBelief(
        len(expectation.task.classes),
        models=first[0],
        judge=first[1],
        among=first[2],
        uniform=0.0 if starts else 1.0,
        votes=() if starts else models,
        starts=starts,
        priors=priors,
        source_judges=tuple(range(judges)) if several else (),
        source_models=models if several else (),
    )


def _starts(judges: int, informed: tuple[tuple[int, float], ...]) -> tuple[tuple[Start, ...], tuple[float, ...]]:
    """Return the mixtures among which labels choose, the one to begin with first, and their priors if not the usual.

    Judges alone are all together, or one by one.
    """
    if not judges:
        return (((informed, 0.0, ()),) if informed else ()), ()
    equal = (1.0 / judges,) * judges
    alone = [equal]
    if judges > 1:
        alone += [tuple(float(other == judge) for other in range(judges)) for judge in range(judges)]
    if not informed:
        return tuple(((), 1.0, among) for among in alone), ()
    told: list[tuple[Start, float]] = []
    for share, prior in SHARES:
        models = tuple((model, part * (1.0 - share)) for model, part in informed) if share < 1.0 else ()
        amongs = alone if share == 1.0 else [equal if share else ()]
        told += [((models, share, among), prior / len(amongs)) for among in amongs]
    return tuple(start for start, _ in told), tuple(prior for _, prior in told)


def _learned_numbers(expectation: Expectation, models: tuple[int, ...]) -> Belief:
    sources = models if len(models) > 1 else ()
    concerned = expectation.informed or expectation.models
    return LearnedGaussianBelief(_shares(concerned), broad=not expectation.informed, source_models=sources)


def _growing(expectation: Expectation) -> Belief:
    """Return the belief of one regressor that tells no variances, which labels tell to grow with its number."""
    if expectation.task.kind != "regression" or len(expectation.models) > 1 or expectation.informed:
        raise InputError("belief 'growing' is for one regressor without variances")
    return LearnedGaussianBelief(_shares(expectation.models), broad=True, grows=True)


def _learned_outcomes(expectation: Expectation, models: tuple[int, ...]) -> Belief:
    return LearnedOutcomeBelief(others=len(models) > len(expectation.models))


def _vote(expectation: Expectation) -> Belief:
    """Return the models' mixture by their shares in a vote, with a doubt left."""
    kind, models = expectation.task.kind, expectation.models
    if kind in ("outcomes", "ranking"):
        return _model(expectation)
    if kind == "regression":
        return _vote_on_numbers(expectation)
    doubt = 1.0 / (1.0 + len(models))  # a vote of all is not yet certainty
    shares = [(model, expectation.shares.get(model, 0.0)) for model in models]
    mixed = [(model, share * (1.0 - doubt)) for model, share in [one for one in shares if one[1]] or _shares(models)]
    informed = set(expectation.informed)
    told = tuple(one for one in mixed if one[0] in informed)
    sure = tuple(one for one in mixed if one[0] not in informed)
    return ClassBelief(len(expectation.task.classes), models=told, uniform=doubt, sure=sure)


def _vote_on_numbers(expectation: Expectation) -> Belief:
    """Return what labels tell of the nearest models, those mixed that tell variances where any does."""
    shares = expectation.shares or dict.fromkeys(expectation.models, 1.0)
    nearest = sorted(sorted(expectation.models, key=lambda model: -shares[model])[:MOST_GAUSSIANS])
    told = [model for model in nearest if model in expectation.informed]
    total = sum(shares[model] for model in told or nearest)
    mixed = tuple((model, shares[model] / total) for model in told or nearest)
    return LearnedGaussianBelief(mixed, broad=not told, source_models=tuple(nearest))


def _uniform(expectation: Expectation) -> Belief:
    if expectation.task.kind == "outcomes":
        return OutcomeBelief(uniform=True)
    if expectation.task.kind == "ranking":
        grades = len(expectation.task.grades)
        return RankingBelief(grades, prior=(1.0 / grades,) * grades)
    if expectation.task.kind == "regression":
        raise InputError("belief 'uniform' is for classes; regressors have 'model', 'peaked' and 'broad'")
    return ClassBelief(len(expectation.task.classes), uniform=1.0)


def _judge(expectation: Expectation) -> Belief:
    if any(isinstance(expectation.items.models[m], Grades) for m in expectation.models):
        return OutcomeBelief()
    if not expectation.items.judges:
        raise InputError(
            "belief 'judge': the pool has no judge; give judge= to the pool, in files columns judge.p_<class>"
        )
    return ClassBelief(len(expectation.task.classes), judge=1.0)


def _limit(name: str) -> Callable[[Expectation], Belief]:
    def build(expectation: Expectation) -> Belief:
        if expectation.task.kind != "regression":
            raise InputError(f"belief {name!r} is for regression; this pool is for {expectation.task.kind}")
        return _gaussian(expectation, **{name: True})

    return build


def _numbers(shares: Any) -> tuple[float, ...]:
    """Return shares as numbers, NaN for what is none."""
    try:
        return tuple(float(share) for share in shares)
    except (TypeError, ValueError):
        return (math.nan,)


def _prior(prior: Any, expectation: Expectation) -> Belief:
    """Return the belief of a class prior, or refuse what is none."""
    kind = expectation.task.kind
    classes = expectation.task.grades if kind == "ranking" else expectation.task.classes
    if kind not in ("classification", "ranking"):
        raise InputError(f"a class prior is for classification; this pool is for {kind}")
    if isinstance(prior, Mapping):
        unknown = [name for name in prior if name not in classes]
        if unknown:
            raise InputError(f"the prior names {unknown[0]!r}; {those_there(unknown[0], classes, 'classes')}")
        prior = [prior.get(name, 0.0) for name in classes]
    shares = _numbers(prior)
    if not (len(shares) == len(classes) and min(shares) >= 0 and abs(sum(shares) - 1) <= 1e-3):
        raise InputError(f"the prior {prior!r} must be {len(classes)} probabilities that sum to 1")
    shares = tuple(share / sum(shares) for share in shares)
    return RankingBelief(len(classes), prior=shares) if kind == "ranking" else ClassBelief(len(classes), prior=shares)


BELIEFS: dict[str, Callable[[Expectation], Belief]] = {
    "model": _model,
    "uniform": _uniform,
    "judge": _judge,
    "learned": _learned,
    "growing": _growing,
    "ensemble": _ensemble,
    "peaked": _limit("peaked"),
    "broad": _limit("broad"),
    "vote": _vote,
}

_LEARNED: dict[str, Callable[[Expectation, tuple[int, ...]], Belief]] = {
    "classification": _learned_classes,
    "regression": _learned_numbers,
    "outcomes": _learned_outcomes,
    "ranking": lambda expectation, models: _model(expectation),
}
