"""Items out and labels back, in each format; what is hostile stays text, what is wrong is refused with its place."""

import io
import json

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from sondage import Outcome, Pool, Ranking, Study
from sondage.adapters.draws import write_draws
from sondage.adapters.formats import FORMATS, read_answers
from sondage.adapters.frames import BACKENDS, items_frame, labels_frame, read_answers_frame
from sondage.adapters.rows import label_rows, tell_answers
from sondage.errors import InputError, LabelError

HOSTILE = ["=1+1", "+1 a", "-x", "@SUM(A1)", "\tb", "\rc", "'=quoted", 'a,"b"\n c', "-5", " lead"]
ENDS = {"csv": "csv", "jsonl": "jsonl", "label-studio": "json"}


def made(folder, name="study.db"):
    pool = Pool(probabilities=[0.1 * n for n in range(len(HOSTILE))], ids=HOSTILE, classes=["=ham", "-spam"])
    pool.fields["=text"] = np.array(HOSTILE)
    return Study.create(folder / name, pool, budget=len(HOSTILE))


@pytest.fixture
def study(tmp_path):
    return made(tmp_path)


@pytest.fixture(params=FORMATS)
def form(request):
    return request.param


def test_labels_come_back_as_they_were(study, tmp_path, form):
    ids = study.ask(len(HOSTILE))
    labels = ["=ham", "-spam", None, *["=ham"] * (len(ids) - 3)]
    study.tell(ids, labels, who="+anna")
    path = tmp_path / f"labels.{ENDS[form]}"
    with open(path, "w", encoding="utf-8", newline="") as file:
        FORMATS[form].write_labels(study, file)
    if form == "csv":
        cells = [cell for line in path.read_text().splitlines() for cell in line.split(",")]
        assert not [cell for cell in cells if cell.strip('"')[:1] in set("=+@\t\r") or cell == "-spam"]
    found = read_answers(path, study)
    assert {one.id: one.label for one in found} == dict(zip(ids, labels, strict=True))
    assert {one.who for one in found} == {"+anna"}
    if form != "label-studio":  # whose tasks belong to one study
        other = made(tmp_path, "other.db")
        other.ask(len(HOSTILE))
        assert tell_answers(other, found) == len(ids)
        assert other.estimate().value == study.estimate().value


def test_items_are_written_with_room_for_labels(study, tmp_path, form):
    path = tmp_path / f"batch.{ENDS[form]}"
    ids = study.ask(4)
    with open(path, "w", encoding="utf-8", newline="") as file:
        FORMATS[form].write_items(study, ids, file)
    found = read_answers(path, study)
    assert [one.label for one in found] == ([] if form == "label-studio" else [None] * 4)
    if form == "jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        assert rows == [{"id": name, "label": None, "=text": name} for name in ids]


@pytest.mark.parametrize("name", [" spam", "not\nham", "a\r\nb ", "1.0"])
def test_names_of_classes_may_have_white_space_and_fractions(name, tmp_path, form):
    pool = Pool(probabilities=[0.1, 0.4, 0.8], classes=["ham", name])
    study = Study.create(tmp_path / "study.db", pool, budget=3)
    ids = study.ask(3)
    study.tell(ids, [name, "ham", " ".join(name.split()).removesuffix(".0")])
    path = tmp_path / f"labels.{ENDS[form]}"
    with open(path, "w", encoding="utf-8", newline="") as file:
        FORMATS[form].write_labels(study, file)
    assert tell_answers(study, read_answers(path, study)) == 0
    assert list(study.labels().values()) == [name, "ham", name]


def test_who_skipped_is_no_author_of_a_label(tmp_path):
    pool = Pool(probabilities=[0.2, 0.6], ids=["a", "b"], classes=["ham", "spam"])
    study = Study.create(tmp_path / "study.db", pool, budget=2)
    study.ask(2)
    study.tell(["a", "a", "b", "b"], ["ham", None, None, None], who=["ann", "bob", "bob", "cyd"], further=True)
    times = {(row["id"], row["who"]): row["at"] for row in study.history()}
    told = [(row["id"], row["label"], row["who"], row["at"]) for row in label_rows(study)]
    assert sorted(told) == [("a", "ham", "ann", times["a", "ann"]), ("b", None, "bob; cyd", times["b", "cyd"])]


