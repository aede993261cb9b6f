"""A report says the same in words, as data and as a page, of every kind of study at every time."""

import itertools
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO

import matplotlib
import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib import pyplot
from matplotlib.figure import Figure as Canvas

import sondage
from sondage import Classifier, Outcome, Pool, Ranking, Regressor, Study
from sondage.cli import main
from sondage.errors import InputError
from sondage.reports.plots import CHARTS
from sondage.reports.text import answer, describe
from sondage.reports.wording import uniform_sentence

matplotlib.use("Agg")

EVIL = "<script>alert(1)</script>\"'&$x^2$ {{ 7 * 7 }} </style></svg>"


def pool_of(kind, rng, size=240):
    p = rng.random(size)
    q = np.clip(p + rng.normal(0, 0.25, size), 0.001, 0.999)
    y = (rng.random(size) < p).astype(int)
    fields = {"text": np.array([f"text {n}" for n in range(size)]), "language": rng.choice(["de", "en"], size)}
    if kind == "regression":
        pool, labels = Pool(means=p, variances=q), p + rng.normal(0, 0.1, size)
    elif kind == "outcomes":
        pool = Pool(models={"a": Outcome(judge=p), "b": Outcome(judge=q)})
        labels = (rng.random((size, 2)) < np.c_[p, q]).astype(float)
    elif kind in ("compare", "select"):
        names = "ab" if kind == "compare" else "abc"
        pool = Pool(models={name: Classifier(np.clip(p + rng.normal(0, 0.5, size), 0, 1)) for name in names})
        labels = y
    else:
        pool, labels = Pool(p), y
    pool.fields.update(fields)
    return pool, labels


KINDS = {
    "evaluate": {"measure": "error_rate"},
    "several": {"measure": ["f1", "error_rate"]},
    "compare": {"compare": ("a", "b")},
    "select": {"select": True},
    "regression": {"measure": "rmse"},
    "outcomes": {"measure": "accuracy", "compare": ("a", "b")},
    "passive": {"method": "passive"},
    "thesis": {"method": "thesis"},
    "population": {"target": "population"},
}


def studied(folder, kind, rng, *, told=60, skipped=0, pending=0):
    pool, labels = pool_of(kind, rng)
    study = Study.create(folder / "study.db", pool, budget=60, seed=1, **KINDS[kind])
    while told and (ids := study.ask(min(20, told))):
        study.tell(ids, [labels[name].tolist() if labels.ndim > 1 else labels[name] for name in ids])
        told -= len(ids)
    if skipped:
        ids = study.ask(skipped)
        study.tell(ids, [None] * skipped)
    if pending:
        study.ask(pending)
    return study


class Page(HTMLParser):
    """The texts, tags and ids of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.texts, self.links = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("src", "href", "action")]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).replace("\N{NO-BREAK SPACE}", " ").split())


def checked(page):
    """Return a page that needs nothing but itself."""
    found = Page(page)
    assert not {"script", "link", "iframe", "img"} & set(found.tags)
    assert all(link.startswith("#") for link in found.links)
    assert len(found.ids) == len(set(found.ids))
    outside = set(re.findall(r"""["'(]\s*(https?:[^"')]*)""", page)) - {"http://www.w3.org/1999/xlink"}
    assert outside <= {"http://www.w3.org/2000/svg"}
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_three_forms_say_the_same(tmp_path, rng, kind):
    study = studied(tmp_path, kind, rng)
    report = sondage.report(study)
    page, text, data = checked(report.to_html()), str(report), json.loads(json.dumps(report.to_data(), allow_nan=False))
    for sentence in (report.question, *report.answers, *report.chosen, *report.warnings):
        assert sentence in page.text
        assert sentence in text
    assert data["answers"] == list(report.answers)
    assert data["labelled"] == 60
    assert data["complete"] is True
    assert data["seed"] == 1
    assert data["method"]["design"] in text
    assert data["fingerprint"] in page.text
    assert len(data["contributors"]) == page.text.count(" text ") or not report.contributors
    assert report.weights.shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["several", "compare", "select"])
def test_a_study_half_way_says_so(tmp_path, rng, kind):
    report = sondage.report(studied(tmp_path, kind, rng, told=30, skipped=3, pending=4))
    page = checked(report.to_html())
    assert (report.standing.labelled, report.standing.skipped, report.standing.pending) == (30, 3, 4)
    assert any("4 pending and 3 skipped" in text for text in report.warnings)
    assert "4 pending and 3 skipped" in page.text


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_without_a_label_is_reported(tmp_path, rng, kind):
    report = sondage.report(studied(tmp_path, kind, rng, told=0, pending=5))
    assert report.answers == ("No labels yet: there is nothing to estimate from.",)
    assert report.result is None
    assert report.to_data()["result"] is None
    assert "of 240 items" in str(report) or "from 240 items" in str(report)
    assert report.question in checked(report.to_html()).text


