"""Arguments that are not what they should be: one line with the value and what is allowed, before any label."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sondage import Classifier, Pool, Ranking, Regressor, Study, advise, compare, estimate_from, evaluate, select
from sondage.adapters.trec import write_run
from sondage.core.measures import FMeasure, parse_measure
from sondage.errors import InputError, MeasureError
from sondage.studies.looks import planned_shares
from sondage.studies.method import Method

NAN = float("nan")
P = np.random.default_rng(0).random(60)
TWO = Pool(models={"a": Classifier(P), "b": Classifier(1 - P)})


def never(ids: list[int]) -> list[int]:
    raise AssertionError("a label was asked for")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": []}, "there is no measure: name at least one"),
        ({"measure": 5}, "measure 5 is neither a name nor a measure; there are error_rate"),
        ({"belief": 5}, "belief=5 must be a name, or probabilities of the classes"),
        ({"belief": ["a", "b"]}, r"belief=\['a', 'b'\] must be a name"),
        ({"belief": (NAN, 0.5)}, r"the prior \(nan, 0.5\) must be 2 probabilities that sum to 1"),
        ({"belief": {0: "x", 1: 0.5}}, r"the prior \['x', 0.5\] must be 2 probabilities"),
        ({"belief": {"model": float("inf")}}, r"shares {'model': inf} must be finite"),
        ({"floor": "x"}, r"floor='x' must be in \[0, 1\]"),
        ({"stages": "x"}, "stages=x must be positive shares"),
        ({"stages": [NAN, 1.0]}, r"stages=\[nan, 1.0\] must be positive shares"),
        ({"stop": 0.1, "batch": 1.5}, "batch=1.5 must be a whole number, 1 or more"),
        ({"stop": 0.1, "level": "x"}, "level='x' must be between 0 and 1"),
        ({"stop": 0.1, "level": 1 - 1e-15}, "level=0.999999999999999 is nearer to 0 or 1 than 1e-12"),
        ({"stop": np.array([1, 2]), "looks": 3}, r"stop=array\(\[1, 2\]\) must be the width of an interval"),
        ({"stop": 0.1, "method": np.array(["default"])}, r"no method array\(\['default'\], dtype='<U7'\); there are"),
        ({"stop": "significant", "test": np.array(["t"])}, r"has its own test: leave test=array\(\['t'\]"),
        ({"stop": "significant"}, "stop='significant' is for comparisons"),
        ({"level": 0.9}, r"level=0.9 is that of a width, stop=; of other intervals it is given to interval\(\)"),
        ({"batch": 5}, "batch=5 tells how often stop= looks: it goes with stop="),
        ({"share": "each"}, "share='each' divides a budget over slices: give slices=, or several pools"),
        ({"budget": "x"}, "budget='x' must be positive"),
        ({"measure": "f1", "positive": np.array([0, 1])}, r"positive=array\(\[0, 1\]\) is not a class of the pool"),
        ({"method": 5}, "no method 5; there are default, thesis, passive"),
    ],
)
def test_arguments_of_evaluate(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(Pool(P), **({"labels": never, "budget": 10} | options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"select": np.array([1, 2])}, r"select=array\(\[1, 2\]\) must be True or False"),
        ({"select": "yes"}, "select='yes' must be True or False"),
        ({"raters": 2**70}, "raters=1,180,591,620,717,411,303,424 must be at most 1,000"),
    ],
)
def test_arguments_of_studies(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        Study.create(tmp_path / "new.study", TWO, "f1", budget=10, **({"compare": ["a", "b"]} | options))
    assert not (tmp_path / "new.study").exists()


def test_one_of_several_models_is_named_everywhere_alike(tmp_path: Path) -> None:
    ranks = Pool(
        models={name: Ranking(ranks=[1]) for name in "ab"}, queries=["q"], documents=["d"], grades=[[0.4, 0.6]]
    )
    message = r"^the pool has several models \['a', 'b'\]: name one with model="
    with pytest.raises(InputError, match=f"{message}$"):
        evaluate(TWO, labels=never, budget=10)
    with pytest.raises(InputError, match=f"{message}, or two with compare=$"):
        Study.create(tmp_path / "new.study", TWO, budget=10)
    with pytest.raises(InputError, match=f"{message}$"):
        write_run(tmp_path / "run", ranks)


def test_labels_drawn_elsewhere_are_one_column() -> None:
    with pytest.raises(InputError, match=r"labels have shape \(4, 2\); they must be one column"):
        estimate_from("error_rate", labels=np.zeros((4, 2)), predictions=[0, 1, 1, 0], inclusion=[0.5] * 4)


@pytest.mark.parametrize("looks", [0, -3, 2.5, 51, "x", ["x"], [NAN], [], True])
def test_looks_are_a_number_or_shares(looks: Any) -> None:
    with pytest.raises(InputError, match="must be 1 to 50, or shares of the budget"):
        compare(TWO, "a", "b", labels=never, budget=20, stop="significant", looks=looks)
    assert planned_shares(np.int64(2)) == planned_shares(np.array([0.5])) == (0.5, 1.0)


@pytest.mark.parametrize("options", [{"looks": 2}, {}])
def test_where_nothing_is_wide_a_level_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"level=0\.9 is that of a width"):
        compare(TWO, "a", "b", labels=never, budget=20, stop="significant", level=0.9, **options)


def test_a_model_named_twice_is_not_selected_from() -> None:
    with pytest.raises(InputError, match=r"two or more different models, not \['a', 'a', 'b'\]"):
        select(TWO, models=["a", "a", "b"], labels=never, budget=20)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"target": "popu"}, "no target 'popu'; there are pool, population"),
        ({"draw": "x"}, "no draw 'x'; there are without_replacement"),
        ({"design": ["optimal"]}, r"no design \['optimal'\]; there are passive"),
        ({"design": "neyman"}, "no design 'neyman'; there are passive"),
        ({"interval": None}, "no interval None"),
        ({"stages": 0.5}, "stages=0.5 must be positive shares"),
    ],
)
def test_a_method_of_parts_that_there_are_not(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Method(**parts)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda given: compare(TWO, "a", "b", labels=never, budget=20, **given), "slices"),
        (lambda given: select(TWO, labels=never, budget=20, **given), "stop"),
        (lambda given: evaluate(TWO, model="a", labels=never, budget=20, **given), "looks"),
    ],
)
def test_an_argument_of_another_function_is_named_with_the_parts_there_are(call: Any, name: str) -> None:
    with pytest.raises(InputError, match=rf"^{name}= is not taken here; the parts of a method are design, floor, "):
        call({name: 3})


def test_parts_in_other_forms_are_the_same_method() -> None:
    found = Method(belief=np.array([0.3, 0.7]), stages=np.array([0.4, 0.6]))
    assert found == Method(belief=(0.3, 0.7), stages=(0.4, 0.6))
    assert evaluate(Pool(P), labels=P > 0.5, budget=10, belief=np.array([0.3, 0.7])).n_labels == 10


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dcg@nan", "cut-off k=nan must be a whole number, 1 to 1,000,000"),
        ("dcg@1e400", "cut-off k=inf must be a whole number"),
        ("err@1e300", "must be a whole number, 1 to 1,000,000"),
        ("ece:bins=nan", "bins=nan must be a whole number, 1 to 65,536"),
        ("ece:bins=inf", "bins=inf must be a whole number"),
        ("f_measure:beta=nan", "beta=nan must be a number, and not negative"),
        ("f_measure:beta=2,beta=1", "measure 'f_measure:beta=2,beta=1' has a parameter twice"),
        ("ndcg@10:k=5", "measure 'ndcg@10:k=5' has a parameter twice"),
    ],
)
def test_parameters_of_measures(name: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        parse_measure(name)


@pytest.mark.parametrize("digits", [400, 5000])  # more than Python writes
def test_a_beta_that_no_float_can_be(digits: int) -> None:
    with pytest.raises(MeasureError, match=r"beta is above 1\.8e\+308: give float\('inf'\)"):
        FMeasure(beta=10**digits)


def test_where_one_measure_is_asked_for_several_are_refused() -> None:
    with pytest.raises(MeasureError, match=r"measure \['f1', 'recall'\] is a list: give one measure here"):
        compare(TWO, "a", "b", ["f1", "recall"], labels=never, budget=20)  # type: ignore[arg-type]


def test_spaces_between_parameters_are_nothing() -> None:
    assert parse_measure("f_measure: beta = 2, positive=spam ") == parse_measure("f_measure:beta=2,positive=spam")


def test_a_beta_beyond_all_bounds_is_the_recall() -> None:
    found = [evaluate(Pool(P), name, labels=P > 0.4, budget=60).value for name in ("f_measure:beta=1e200", "recall")]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("design", "told"), [("optimal", 1), ("passive", 0), ("passive + passive", 0), ("cost_only", 0)]
)
def test_that_hardly_a_label_checks_the_belief_is_said_of_draws_that_follow_it(design: str, told: int) -> None:
    found = evaluate(Pool(P), labels=(P > 0.4) * 1, budget=30, design=design, floor=0)
    assert sum("floor=0: hardly a label checks" in line for line in found.warnings) == told


def test_a_positive_class_must_be_one_whatever_the_measure():
    pool = Pool(models={"a": Classifier([0.1, 0.9]), "b": Classifier([0.8, 0.9])})
    for ask in (
        lambda positive: compare(pool, "a", "b", labels=[0, 1], budget=2, positive=positive).pvalue,
        lambda positive: advise(pool, model="a", positive=positive).sentence,
        lambda positive: estimate_from(predictions=[0, 1], labels=[0, 1], inclusion=[1, 1], positive=positive).value,
    ):
        assert ask(1) == ask(None)
        with pytest.raises(MeasureError, match=r"positive=2 is not a class of the pool; they are \[0, 1\]"):
            ask(2)
    with pytest.raises(MeasureError, match="positive=1 is not a class of the pool, which is for regression"):
        evaluate(Pool(models={"a": Regressor([1.0, 2.0])}), "mse", labels=[1.0, 2.0], budget=2, positive=1)