def test_a_column_of_the_pool_is_never_taken_for_what_people_say(tmp_path, form):
    pool = Pool(probabilities=[0.2, 0.6], fields={"label": [0, 1], "who": ["x", "y"]}, ids=["a", "b"])
    study = Study.create(tmp_path / "study.db", pool, budget=2)
    path = tmp_path / f"batch.{ENDS[form]}"
    with open(path, "w") as file:
        FORMATS[form].write_items(study, study.ask(2), file)
    assert "pool_label" in path.read_text()
    assert {(one.label, one.who) for one in read_answers(path, study)} <= {(None, None)}


@pytest.mark.parametrize("form", ["jsonl", "label-studio"])
def test_numbers_that_json_does_not_know_are_null(tmp_path, form):
    fields = {"a": [np.inf, np.nan], "b": [{"c": [1.0, -np.inf]}, None]}
    study = Study.create(tmp_path / "study.db", Pool([0.2, 0.6], fields=fields, ids=["x", "y"]), budget=2)
    text = io.StringIO()
    FORMATS[form].write_items(study, study.ask(2), text)
    rows = [text.getvalue()] if form == "label-studio" else text.getvalue().splitlines()
    told = [json.loads(row, parse_constant=pytest.fail) for row in rows]
    assert '"b": {"c": [1.0, null]}' in json.dumps(told)


def test_outcomes_have_a_column_for_each_system(tmp_path, form):
    pool = Pool(models={"a": Outcome(judge=[0.9, 0.2, 0.5]), "=b": Outcome()})
    study = Study.create(tmp_path / "study.db", pool, "accuracy", compare=("a", "=b"), budget=3)
    ids = study.ask(3)
    study.tell(ids, [{"a": 1, "=b": 0}, {"a": 0, "=b": 1}, None])
    path = tmp_path / f"labels.{ENDS[form]}"
    with open(path, "w") as file:
        FORMATS[form].write_labels(study, file)
    assert tell_answers(study, read_answers(path, study)) == 0
    assert len(read_answers(path, study)) == 3


@pytest.mark.parametrize(
    ("end", "text", "half"),
    [
        ("csv", "id,a.label,c.label\n0,1,0\n1,,\n", "id,a.label\n0,1\n"),
        ("jsonl", '{"id": 0, "a.label": 1, "c.label": 0}\n{"id": 1, "a.label": null, "c.label": null}', '{"id": 0}'),
    ],
)
def test_columns_of_systems_that_the_study_does_not_ask_about_may_be_missing(tmp_path, end, text, half):
    pool = Pool(models={name: Outcome(judge=[0.9, 0.2]) for name in "abc"})
    study = Study.create(tmp_path / "study.db", pool, "accuracy", compare=("a", "c"), budget=2)
    study.ask(2)
    (path := tmp_path / f"labels.{end}").write_text(text)
    assert tell_answers(study, read_answers(path, study)) == 2
    assert [study.labels()[0][model] for model in (0, 2)] == [1, 0]
    assert study.labels()[1] is None
    path.write_text(half)
    with study, pytest.raises(InputError, match=r"no (column )?'[ac]\.label'"):
        read_answers(path, study)


@pytest.mark.parametrize("text", ["1_0", "0_1", "nan", "0x1", "one"])
def test_texts_that_are_no_numbers_are_no_labels(tmp_path, text):
    numbers = Pool(means=[1.0, 2.0], variances=[1.0, 1.0])
    systems = Pool(models={name: Outcome(judge=[0.5, 0.6]) for name in ("a", "b")})
    for study, rows in (
        (Study.create(tmp_path / "numbers.db", numbers, "mse", budget=2), f"id,label\n0,{text}\n"),
        (
            Study.create(tmp_path / "systems.db", systems, "mean_outcome", compare=("a", "b"), budget=2),
            f"id,a.label,b.label\n0,{text},1\n",
        ),
    ):
        (path := tmp_path / "labels.csv").write_text(rows)
        study.ask(2)
        with study, pytest.raises(LabelError, match=f"line 2: (label|outcome) '{text}' of id '0' is not"):
            tell_answers(study, read_answers(path, study))