def test_a_result_in_memory_is_reported_like_its_study(tmp_path, rng):
    study = studied(tmp_path, "evaluate", rng)
    kept, loose = sondage.report(study), sondage.report(study.estimate())
    assert (kept.question, kept.answers, kept.chosen) == (loose.question, loose.answers, loose.chosen)
    assert [one.id for one in kept.contributors] == [one.id for one in loose.contributors]
    assert kept.settings["method"] == loose.settings["method"]
    assert kept.parts
    assert not loose.parts  # fields are the study's


def test_labels_drawn_elsewhere_and_slices_are_reported(rng):
    pool, labels = pool_of("evaluate", rng)
    slices = sondage.evaluate(pool, labels=labels, budget=60, slices=pool.fields["language"])
    assert [one.name for one in sondage.report(slices).figures] == ["de", "en", "all"]
    assert "slices" in sondage.report(slices).to_data()["result"]
    checked(sondage.report(slices).to_html())
    found = sondage.estimate_from("error_rate", predictions=[0, 1, 1], labels=[0, 1, 0], inclusion=[0.1, 0.5, 0.9])
    report = sondage.report(found)
    assert report.standing is None
    assert "To do it again" not in f"{report}{report.to_html()}"  # nobody can from here
    assert "(3 labels)" in checked(report.to_html()).text
    with pytest.raises(InputError, match=r"^reports and charts are made of a study or a result, not of int"):
        sondage.report(3)


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        (10, "The draw had 1 stage of at most 3 (20 %, 30 % and 50 % of the budget, small ones joined), each planned"),
        (30, "The draw had 2 stages of at most 3 (20 %, 30 % and 50 % of the budget, small ones joined), each planned"),
        (60, "The draw had 3 stages (20 %, 30 % and 50 %), each planned"),
    ],
)
def test_stages_are_counted_as_they_were_drawn(budget, told, rng):
    pool = Pool(probabilities=rng.random(200))
    assert told in str(sondage.report(sondage.evaluate(pool, labels=[0, 1] * 100, budget=budget)))


def test_stages_to_come_are_told(rng, tmp_path):
    pool = Pool(probabilities=rng.random(200))
    with Study.create(tmp_path / "s.db", pool, budget=60) as study:
        ids = study.ask(10)
        study.tell(ids, [0] * len(ids))
        assert "The draw has 1 stage so far, of at most 3 (20 %," in str(sondage.report(study))


def test_labels_that_were_not_wanted_are_not_told(rng):
    pool, y = Pool(probabilities=rng.random(2000)), [0, 1] * 1000
    found = sondage.evaluate(pool, labels=y, budget=900, stop=0.3)
    told = sondage.report(found).chosen
    assert told[0].startswith(f"{found.n_labels} labels from 2,000 items")
    assert told[1].startswith(f"Labelling stopped when the interval was narrow enough, after {found.n_labels} labels;")
    assert f"{found.n_labels} labelled, 0 pending, 0 skipped, 0 to ask" in str(sondage.report(found))
    models = {name: sondage.Classifier(predictions=[k, *y[1:]]) for k, name in enumerate("abc")}
    pair = sondage.select(Pool(models=models, classes=[0, 1, 2]), "accuracy", labels=y, budget=60)
    assert sondage.report(pair).chosen[0].startswith(f"{pair.n_labels} labels from 2,000 items")


def test_the_chart_of_a_uniform_sample_says_what_the_sentence_says(rng):
    pool = Pool(probabilities=rng.beta(0.3, 0.6, 2000))
    found = sondage.evaluate(pool, "f1", labels=rng.random(2000) < pool.items.models[0].probabilities, budget=200)
    told = re.search(r"about ([\d,]+) labels", sondage.report(found).uniform.sentence)[1]
    assert [text.get_text() for text in sondage.plot(found, "uniform").texts] == ["200", told]


def test_what_skips_could_make_of_a_difference_is_in_points(rng):
    models = {name: Classifier(probabilities=rng.random(300)) for name in "ab"}
    labels = [None if row % 10 == 3 else row % 2 for row in range(300)]
    found = sondage.compare(Pool(models=models), "a", "b", labels=labels, budget=60)
    assert re.search(r"as bad and as good as can be: \S+ points to \S+ points\n", str(sondage.report(found)))


def test_a_number_of_items_that_weights_only_tell_about_is_not_given():
    assert uniform_sentence(539.0, 400.0, 540.2, "the F1").endswith("would have needed nearly the whole pool.")


