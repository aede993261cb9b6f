"""Tasks that Label Studio can read, and its exports read back.

The two export files are of the form that Label Studio 1.23 writes for a project of six tasks, with every key: answered
by number and by address, skipped, skipped by one of two, changed by the same annotator, and left empty. The second is
what the converter of label-studio-sdk 2.1.2 makes of the first as JSON_MIN.
"""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from sondage import Classifier, Outcome, Pool, Study
from sondage.adapters.label_studio import labelling_interface, make_tasks, read_annotations, study_key
from sondage.adapters.rows import Answer, tell_answers
from sondage.errors import InputError, LabelError

HERE = Path(__file__).parent


def classes(folder, **options):
    pool = Pool(probabilities=[0.1, 0.9, 0.4, 0.7, 0.2, 0.6], classes=["ham", "spam"], **options)
    pool.fields["text"] = np.array([f"text of {number}" for number in range(6)])
    study = Study.create(folder / "study.db", pool, budget=6)
    study.ask(6)
    return study


@pytest.fixture
def study(tmp_path):
    return classes(tmp_path)


def export(study, name, change=lambda tasks: None):
    tasks = json.loads((HERE / name).read_text().replace("$STUDY", study_key(study)))
    change(tasks)
    path = Path(study.place).with_name(name)
    path.write_text(json.dumps(tasks))
    return path


def test_a_task_says_where_it_comes_from(study):
    ids = study.snapshot().asked_ids
    tasks = make_tasks(study, ids)
    assert [task["data"]["item"] for task in tasks] == [str(name) for name in ids]
    assert [task["data"]["draw"] for task in tasks] == [{"stage": 0, "position": place} for place in range(6)]
    assert {task["data"]["study"] for task in tasks} == {study_key(study)}
    assert tasks[0]["data"]["text"] == f"text of {ids[0]}"
    assert set(tasks[0]) == {"data"}  # no prediction: it would bias


def test_predictions_are_given_when_asked_for(study):
    (task,) = make_tasks(study, [3], predictions=True)
    (prediction,) = task["predictions"]
    assert prediction["result"][0]["value"] == {"choices": ["spam"]}
    assert prediction["score"] == pytest.approx(0.7)


def test_a_json_export_is_read(study):
    answers = read_annotations(export(study, "label_studio_export.json"), study)
    assert [(one.id, one.label, one.who) for one in answers] == [
        ("0", "spam", "annotator 1"),
        ("1", "ham", "ben@example.org"),
        ("2", None, "annotator 1"),
        ("3", None, "annotator 1"),
        ("3", "ham", "annotator 2"),
        ("4", "ham", "annotator 1"),
        ("4", "ham", "annotator 2"),
    ]
    assert tell_answers(study, answers) == 7
    assert study.status.labelled == 4
    assert study.status.skipped == 1
    assert study.status.pending == 1
    assert {row["id"]: row["who"] for row in study.history()}[1] == "ben@example.org"


def test_a_json_min_export_is_read(study):
    answers = read_annotations(export(study, "label_studio_export_min.json"), study)
    assert sorted((one.id, one.label, one.who) for one in answers) == [
        ("0", "spam", "annotator 1"),
        ("1", "ham", "ben@example.org"),
        ("3", "ham", "annotator 2"),
        ("4", "ham", "annotator 1"),
        ("4", "ham", "annotator 2"),
    ]
    assert tell_answers(study, answers) == 5


def test_a_skip_stays_where_somebody_else_answered(study, tmp_path):
    study.tell([0, 0, 1], ["ham", None, "spam"], who=["anna", "ben", "ben"], further=True)
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(make_tasks(study, [0, 1], answers=True)))
    (tmp_path / "other").mkdir()
    other = classes(tmp_path / "other")
    text = path.read_text().replace(study_key(study), study_key(other))
    path.write_text(text)
    tell_answers(other, read_annotations(path, other))
    assert other.progress() == study.progress()
    assert other.progress()["ben"].skipped == 1
    assert tell_answers(other, read_annotations(path, other)) == 0