BAD = {
    "csv": [
        (b"", "the file is empty"),
        (b"id,label\n", "the file is empty: it has no rows"),
        (b"id,label\na\n", "line 2 has more or fewer cells"),
        (b"name,label\na,b\n", "no column 'id'"),
        ("id,label\nä,=ham\n".encode("utf-16"), "not UTF-8: it has a byte 0xff"),
        (b"id,label\n-x,\xe9\n", "not UTF-8: it has a byte 0xe9"),
        (b"id,label\n-x,eggs\n", "line 2: label 'eggs' of id '-x' is not a class"),
        (b"id,label\nnobody,=ham\n", "line 2: id 'nobody' was never asked for: without a probability"),
        (b"id,label\n-x,=ham\n-x,-spam\n", "line 2 and line 3: id '-x' has different labels here, '=ham' and '-spam'"),
        (b"id,label\n-x,=ham\n'-x,\n", "line 2 and line 3: id '-x' has different labels here, '=ham' and a skip"),
    ],
    "jsonl": [
        (b"", "the file is empty"),
        (b"\n \n", "the file is empty"),
        (b'{"id": "-x", "label": "=ham"}\n{"id": "=1', "line 2 is not JSON: Unterminated string"),
        (b'["-x", "=ham"]\n', "line 1 is not a JSON object"),
        (b'{"id": "-x"}\n', "line 1 has no 'label'; it has \\['id'\\]"),
        (b'{"id": null, "label": "=ham"}\n', "line 1 has no id"),
        (b'{"id": "-x", "label": "\xe9"}\n', "not UTF-8: it has a byte 0xe9"),
        (b'{"id": "-x", "label": "eggs"}\n', "line 1: label 'eggs' of id '-x' is not a class"),
        (b'{"id": "-x", "label": ["=ham"]}\n', "line 1: label \\['=ham'\\] of id '-x' is not a class"),
        (b'{"id": ["-x"], "label": "=ham"}\n', "line 1 has the id \\['-x'\\]; it must be a text or a number"),
        (b'{"id": %s, "label": "=ham"}\n' % (b"1" * 5000), "line 1 has a number of more than 4,300 digits"),
        (b"[" * 100_000, "line 1 is not such JSON: lists or objects stand too deep"),
        (b'{"id": "\\ud800", "label": "=ham"}\n', "line 1: its id '.ud800' has half a character"),
        (b'{"id": "-x", "label": "\\ud800"}\n', "line 1: its label '.ud800' has half a character"),
        *[
            (
                b'{"id": "-x", "label": "=ham", "who": %s}\n' % who,
                "line 1 has the labeller .*; it must be a name of 1 to 80",
            )
            for who in (b'"\\ud800"', b'["anna"]', b'"an\\nna"', b'"\\u001b[31manna"', b"true", b'"%s"' % (b"x" * 81))
        ],
    ],
}


@pytest.mark.parametrize(
    ("kind", "content", "reason"), [(kind, *case) for kind, cases in BAD.items() for case in cases]
)
def test_bad_files_are_refused_and_nothing_is_taken(study, tmp_path, kind, content, reason):
    study.ask(len(HOSTILE))
    study.tell(["=1+1"], ["=ham"])
    path = tmp_path / f"bad.{kind}"
    path.write_bytes(content)
    with pytest.raises(InputError, match=reason):
        tell_answers(study, read_answers(path, study))
    assert study.status.labelled == 1