def test_a_pool_of_unequal_weights_has_as_many_items_as_it_has(rng):
    weights, y = rng.random(2000) ** 4 + 0.01, [0, 1] * 1000
    pool, models = Pool(probabilities=rng.random(2000), weights=weights), {"a": [0] * 2000, "b": [0, 0, 1, 1] * 500}
    found = sondage.report(sondage.evaluate(pool, labels=y, budget=50)).chosen[0]
    assert found.startswith("50 labels from 2,000 items, drawn")
    pair = Pool(models={name: sondage.Classifier(predictions=f) for name, f in models.items()}, weights=weights)
    found = sondage.report(sondage.compare(pair, "a", "b", labels=y, budget=50)).chosen[0]
    assert re.match(r"50 labels from about [12],\d{3} items, drawn", found)  # what the labels' weights tell


@pytest.mark.parametrize(
    ("design", "told"),
    [
        ("optimal", "items whose label can move the error rate most had a higher chance, cheap ones for their cost."),
        ("uniform_cost", "items whose label can move the error rate most had a higher chance."),
        ("cost_only", "cheap items had a higher chance."),
        ("active_lambda", "cheap items had a higher chance."),
        ("passive", "every item had the same chance."),
    ],
)
def test_what_costs_did_to_the_draw_is_told(design, told, rng):
    pool = Pool(probabilities=rng.random(90), costs=[1.0, 2.0, 3.0] * 30)
    found = sondage.report(sondage.evaluate(pool, labels=[0, 1] * 45, budget=20, design=design))
    assert found.chosen[0].endswith(f"in an order that the seed fixes: {told}")


def test_four_models_differ_on_some_items_more_than_on_others(rng):
    models = {name: Classifier(probabilities=rng.random(90)) for name in "abcd"}
    found = sondage.select(Pool(models=models), labels=[0, 1] * 45, budget=20, design="active_neq")
    assert sondage.report(found).chosen[0].endswith("items on which the models differ had a higher chance.")


def test_a_result_in_memory_says_how_it_was_made(rng):
    pool = Pool(probabilities=rng.random(40))
    (snippet,) = [
        text
        for text in Page(sondage.report(sondage.evaluate(pool, labels=[0, 1] * 20, budget=9)).to_html()).texts
        if text.startswith("import sondage")
    ]
    assert "    pool,\n    measure=['error_rate'],\n    budget=9,\n    seed=0,\n    model='model',\n" in snippet


@pytest.mark.parametrize("kind", ["evaluate", "compare", "select"])
def test_the_settings_make_the_same_study_again(tmp_path, rng, monkeypatch, kind):
    study = studied(tmp_path, kind, rng)
    code = Page(sondage.report(study).to_html()).texts
    (snippet,) = [text for text in code if text.startswith("import sondage")]
    monkeypatch.chdir(tmp_path)
    names = {"pool": pool_of(kind, np.random.default_rng(20130513))[0]}
    exec(snippet, names)
    assert names["study"].ask(10) == study.snapshot().asked_ids[:10]


