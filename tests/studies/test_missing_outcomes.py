"""Systems with outcomes of their own: a label must tell those of the systems in question; others may be unknown."""

from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest

from sondage import Outcome, Pool, Study, compare, evaluate
from sondage.errors import InputError, LabelError

NAN = float("nan")
TRUTH = np.random.default_rng(3).integers(0, 2, size=(40, 3))


def pool() -> Pool:
    return Pool(models={name: Outcome() for name in "abc"}, ids=list(range(40)))


def full(name: int) -> dict[str, int]:
    return dict(zip("abc", TRUTH[name].tolist(), strict=True))


@pytest.mark.parametrize(
    ("spoil", "system"),
    [
        (lambda told: {"a": told["a"]}, "b"),
        (lambda told: {"a": None, "b": told["b"]}, "a"),
        (lambda told: [told["a"], NAN, told["c"]], "b"),
    ],
)
def test_a_missing_outcome_is_refused_and_loses_no_other_label(spoil: Any, system: str) -> None:
    asked: list[int] = []

    def label(ids: list[int]) -> list[Any]:
        asked.extend(ids)
        return [spoil(full(name)) if name % 7 == 0 else full(name) for name in ids]

    with pytest.raises(LabelError, match=rf"of id \d+ lacks the outcome of '{system}'; tell it of each") as caught:
        compare(pool(), "a", "b", "accuracy", labels=label, budget=20)
    assert caught.value.labels == {name: full(name) for name in asked if name % 7}


def test_outcomes_of_other_systems_may_be_unknown() -> None:
    found = [
        compare(pool(), "a", "b", "accuracy", labels=labels, budget=20)
        for labels in (TRUTH, np.where([1, 1, 0], TRUTH, NAN))
    ]
    assert found[0].difference == found[1].difference
    part = evaluate(pool(), "accuracy", lambda ids: [{"c": full(name)["c"]} for name in ids], budget=40, model="c")
    assert part.value == pytest.approx(TRUTH[:, 2].mean(), rel=1e-12)


def test_no_outcome_at_all_is_no_skip() -> None:
    with pytest.raises(LabelError, match=r"lacks the outcome of 'a'; .* or None in place of all for a skip"):
        compare(pool(), "a", "b", "accuracy", labels=np.full((40, 3), NAN), budget=20)
    skipped = compare(pool(), "a", "b", "accuracy", labels=lambda ids: [None, *map(full, ids[1:])], budget=20)
    assert skipped.estimate.n_skipped == 2  # the first of each of two stages
    with pytest.raises(LabelError, match=r"outcome inf of id .* is not allowed"):
        compare(pool(), "a", "b", "accuracy", labels=np.full((40, 3), np.inf), budget=20)


def test_a_skipped_item_of_many_systems_is_supposed_right_and_wrong_of_those_in_question() -> None:
    # 2 ** 60 labels are possible, of which four tell all about a pair.
    right = np.random.default_rng(5).random((40, 60)) < 0.7
    many = Pool(models={f"m{place}": Outcome() for place in range(60)}, ids=list(range(40)))
    found = compare(many, "m3", "m7", "accuracy", labels=lambda ids: [None, *right[ids[1:]].astype(float)], budget=20)
    assert found.estimate.n_skipped == 2
    ends = found.estimate.if_skipped
    assert ends is not None
    assert ends.low < found.difference < ends.high


def test_a_study_refuses_it_too(tmp_path: Any) -> None:
    study = Study.create(tmp_path / "study.db", pool(), "accuracy", compare=("a", "c"), budget=10)
    ids = study.ask(2)
    with pytest.raises(LabelError, match=f"of id {ids[1]} lacks the outcome of 'c'"):
        study.tell(ids, [full(ids[0]), {"a": 1, "b": 1}])
    assert study.tell(ids, [{"a": 1, "c": 0}, None]) == 2


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (["right", 1, 0], r"outcome 'right' of id \d+ is not allowed; outcomes are 0, 1: write 1"),
        (["Failed", 1, 0], r"outcome 'Failed' of id \d+ is not allowed; outcomes are 0, 1: write 0"),
        (["maybe", 1, 0], r"outcome 'maybe' of id \d+ is not allowed; outcomes are 0, 1$"),
        ([1, np.float64(2), 0], r"outcome 2 of id \d+ is not allowed"),
        ([1, [1, 0], 0], r"outcome \[1, 0\] of id \d+ is not allowed"),
        (1, r"has 1 outcomes for 3 systems \['a', 'b', 'c'\]; tell it of each, or by name in a dict"),
    ],
)
def test_what_is_no_outcome_is_named(told: Any, said: str) -> None:
    with pytest.raises(LabelError, match=said):
        evaluate(pool(), "accuracy", lambda ids: [told for _ in ids], budget=5, model="a")


def test_grades_are_each_system_s_own() -> None:
    for misplaced in ("grades", "classes"):
        with pytest.raises(InputError, match=r"Outcome\(.*grades=\.\.\.\)"):
            Pool(models={"a": Outcome(judge=[0.5])}, **{misplaced: [1, 2, 3]})


def test_a_judge_of_one_grade_says_so() -> None:
    with pytest.raises(InputError, match=r"^judge of 'a' has one column, as of two grades, for 1 grades$"):
        Pool(models={"a": Outcome(judge=np.ones((5, 1)), grades=[3])})


@pytest.mark.parametrize("end", ["", ".label"])
@pytest.mark.parametrize("table", [pandas.DataFrame, pyarrow.table])
def test_columns_of_systems_in_another_order_are_refused(table: Any, end: str) -> None:
    pool, y = Pool(models={"a": Outcome(), "b": Outcome()}, ids=range(40)), np.arange(40) % 2
    a, b = f"a{end}", f"b{end}"
    with pytest.raises(InputError, match=rf"labels have the columns \['{b}', '{a}'\]; systems are \['a', 'b'\]"):
        compare(pool, "a", "b", "accuracy", labels=table({b: y, a: 1 - y}), budget=40)
    assert compare(pool, "a", "b", "accuracy", labels=table({a: y, b: y}), budget=40).difference == 0