def test_the_line_of_a_whole_number_is_its_own(tmp_path):
    study = Study.create(tmp_path / "numbers.db", Pool(probabilities=np.full(13, 0.5), ids=list(range(13))), budget=13)
    study.ask(13)
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": 12, "label": "eggs"}\n{"id": 1, "label": 0}\n')
    with pytest.raises(LabelError, match=r"^line 1: label 'eggs' of id 12 "):
        tell_answers(study, read_answers(path, study))
    path = tmp_path / "labels.csv"
    path.write_text("id,label\n1,0\n12,eggs\n1,bacon\n77777,0\n")
    with pytest.raises(LabelError, match=r"^line 5: id '77777' was never asked for.*; refused too: line 3, line 4$"):
        tell_answers(study, read_answers(path, study))
    path.write_text("id,label\n" + "12,eggs\n" * 9)
    with pytest.raises(LabelError, match=r"; refused too: line 2, line 3, line 4, line 5, line 6 and 3 others$"):
        tell_answers(study, read_answers(path, study))
    study.tell([12], [0])
    path.write_text("id,label\n1,0\n12,1\n")  # as text, where the pool has numbers
    with pytest.raises(LabelError, match=r"^line 3: id 12 is already labelled 0, now 1"):
        tell_answers(study, read_answers(path, study))
    path.write_text("id,label\n12,1\n12,0\n")
    with pytest.raises(LabelError, match=r"^line 2 and line 3: id '12' has different labels here, 1 and 0"):
        tell_answers(study, read_answers(path, study))
    study.tell([1], [0], who="anna")
    path.write_text("id,label,who\n1,1,anna\n1,0,ben\n")
    with pytest.raises(LabelError, match=r"^line 2: id 1 is already labelled 0, now 1") as refused:
        tell_answers(study, read_answers(path, study))
    assert (refused.value.ids, refused.value.refused) == ((1,), (1,))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("values", [[1, "a", 2.5], [[1, "a"], {"b": [1, {}]}, None], [10**30, 1, None]], ids=str)
def test_frames_hold_values_of_several_kinds_at_least_as_text(values, backend, tmp_path):
    pool = Pool(probabilities=[0.2, 0.6, 0.9], ids=[1, "b", "c"], fields={"field": pandas.Series(values, dtype=object)})
    study = Study.create(tmp_path / "study.db", pool, budget=3)
    asked = study.ask(3)
    frame = items_frame(study, asked, backend)
    shown = frame["field"].to_pylist() if backend == "pyarrow" else frame["field"].to_list()
    wanted = [study.fields([name])[0]["field"] for name in asked]
    assert list(map(str, shown)) == list(map(str, wanted))
    study.tell(asked, [0, 1, None])
    assert tell_answers(study, read_answers_frame(labels_frame(study, backend), study)) == 0


@pytest.mark.parametrize("document", [["d0"], {"d0": 1}], ids=str)
def test_documents_that_can_be_no_names_are_refused(document, tmp_path):
    pool = Pool(models={"a": Ranking([["d0", "d1"], ["d1"]])}, ids=["x", "y"], classes=[0, 1])
    study = Study.create(tmp_path / "study.db", pool, "dcg", budget=2)
    study.ask(2)
    row = {"query": "y", "document": document, "label": 1}
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(row))
    reason = r"1 has the document [\[{]'d0'.*; it must be a text or a number"
    with pytest.raises(LabelError, match=f"line {reason}"):
        read_answers(path, study)
    with pytest.raises(LabelError, match=f"row {reason}"):
        read_answers_frame(pandas.DataFrame([row | {"document": "d1"}, row]), study)


def test_arrays_in_cells_are_refused_as_lists_are(tmp_path):
    study = Study.create(tmp_path / "study.db", Pool(probabilities=[0.2, 0.6]), budget=2)
    study.ask(2)
    cells = pandas.Series([np.arange(2)], dtype=object)
    with pytest.raises(LabelError, match=r"row 0 has the labeller \[0, 1\]"):
        read_answers_frame(pandas.DataFrame({"id": [0], "label": [1], "who": cells}), study)
    with pytest.raises(LabelError, match=r"row 0: label \[0, 1\] of id 0 is not a class"):
        tell_answers(study, read_answers_frame(pandas.DataFrame({"id": [0], "label": cells}), study))


def test_names_of_columns_may_hold_what_divides_others(tmp_path):
    pool = Pool(probabilities=[0.2, 0.6], ids=["x", "y"], fields={"a; b; c; d": ["1;2", "3,4"]})
    study = Study.create(tmp_path / "study.db", pool, budget=2)
    path = tmp_path / "batch.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        FORMATS["csv"].write_items(study, study.ask(2), file)
    assert {one.id for one in read_answers(path, study)} == {"x", "y"}