def test_a_report_of_many_models_draws_the_nearest_and_folds_the_others(tmp_path, rng):
    models = {f"model {n}": Classifier(rng.random(100)) for n in range(50)}
    study = Study.create(tmp_path / "s.db", Pool(models=models, ids=np.arange(100)), "f1", 60, select=True)
    while ids := study.ask(60):
        study.tell(ids, [int(i) % 2 for i in ids])
    found, answer = sondage.report(study), study.estimate()
    page = checked(found.to_html())
    assert [page.tags.count(tag) for tag in ("details", "summary")] == [2, 2]
    assert {"10 more", "9 more"} <= set(page.texts)
    assert sum(text == answer.ranking[-1] for text in page.texts) == 2  # in both tables, not in the chart
    assert sum(text == answer.ranking[40] for text in page.texts) == 3
    (snippet,) = [text for text in page.texts if text.startswith("import sondage")]
    assert "    select=True,\n" in snippet
    assert "model 19 and 30 others" in str(found)
    ax = sondage.plot(answer, ax=Canvas().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == list(answer.ranking[1:41])
    assert ax.get_xlabel() == f"difference from\n{answer.best}\n(the 40 nearest of 49)"


def test_so_they_do_of_a_file_whose_classes_were_named(tmp_path, rng, monkeypatch):
    path = tmp_path / "pool.csv"
    path.write_text("id,p_spam\n" + "".join(f"i{n},{p:.3f}\n" for n, p in enumerate(rng.random(60))))
    pool = sondage.read_pool(path, classes=["ham", "spam"])
    study = Study.create(tmp_path / "study.db", pool, budget=20, seed=3, raters=2, overlap=0.5)
    (snippet,) = [text for text in Page(sondage.report(study).to_html()).texts if text.startswith("import sondage")]
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(snippet, names)
    again = names["study"]
    assert (again.facts["fingerprint"], again.sharing) == (study.facts["fingerprint"], study.sharing)
    assert again.ask(10) == study.ask(10)


def test_hostile_text_stays_text(tmp_path, rng):
    p, ids = rng.random(120), [f"{EVIL} {n}" for n in range(120)]
    pool = Pool(models={EVIL: Classifier(p), "b": Classifier(1 - p)}, ids=ids, classes=["<img src=x onerror=y>", EVIL])
    pool.fields[EVIL] = np.array([f"{EVIL}{n % 2}" for n in range(120)])
    study = Study.create(tmp_path / "study.db", pool, budget=60, model=EVIL)
    ids = study.ask()
    study.tell(ids, ["<img src=x onerror=y>" if p[int(name.split()[-1])] < 0.6 else EVIL for name in ids])
    report = sondage.report(study)
    assert report.contributors
    assert report.parts
    page = checked(report.to_html())
    assert page.text.count("<script>alert(1)</script>") > 10
    assert "49" not in report.question
    assert EVIL in page.text
    shown = Page(study.estimate()._repr_html_())
    assert {"script", "img"}.isdisjoint(shown.tags)
    assert "<script>alert(1)</script>" in shown.text


def test_names_in_any_script_are_drawn_without_a_warning(rng):
    means = rng.normal(size=40)
    models = {"モデル": Regressor(means), "b\tc": Regressor(means + rng.normal(size=40))}
    pool = Pool(models=models, ids=[f"日本 {row}" for row in range(40)])
    labels = dict(zip(pool.ids, means + rng.normal(size=40), strict=True))
    page = sondage.report(sondage.evaluate(pool, "mse", labels, 20, model="モデル")).to_html()
    assert "日本" in page
    assert "モデル" in sondage.report(sondage.select(pool, "mse", labels=labels, budget=20)).to_html()


def test_the_parts_are_those_of_the_labels(tmp_path, rng):
    study = studied(tmp_path, "evaluate", rng)
    (part,) = sondage.report(study).parts  # not the texts, which are all different
    assert part.field == "language"
    assert sum(one.n_labels for one in part.figures) == 60
    session = study.snapshot()
    languages = {name: row["language"] for name, row in zip(session.ids, study.fields(session.asked_ids), strict=True)}
    assert {one.name: one.n_labels for one in part.figures} == {
        kind: list(languages.values()).count(kind) for kind in ("de", "en")
    }


@pytest.mark.parametrize(
    ("kind", "said"), [("evaluate", "  Probability that the label is 1:\n  predicted"), ("regression", "  Mean of ")]
)
def test_it_is_told_what_was_believed(tmp_path, rng, kind, said):
    assert said in str(sondage.report(studied(tmp_path, kind, rng)))


@pytest.mark.parametrize(
    ("kind", "said"),
    [("evaluate", "the chance that this"), ("grades", "the chance that this"), ("regression", "what was")],
)
def test_what_labels_were_believed_is_explained(rng, kind, said):
    pool, labels = pool_of(kind, rng)
    if kind == "grades":
        pool, labels = Pool(models={"a": Outcome(judge=rng.dirichlet([1, 1, 1], 240))}), rng.integers(0, 3, (240, 1))
    measure = {"evaluate": "error_rate", "grades": "mean_outcome", "regression": "mse"}[kind]
    page = sondage.report(sondage.evaluate(pool, measure, labels=labels, budget=60)).to_html()
    assert f"Predicted: {said}" in page


@pytest.mark.parametrize("values", [["2026-01", "2026-02", "2026-03"], ["2", "9", "10"], ["", "a", "b"]])
def test_parts_stand_in_their_own_order(tmp_path, rng, values):
    pool, labels = pool_of("evaluate", rng)
    pool.fields["month"] = np.array(values)[rng.choice(3, len(pool), p=[0.3, 0.4, 0.3])]
    study = Study.create(tmp_path / "study.db", pool, budget=60)
    study.tell(ids := study.ask(), labels[ids].tolist())
    (part,) = [part for part in sondage.report(study).parts if part.field == "month"]
    assert [figure.name for figure in part.figures] == [value or "(empty)" for value in values]


def test_several_measures_in_slices_are_reported_one_by_one(rng):
    pool, labels = pool_of("evaluate", rng)
    found = sondage.evaluate(pool, ["f1", "recall"], labels=labels, budget=60, slices="language")
    with pytest.raises(InputError, match=r"of one measure in slices, not of 2: take result\['f1'\]"):
        sondage.report(found)
    assert "The F1 of" in str(sondage.report(found["f1"]))


def test_a_comparison_by_counts_has_parts_where_the_models_differ(tmp_path, rng):
    report = sondage.report(studied(tmp_path, "compare", rng))
    (part,) = report.parts
    assert part.note.startswith("Of the items whose label can change the result")
    assert report.contributors == ()  # each label counts alike


@pytest.mark.parametrize("chart", CHARTS)
def test_charts_are_drawn_where_they_are_told_to(tmp_path, rng, chart):
    study = studied(tmp_path, "evaluate", rng)
    ax = Canvas().subplots()
    assert sondage.plot(study, chart, ax=ax) is ax
    assert ax.lines or ax.patches


def test_names_in_charts_are_no_formulas(rng):
    models = {"$\\no$": Classifier(rng.random(200)), "b": Classifier(rng.random(200))}
    pool = Pool(models=models, ids=[f"$\\{n}$" for n in range(200)])
    canvas, options = Canvas(), {"labels": [0, 1] * 100, "budget": 50}
    above, below = canvas.subplots(2)
    sondage.plot(sondage.select(pool, **options), ax=above)
    sondage.plot(sondage.evaluate(pool, measure="f1", model="b", **options), "contributors", ax=below)
    canvas.savefig(BytesIO())


def spilled(ax):
    """Return the names beside a chart that reach beyond its figure, or into the next name."""
    ax.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    outside = [box for box in boxes if box.x0 < 0]
    return outside + [box for box, above in itertools.pairwise(boxes) if box.y1 > above.y0 and above.y1 > box.y0]


@pytest.mark.parametrize("figsize", [None, (3, 4)])
def test_names_beside_charts_are_seen_whole(rng, figsize):
    pyplot.close("all")
    if figsize is not None:
        pyplot.figure(figsize=figsize)
    names = ["challenger of 2026-02", "champion of 2026-01"]
    pool = Pool(models={name: Classifier(rng.random(200)) for name in names})
    ax = sondage.plot(sondage.compare(pool, *names, "f1", labels=[0, 1] * 100, budget=50))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["\nminus ".join(names)]
    assert not spilled(ax)
    pyplot.close("all")


def test_a_selection_is_drawn_as_high_as_its_models_and_says_from_which(rng):
    pyplot.close("all")
    models = {f"model {n}": Classifier(rng.random(100)) for n in range(30)} | {"$\\no$": Classifier([0.1, 0.9] * 50)}
    ax = sondage.plot(sondage.select(Pool(models=models), labels=[0, 1] * 50, budget=60))
    assert ax.get_xlabel() == "percentage points from\n$\\no$"
    assert not spilled(ax)
    pyplot.close("all")


@pytest.mark.parametrize("names", ["ab", [f"a_model_with_a_rather_long_name_{n}" for n in (1, 2)]])
def test_large_differences_can_be_read(rng, names):
    means = 1e6 * rng.normal(size=200)
    models = {name: Regressor(means + 1e6 * n, np.full(200, 1e12)) for n, name in enumerate(names)}
    found = sondage.compare(Pool(models=models), *names, "mse", labels=means + 2e6 * rng.normal(size=200), budget=50)
    page = sondage.report(found).to_html()
    assert "\N{MINUS SIGN}" not in page
    assert not re.search(r"\de[+]\d", re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL))
    figure = Canvas(figsize=(4.3, 1.1), layout="constrained")
    ax = sondage.plot(found, ax=figure.subplots())
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert len(boxes) <= 6
    assert all(left.x1 + 4 < right.x0 for left, right in itertools.pairwise(boxes))
    first, second = ax.get_yticklabels()[0].get_text().split("minus")
    assert (first.strip()[-1], second[-1]) == (names[0][-1], names[1][-1])