def test_what_was_written_is_read_back(study, tmp_path):
    study.tell([0, 1, 2], ["ham", "spam", None], who="anna")
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(make_tasks(study, [0, 1, 2, 3], answers=True)))
    assert [(one.id, one.label, one.who) for one in read_annotations(path, study)] == [
        ("0", "ham", "anna"),
        ("1", "spam", "anna"),
        ("2", None, "anna"),
    ]


def test_outcomes_are_a_choice_for_each_system(tmp_path):
    models = {"gpt": Outcome(judge=[0.9, 0.2]), "ours": Outcome(judge=[0.4, 0.6])}
    study = Study.create(tmp_path / "study.db", Pool(models=models), "accuracy", compare=("gpt", "ours"), budget=2)
    ids = study.ask(2)
    study.tell(ids[:1], [{"gpt": 1, "ours": 0}])
    (task,) = make_tasks(study, ids[:1], answers=True)
    assert [(one["from_name"], one["value"]) for one in task["annotations"][0]["result"]] == [
        ("gpt", {"choices": ["1"]}),
        ("ours", {"choices": ["0"]}),
    ]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([task]))
    assert read_annotations(path, study)[0].label == {"gpt": "1", "ours": "0"}


def test_a_system_may_be_called_like_a_field(tmp_path):
    pool = Pool(models={"text": Outcome(), "b": Outcome()}, ids=["i", "j"], fields={"text": ["one", "two"]})
    study = Study.create(tmp_path / "study.db", pool, "accuracy", compare=("text", "b"), budget=2)
    (task, _) = make_tasks(study, study.ask(2))
    assert task["data"]["pool_text"] in ("one", "two")
    path = tmp_path / "min.json"
    path.write_text(json.dumps([task["data"] | {"text": "1", "b": "0", "annotation_id": 1}]))
    assert [one.label for one in read_annotations(path, study)] == [{"text": "1", "b": "0"}]
    named = Pool(models={"item": Outcome(), "b": Outcome()}, ids=["i", "j"])
    with (
        Study.create(tmp_path / "named.db", named, "accuracy", compare=("item", "b"), budget=2) as other,
        pytest.raises(InputError, match="system of the name 'item' cannot be a control"),
    ):
        make_tasks(other, other.ask(1))


def test_the_last_annotation_counts_and_one_without_a_time_is_not_the_last(study, tmp_path):
    (task,) = make_tasks(study, study.snapshot().asked_ids[:1])
    region = {"from_name": "label", "type": "choices"}
    told = [{"completed_by": 1, "result": [region | {"value": {"choices": [name]}}]} for name in ("ham", "spam")]
    told[1]["updated_at"] = "2026-01-01T00:00:00Z"
    for order in (told, told[::-1]):
        path = tmp_path / "export.json"
        path.write_text(json.dumps([task | {"annotations": order}]))
        assert [one.label for one in read_annotations(path, study)] == ["spam"]


def test_numbers_are_numbers(tmp_path):
    study = Study.create(tmp_path / "study.db", Pool(means=[1.0, 2.0], variances=[1.0, 1.0]), "mae", budget=2)
    study.tell(study.ask(2), [1.5, None])
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(make_tasks(study, [0, 1], answers=True)))
    assert [one.label for one in read_annotations(path, study)] == [1.5, None]
    key = study_key(study)
    record = {"item": "0", "study": key, "id": 9, "label": [{"number": 2.5}], "annotation_id": 3, "annotator": 1}
    path.write_text(json.dumps([record]))
    assert read_annotations(path, study) == [Answer("0", 2.5, "annotator 1", "task 1 (item '0')")]


def test_the_interface_offers_the_classes(tmp_path):
    pool = Pool(probabilities=[0.1, 0.9], classes=['a "quoted" <one>', "b"])
    pool.fields["text"] = np.array(["x", "y"])
    pool.fields["id"] = np.array(["p", "q"])
    study = Study.create(tmp_path / "study.db", pool, budget=2)
    study.ask(2)
    root = ET.fromstring(labelling_interface(study))
    assert [choice.get("value") for choice in root.iter("Choice")] == ['a "quoted" <one>', "b"]
    assert [text.get("value") for text in root.iter("Text")] == ["$text", "$pool_id"]
    assert next(root.iter("Choices")).get("toName") == next(root.iter("Text")).get("name")