@pytest.mark.parametrize("label", ["1e308", "-1e36", "inf", "nan", "1" * 400, int("1" * 400)])
def test_numbers_that_cannot_be_squared_are_refused(tmp_path, label):
    study = Study.create(tmp_path / "study.db", Pool(means=[1.0, 2.0], variances=[1.0, 1.0]), "mse", budget=2)
    with pytest.raises(LabelError, match="is not a finite number, at most 1e\\+35 either way"):
        study.tell(study.ask(1), [label])


def test_a_missing_file_is_named(study, form, tmp_path):
    with pytest.raises(InputError, match=r"none\.\w+: .*No such file"):
        read_answers(tmp_path / f"none.{ENDS[form]}", study)


def test_the_format_can_be_named(study, tmp_path):
    study.ask(len(HOSTILE))
    path = tmp_path / "labels.txt"
    path.write_text('{"id": "-x", "label": "=ham"}\n')
    assert read_answers(path, study, "jsonl")[0].label == "=ham"


def test_names_that_there_are_not_are_refused(study, tmp_path):
    study.ask(len(HOSTILE))
    for act in (
        lambda: read_answers(tmp_path / "labels.csv", study, "xls"),
        lambda: write_draws(study, "", form="xls"),
    ):
        with pytest.raises(InputError, match="no format 'xls'; there are csv, jsonl, label-studio"):
            act()
    with pytest.raises(InputError, match="which='all' is none of items, people, everything"):
        label_rows(study, "all")


def test_predictions_are_for_label_studio(study, tmp_path):
    with open(tmp_path / "batch.csv", "w") as file, pytest.raises(InputError, match="for Label Studio only"):
        FORMATS["csv"].write_items(study, [], file, predictions=True)


@pytest.mark.parametrize("backend", BACKENDS)
def test_frames_both_ways(study, backend):
    ids = study.ask(4)
    batch = items_frame(study, ids, backend)
    rows = (
        batch.to_pylist()
        if backend == "pyarrow"
        else batch.to_dicts()
        if backend == "polars"
        else batch.to_dict("records")
    )
    filled = [row | {"label": label} for row, label in zip(rows, ["=ham", None, "-spam", "=ham"], strict=True)]
    make = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.Table.from_pylist}[backend]
    assert tell_answers(study, read_answers_frame(make(filled), study), who="anna") == 4
    assert study.status.skipped == 1
    again = read_answers_frame(labels_frame(study, backend), study)
    assert [(one.id, one.label, one.who) for one in again] == list(
        zip(ids, ["=ham", None, "-spam", "=ham"], ["anna"] * 4, strict=True)
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_frames_of_unsigned_ids(tmp_path, backend):
    pool = Pool([0.2, 0.4], ids=np.array([2**63 + 1, 1], dtype=np.uint64), fields={"large": [2**64 - 1, 2**63]})
    with Study.create(tmp_path / "study.db", pool, budget=2) as study:
        batch = items_frame(study, study.ask(2), backend)
        columns = batch.to_pydict() if backend == "pyarrow" else {name: batch[name].to_list() for name in batch.columns}
        assert dict(zip(columns["id"], columns["large"], strict=True)) == {2**63 + 1: 2**64 - 1, 1: 2**63}


@pytest.mark.parametrize("kind", ["Int64", "object", "float"])
def test_missing_labels_of_pandas_are_skips(kind, tmp_path):
    study = Study.create(tmp_path / "study.db", Pool([0.2, 0.6]), budget=2)
    labels = pandas.Series([1, float("nan") if kind == "float" else pandas.NA], dtype=kind)
    assert tell_answers(study, read_answers_frame(pandas.DataFrame({"id": study.ask(2), "label": labels}), study)) == 2
    assert list(study.labels().values()) == [1, None]


def test_frames_are_checked(study):
    study.ask(4)
    with pytest.raises(LabelError, match="row 0 has no 'label'; it has"):
        read_answers_frame(pandas.DataFrame({"id": ["-x"]}), study)
    with pytest.raises(InputError, match="answers are read from a frame, not from list"):
        read_answers_frame([], study)
    with pytest.raises(InputError, match="no backend 'excel'; there are pandas, polars, pyarrow"):
        items_frame(study, [], "excel")
    assert list(labels_frame(study).columns) == ["id", "label", "who", "at"]


def test_labels_taken_back_are_not_exported(study, form, tmp_path):
    ids = study.ask(3)
    study.tell(ids, ["=ham", "=ham", "-spam"], who="anna")
    study.undo("anna")
    study.tell(ids[:1], ["-spam"], who="anna", correct=True)
    path = tmp_path / f"labels.{ENDS[form]}"
    with open(path, "w", encoding="utf-8", newline="") as file:
        FORMATS[form].write_labels(study, file)
    assert [(one.id, one.label) for one in read_answers(path, study)] == [(ids[0], "-spam"), (ids[1], "=ham")][
        :: 1 if form == "label-studio" else -1
    ]


def test_all_that_was_written_is_exported_when_asked_for(study, tmp_path):
    ids = study.ask(2)
    study.tell(ids, ["=ham", "=ham"], who="anna")
    study.undo("anna")
    with open(tmp_path / "all.jsonl", "w") as file:
        FORMATS["jsonl"].write_labels(study, file, "everything")
    rows = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert [row["kind"] for row in rows] == ["label", "label", "undo"]


def test_several_people_in_one_file(study, tmp_path):
    ids = study.ask(2)
    path = tmp_path / "labels.jsonl"
    rows = [(ids[0], "=ham", "anna"), (ids[0], "-spam", "ben"), (ids[0], "=ham", "cleo"), (ids[1], "=ham", "ben")]
    path.write_text("".join(json.dumps({"id": i, "label": y, "who": w}) + "\n" for i, y, w in rows))
    assert tell_answers(study, read_answers(path, study)) == 4
    assert tell_answers(study, read_answers(path, study)) == 0
    assert {who: one.labelled for who, one in study.progress().items()} == {"anna": 1, "ben": 2, "cleo": 1}
    assert study.status.labelled == 2  # two of three say ham
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps({"id": ids[1], "label": "=ham", "who": "dora"}) + "\n" + '{"id": "x", "label": null}\n')
    with pytest.raises(LabelError, match="line 2: id 'x' was never asked for"):
        tell_answers(study, read_answers(bad, study))
    assert "dora" not in study.progress()