@pytest.mark.parametrize("costs", [None, [2.0] * 20])
def test_labels_that_nobody_gave_yet_are_to_come(tmp_path, costs):
    pool = Pool(probabilities=np.linspace(0.1, 0.9, 20), costs=costs)
    with Study.create(tmp_path / "study.db", pool, budget=10) as study:
        told = sondage.report(study).chosen[0]
        assert told.startswith("10 labels to come from" if costs is None else "A cost of 10 to be spent from")
        study.tell(study.ask(1), [1])
        told = sondage.report(study).chosen[0]
        assert told.startswith("10 labels from" if costs is None else "A cost of 10 from")


@pytest.mark.parametrize(("seed", "stricter"), [(0, False), (11, True)])
def test_the_only_contender_is_the_best_and_stricter_numbers_are_said_to_be(seed, stricter):
    rng, good = np.random.default_rng(seed), [0.75, 0.6, 0.5]
    pool = Pool(models={name: Outcome(judge=np.full(300, 0.5)) for name in "abc"})
    found = sondage.select(pool, labels=(rng.random((300, 3)) < good).astype(float), budget=60, seed=seed)
    assert found.contenders() == ("a",)
    assert any(0 in gap for gap in found.gaps().values()) is stricter
    assert (max(found.pvalues.values()) >= found.alpha) is stricter
    told = answer(found)
    assert "and with 95 % confidence is the best: no other is a contender." in told
    assert ("The p-values (Holm's method) and the intervals of the differences are stricter" in told) is stricter