@pytest.mark.parametrize("annotated", ["export", "min"])
def test_label_studio_finds_every_field(tmp_path, annotated):
    names = ["due date", "text", "größe", "a-b", "US$x", "field_1", "field_3", "id", "pool_id", "label", "a.b", "[0]"]
    fields = {name: [f"{name} of {item}" for item in "pq"] for name in names}
    pool = Pool(probabilities=[0.1, 0.9], ids=["p", "q"], classes=["ham", "spam"], fields=fields)
    study = Study.create(tmp_path / "study.db", pool, budget=2)
    study.ask(2)
    study.tell(["p", "q"], ["ham", "spam"])
    tasks = make_tasks(study, ["p", "q"], answers=True)
    root = ET.fromstring(labelling_interface(study))
    titles = [title.get("value").replace("$ ", "$") for title in root.iter("Header")]
    keys = [text.get("value") for text in root.iter("Text")]
    assert all(re.fullmatch(r"\$[A-Za-z0-9_.]+", key) for key in keys)
    assert not any(re.search(r"\$\w", title.get("value")) for title in root.iter("Header"))
    for item, task in zip("pq", tasks, strict=True):
        shown = [task["data"][key[1:]] for key in keys]
        assert sorted(shown) == sorted(f"{name} of {item}" for name in names)
        assert shown == [f"{title} of {item}" for title in titles]
    answered = zip(tasks, ["ham", "spam"], strict=True)
    plain = [task["data"] | {"label": name, "annotation_id": 1} for task, name in answered]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks if annotated == "export" else plain))
    assert [(one.id, one.label) for one in read_annotations(path, study)] == [("p", "ham"), ("q", "spam")]


def test_an_interface_is_xml_whatever_names_have(tmp_path):
    pool = Pool(probabilities=[0.1, 0.9], fields={"te\x0bxt": ["a", "b"]})
    with Study.create(tmp_path / "study.db", pool, budget=2) as study:
        study.ask(1)
        (header,) = ET.fromstring(labelling_interface(study)).iter("Header")
        assert header.get("value") == "te\ufffdxt"
    pool = Pool(probabilities=[0.1, 0.9], classes=["a", "b\x07"])
    study = Study.create(tmp_path / "other.db", pool, budget=2)
    with pytest.raises(InputError, match=r"'b\\x07' has a character that Label Studio's interface.*; use CSV"):
        labelling_interface(study)


def unknown_choice(tasks):
    tasks[1]["annotations"][0]["result"][0]["value"]["choices"] = ["spma"]


def two_choices(tasks):
    tasks[1]["annotations"][0]["result"][0]["value"]["choices"] = ["ham", "spam"]


def other_control(tasks):
    tasks[1]["annotations"][0]["result"][0]["from_name"] = "sentiment"


def other_kind(tasks):
    tasks[1]["annotations"][0]["result"][0]["value"] = {"rectanglelabels": ["spam"]}


def other_study(tasks):
    tasks[1]["data"]["study"] = "0123456789abcdef"


def own_task(tasks):
    tasks[1]["data"] = {"text": "a task that somebody added"}


def never_drawn(tasks):
    tasks[1]["data"]["item"] = "77"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (unknown_choice, r"^task 2 \(item '1'\), annotation 102: label 'spma' of id '1' is not a class; classes are"),
        (two_choices, r"^task 2 \(item '1'\), annotation 102: 'label' has 2 answers, \['ham', 'spam'\]; exactly one"),
        (other_control, r"annotation 102 answers none of \['label'\]; it has \['sentiment'\]"),
        (other_kind, r"annotation 102: 'label' is of a kind that is no label"),
        (other_study, r"^task 2 \(item '1'\) is of another study, '0123456789abcdef'; this one is"),
        (own_task, "^task 2 has no 'item' and 'study': only tasks that sondage wrote have a probability"),
        (never_drawn, r"^task 2 \(item '77'\), annotation 102: id '77' was never asked for: without a probability"),
    ],
)
def test_a_bad_annotation_is_refused_with_its_place(study, change, reason):
    with pytest.raises(LabelError, match=reason):
        tell_answers(study, read_annotations(export(study, "label_studio_export.json", change), study))
    assert study.status.labelled == 0