def rankings(folder, name="study.db", queries=6):
    rows = [(f"=q{n}", document) for n in range(queries) for document in ("a", "-b", "c")]
    grades = np.tile([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]], (queries, 1))
    ranks = {"new": Ranking(ranks=[1, 2, 3] * queries), "old": Ranking(ranks=[3, 2, 1] * queries)}
    pool = Pool(models=ranks, queries=[q for q, _ in rows], documents=[d for _, d in rows], grades=grades)
    return Study.create(folder / name, pool, "dcg@2", compare=("new", "old"), budget=6)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_rankings_have_a_row_for_each_document(tmp_path, form):
    study = rankings(tmp_path)
    ids = study.ask(3)
    path = tmp_path / f"batch.{ENDS[form]}"
    with open(path, "w", encoding="utf-8", newline="") as file:
        FORMATS[form].write_items(study, ids, file)
    assert len(read_answers(path, study)) == 3
    assert read_answers(path, study, partial=True) == []
    labels = [dict.fromkeys(documents, grade) for documents, grade in zip(study.documents(ids), (1, 0), strict=False)]
    study.tell(ids, [*labels, None], who="anna")
    with open(path, "w", encoding="utf-8", newline="") as file:
        FORMATS[form].write_labels(study, file)
    found = read_answers(path, study)
    assert [one.label is None for one in sorted(found, key=lambda one: ids.index(one.id))] == [False, False, True]
    other = rankings(tmp_path, "other.db")
    assert other.ask(3) == ids
    assert tell_answers(other, found) == 3
    assert other.labels() == study.labels()


def test_label_studio_is_not_for_rankings(tmp_path):
    study = rankings(tmp_path)
    with open(tmp_path / "tasks.json", "w") as file, pytest.raises(InputError, match="not made of rankings; use CSV"):
        FORMATS["label-studio"].write_items(study, study.ask(1), file)


def test_a_document_judged_twice_is_refused(tmp_path):
    study = rankings(tmp_path)
    (name,) = study.ask(1)
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps({"query": name, "document": "a", "label": y}) + "\n" for y in (0, 1)))
    with pytest.raises(LabelError, match=r"document 'a' of query .* has two labels, 0 and 1"):
        read_answers(path, study)