def test_a_report_of_long_names_says_which_systems_its_chart_and_its_labels_are_of(tmp_path, rng):
    names = [f"roberta-base-{size}-1_best" for size in ("10M", "100M", "1B")]
    models = {name: Outcome(judge=rng.random(200)) for name in names}
    study = Study.create(tmp_path / "s.db", Pool(models=models), "mean_outcome", budget=40, select=True)
    while ids := study.ask(20):
        study.tell(ids, [(rng.random() < 0.3, rng.random() < 0.5, rng.random() < 0.8) for _ in ids])
    report = sondage.report(study)
    (best, second), contributors = report.result.ranking[:2], report.contributors
    assert names[0] not in (best, second)
    assert contributors
    page = Page(report.to_html())
    for one in contributors:
        assert re.match(f"{best}: [01], {second}: [01], {names[0]}: [01]", one.label)
        assert one.label in page.texts
    figure = Canvas(figsize=(4.3, 2), layout="constrained")
    ax = sondage.plot(report, ax=figure.subplots())
    figure.draw_without_rendering()
    assert figure.bbox.contains(*(title := ax.xaxis.label.get_window_extent()).min)
    assert figure.bbox.contains(*title.max)


def test_charts_show_the_numbers(tmp_path, rng):
    study = studied(tmp_path, "evaluate", rng)
    ax = sondage.plot(study.estimate(), ax=Canvas().subplots())
    interval = study.estimate().interval()
    assert ax.lines[0].get_xdata().tolist() == pytest.approx([100 * interval.low, 100 * interval.high])
    with pytest.raises(InputError, match="no chart 'pie'; there are result, reliability"):
        sondage.plot(study, "pie")
    (tmp_path / "empty").mkdir()
    empty = studied(tmp_path / "empty", "evaluate", rng, told=0)
    with pytest.raises(InputError, match="nothing to draw in chart 'weights'"):
        sondage.plot(empty, "weights")


@pytest.mark.parametrize("kind", ["evaluate", "compare", "select"])
def test_results_show_themselves_in_a_notebook(tmp_path, rng, kind):
    study = studied(tmp_path, kind, rng)
    found = study.estimate()
    shown = Page(found._repr_html_())
    assert sondage.report(study).answers[0] in shown.text
    assert "table" in shown.tags
    assert Page(sondage.report(study)._repr_html_()).text == shown.text


@pytest.mark.parametrize("module", ["matplotlib", "jinja2"])
def test_without_the_extra_it_is_named(tmp_path, rng, monkeypatch, module):
    from sondage.reports import html

    html._template.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r"pip install 'sondage\[reports\]'"):
        sondage.report(studied(tmp_path, "evaluate", rng)).to_html()
    html._template.cache_clear()


def test_the_same_study_makes_the_same_page(tmp_path, rng):
    study = studied(tmp_path, "evaluate", rng)
    assert sondage.report(study).to_html() == sondage.report(Study.open(study.place)).to_html()


def test_labellers_and_disputes_are_told(tmp_path, rng):
    study = studied(tmp_path, "evaluate", rng, told=40)
    ids = study.snapshot().asked_ids
    study.tell(ids[:30], [study.history(name)[0]["label"] for name in ids[:30]], who="ben", further=True)
    study.tell(ids[30:31], [1 - study.history(ids[30])[0]["label"]], who="ben", further=True)
    report = sondage.report(study)
    assert report.standing.disputed == 1
    assert {who: done.labelled for who, done in report.standing.people.items()} == {"ben": 31, "": 40}
    assert "labels by ben 31, without a name 40" in str(report)
    page = checked(report.to_html()).text
    assert "labels by ben 31, without a name 40" in page
    assert "1 disagreement to resolve" in page
    assert "disputed 1" in page