@pytest.mark.parametrize("wrong", [5, "abc", {"a": 1}, ["abc"], [None]])
@pytest.mark.parametrize("name", ["annotations", "result"])
def test_what_is_no_list_of_objects_is_refused_with_its_place(study, name, wrong):
    def change(tasks):
        (tasks[1] if name == "annotations" else tasks[1]["annotations"][0])[name] = wrong

    with pytest.raises(LabelError, match=rf"^task 2 \(item '1'\).*: '{name}' is .*; it must be a list of objects$"):
        read_annotations(export(study, "label_studio_export.json", change), study)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"was_cancelled": "false"}, "'was_cancelled' is 'false'; it must be true or false"),
        ({"result": [{"from_name": ["label"]}]}, r"'from_name' is \['label'\]; it must be the name of a control"),
        ({"completed_by": [1, 2]}, r"has the labeller \[1, 2\]; it must be a name"),
        ({"completed_by": {"email": "a\nb"}}, r"has the labeller 'a\\nb'; it must be a name"),
    ],
)
def test_values_of_a_wrong_kind_are_refused_with_their_place(study, change, reason):
    def changed(tasks):
        tasks[1]["annotations"][0] |= change

    with pytest.raises(LabelError, match=rf"^task 2 \(item '1'\), annotation 102:? {reason}"):
        read_annotations(export(study, "label_studio_export.json", changed), study)


def test_another_control_is_refused_in_json_min_too(study):
    def rename(records):
        records[0]["sentiment"] = records[0].pop("label")

    with pytest.raises(LabelError, match=r"answers none of \['label'\]; it has \['sentiment'\]"):
        read_annotations(export(study, "label_studio_export_min.json", rename), study)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON: Expecting value at column 1"),
        ('[\n{"id": 1,', "not JSON: .* at line 2, column 10"),
        ("[" * 100_000, "lists or objects stand too deep"),
        ("1" * 5000, "a number of more than 4,300 digits"),
        ('[{"id": 1,', "not JSON"),
        ("[]", "no tasks"),
        ("[3]", "task 1 is no JSON object"),
        ('"text"', "task 1 is no JSON object"),
    ],
)
def test_a_broken_export_is_refused(study, tmp_path, text, reason):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(InputError, match=reason):
        read_annotations(path, study)


def test_several_models_each_predict(tmp_path):
    models = {"a": Classifier(probabilities=[0.1, 0.9]), "b": Classifier(predictions=[1, 0])}
    study = Study.create(tmp_path / "study.db", Pool(models=models), compare=("a", "b"), budget=2)
    (task,) = make_tasks(study, study.ask(1), predictions=True)
    assert [one["model_version"] for one in task["predictions"]] == ["a", "b"]
    assert task["predictions"][1]["score"] is None


def test_people_who_disagree_are_kept_and_disputed(study):
    def differ(tasks):
        tasks[4]["annotations"][2]["result"][0]["value"]["choices"] = ["spam"]

    answers = read_annotations(export(study, "label_studio_export.json", differ), study)
    tell_answers(study, answers)
    (found,) = study.disagreements()
    assert found.id == 4
    assert found.labels == (("annotator 1", "ham"), ("annotator 2", "spam"))
    assert study.status.disputed == 1
    (task,) = make_tasks(study, [4], answers=True)
    assert [one["created_username"] for one in task["annotations"]] == ["annotator 1", "annotator 2"]
    study.resolve(4, "ham", "chief")
    assert study.status.disputed == 0