def test_a_study_of_rankings_is_reported(tmp_path, rng):
    queries, documents = np.repeat(np.arange(60), 4), np.tile(np.arange(4), 60)
    grades = rng.dirichlet([1.0, 1.0], 240)
    ranks = {name: Ranking(ranks=np.concatenate([rng.permutation(4) + 1 for _ in range(60)])) for name in ("a", "b")}
    titles = {"title": np.array([f"title {number}" for number in range(240)])}
    pool = Pool(models=ranks, queries=queries, documents=documents, grades=grades, fields=titles)
    study = Study.create(tmp_path / "study.db", pool, "dcg@2", compare=("a", "b"), budget=40, seed=1)
    while ids := study.ask(10):
        study.tell(ids, [{one: int(rng.random() < 0.5) for one in own} for own in study.documents(ids)])
    report = sondage.report(study)
    page = checked(report.to_html()).text
    assert report.question == "Which has the better DCG@2, 'a' or 'b'?"
    assert report.answers[0] in page
    assert report.reliability is None
    assert report.contributors
    shown = report.contributors[0].fields["title"]
    assert "; ".join(f"{document} {title}" for document, title in shown.items()) in page
    assert "predicted<" not in page
    assert "Predicted: " not in page  # nothing was predicted of all grades of a query together
    assert "expected nothing" not in str(report)
    told = replace(report.contributors[0], label="d: 1, " * 20)
    assert f"label {'d: 1, ' * 10} ...; moved by" in str(replace(report, contributors=(told,)))
    json.dumps(report.to_data(), allow_nan=False, default=str)


def test_what_the_labels_prove_is_said_where_it_is_near():
    p = np.r_[np.full(900, 0.01), np.full(100, 0.5)]
    labels = np.r_[np.zeros(900), np.arange(100) % 2].astype(int)
    estimate = sondage.evaluate(Pool(p), "error_rate", labels, 300)
    report, (least, most) = sondage.report(estimate), estimate.possible
    assert estimate.interval().low == least
    assert f"whatever the other labels are, it is at least {100 * least:.1f}" in str(report)
    assert "Whatever the other labels are, it is" in checked(report.to_html()).text
    assert "at most" not in str(report)
    data = json.loads(json.dumps(report.to_data()))["result"]
    assert data["possible"] == [least, most]
    for share, told in ((0.99996, False), (0.9, True)):
        near = replace(estimate, value=share - 0.01, std_error=0.01, possible=(0.1, share))
        assert any("it is at most" in line for line in describe(near)) is told
        mirrored = replace(estimate, value=1.01 - share, std_error=0.01, possible=(1 - share, 0.9))
        assert any("it is at least" in line for line in describe(mirrored)) is told
    assert data["unrefuted"] == list(estimate.unrefuted)
    assert "whatever" not in str(sondage.report(sondage.evaluate(Pool(p), "log_loss", labels, 300)))


@pytest.mark.parametrize(
    ("measure", "alternative", "margin", "said"),
    [
        ("accuracy", "greater", 0.1, "'a' is not worse than 'b' by 10 points or more"),
        ("error_rate", "less", 0.1, "'a' is not worse than 'b' by 10 points or more"),
        ("error_rate", "less", 0.01, "Not shown that 'a' is not worse than 'b' by 1 point or more"),
        ("error_rate", "greater", 0.1, "'b' is not worse than 'a' by 10 points or more"),
        ("accuracy", "greater", 0.001, "Not shown that 'a' is not worse than 'b' by 0.1 points or more"),
        ("accuracy", "greater", -0.1, "Not shown that 'a' is better than 'b' by more than 10 points"),
        ("accuracy", "greater", 0.0, "No winner yet"),
    ],
)
def test_a_margin_names_no_winner(rng, measure, alternative, margin, said):
    """Two models that are equally good and differ often: within ten points, which tells not which of them is better."""
    y = rng.integers(0, 2, 400)
    pool = Pool(models={name: Classifier(np.where(rng.random(400) < 0.9, y, 1 - y) * 0.8 + 0.1) for name in "ab"})
    found = sondage.compare(pool, "a", "b", measure, labels=y, budget=100, alternative=alternative, margin=margin)
    assert answer(found).startswith(said + ": the ")
    assert found.better is None
    assert found.to_data()["null"] == (-margin if alternative == "greater" else margin)


def test_better_by_more_than_a_margin(rng):
    y = rng.integers(0, 2, 400)
    right = {"a": 0.95, "b": 0.6}
    pool = Pool(
        models={name: Classifier(predictions=np.where(rng.random(400) < p, y, 1 - y)) for name, p in right.items()}
    )
    found = sondage.compare(pool, "a", "b", "accuracy", labels=y, budget=150, alternative="greater", margin=-0.1)
    assert found.better == "a"
    assert answer(found).startswith("'a' is better than 'b' by more than 10")
    assert sondage.report(found).question == "Is the accuracy of 'a' higher than that of 'b' by more than 0.1?"


def test_what_one_number_tells_of_the_belief_is_unbounded():
    pool = Pool(means=np.arange(20.0), variances=np.ones(20))
    found = str(sondage.report(sondage.evaluate(pool, "mae", labels=np.arange(20.0) + 0.5, budget=1)))
    assert re.search(r"^ +[\d.]+ +[\d.]+ +unbounded +1$", found, re.MULTILINE)
    assert "inf" not in found.split()


def test_measures_are_named_as_readers_know_them(rng):
    pool, labels = pool_of("evaluate", rng)
    assert answer(sondage.evaluate(pool, "brier", labels=labels, budget=20)).startswith("The Brier score of 'model' ")


def answered(rng, ask):
    """Return what a question of classifiers says of 20 labels, of which none was named as positive."""
    pool, labels = pool_of("select", rng)
    models = {name: Classifier(one.probabilities) for name, one in zip("abc", pool.items.models, strict=True)}
    named = np.array(["ham", "spam"])[labels]
    return ask(Pool(models=models, classes=["ham", "spam"]), labels=named, budget=20)


POSITIVE = "positive: spam, the second class"


@pytest.mark.parametrize(
    "ask",
    [
        lambda pool, **rest: sondage.evaluate(pool, "recall", model="a", **rest),
        lambda pool, **rest: sondage.evaluate(pool, ["error_rate", "f1", "auc"], model="a", **rest),
        lambda pool, **rest: sondage.compare(pool, "a", "b", "precision", **rest),
        lambda pool, **rest: sondage.select(pool, "average_precision", **rest),
    ],
)
def test_a_positive_class_that_nobody_named_is_told(rng, ask):
    report = sondage.report(answered(rng, ask))
    assert describe(report.result).count(POSITIVE) == 1
    assert str(report).splitlines().count(POSITIVE) == 1
    assert POSITIVE.capitalize() in checked(report.to_html()).text
    assert '"positive": "spam"' in json.dumps(report.to_data()["result"])


@pytest.mark.parametrize("measure", ["recall:positive=spam", "mcc"])
def test_of_others_nothing_is_told_of_a_positive_class(rng, measure):
    found = answered(rng, lambda pool, **rest: sondage.evaluate(pool, measure, model="a", **rest))
    assert not any("positive:" in line for line in describe(found))
    assert found.to_data()["positive"] == ("spam" if "recall" in measure else None)


@pytest.mark.parametrize(("kind", "command"), [("evaluate", "estimate"), ("compare", "compare"), ("select", "select")])
def test_a_result_as_data_is_what_the_command_line_prints(tmp_path, rng, kind, command):
    found = studied(tmp_path, kind, rng).estimate()
    printed = CliRunner().invoke(main, [command, str(tmp_path / "study.db"), "--json", "--level", "0.9"]).stdout
    assert found.to_data(0.9) == json.loads(printed)
    with pytest.raises(InputError, match=r"level=1\.5 must be between 0 and 1"):
        found.to_data(1.5)


def test_intervals_without_an_end_are_null_in_json(rng):
    truth, noise = rng.normal(size=60), rng.normal(size=60)
    models = {"a": Regressor(truth + noise, np.ones(60)), "b": Regressor(truth + 2 * noise, np.ones(60))}
    found = sondage.select(Pool(models=models), "r2", labels=truth, budget=1)
    assert -np.inf in [gap.low for gap in found.gaps().values()]
    data = json.loads(json.dumps(found.to_data(), allow_nan=False))
    assert None in [gap["low"] for gap in data["gaps"].values()]


def test_a_report_is_of_one_moment_whoever_labels_meanwhile(tmp_path, monkeypatch):
    pool, labels = pool_of("evaluate", np.random.default_rng(3))
    study = Study.create(tmp_path / "study.db", pool, "error_rate", 100)
    ids = study.ask(20)
    study.tell(ids[:15], labels[ids[:15]])
    looked_up = Study.fields

    def meanwhile(self, names):
        with Study.open(study.place) as other:
            other.tell(ids[15:], labels[ids[15:]])
        return looked_up(self, names)

    monkeypatch.setattr(Study, "fields", meanwhile)
    report = sondage.report(study)
    assert (report.standing.labelled, report.result.n_labels) == (15, 15)
    assert sum(one.n_labels for part in report.parts for one in part.figures if part.field == "language") <= 15
    assert study.status.labelled == 20


def test_a_notebook_says_which_class_is_the_positive_one():
    p = np.linspace(0.05, 0.95, 60)
    found = sondage.evaluate(Pool(p, classes=["yes", "no"]), "f1", labels=["yes", "no"] * 30, budget=20)
    assert "positive: no, the second class" in Page(found._repr_html_()).text


@pytest.mark.parametrize(("wrong", "told"), [(103, "34.33 %"), (0, "0 %")])
def test_what_is_exact_is_told_to_four_digits(wrong, told):
    labels = (np.arange(300) < wrong).astype(int)
    found = sondage.evaluate(Pool(predictions=np.zeros(300, dtype=int), classes=[0, 1]), labels=labels, budget=300)
    (answer,) = sondage.report(found).answers
    assert f"in this pool is exactly {told}: everything that matters is labelled (300 labels)." in answer
