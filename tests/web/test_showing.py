"""Keys of labels."""

import pytest

from sondage.core.measures import Task
from sondage.web.showing import choices, system_parts

TEN = "0123456789"


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        (["ham", "spam"], "12"),
        (["-1", "0", "1"], "a01"),
        ([str(number) for number in range(12)], TEN + "ab"),
        (["0", "0.5", "1"], "0a1"),
        (["0.0", "1.0"], "01"),
        (["1", "1.0"], "1a"),
        (["01", "1/2", "\N{MINUS SIGN}3"], "abc"),
        (["5 stars", "1 star", "none"], "51a"),
        (["1a", "1b", "2"], "ab2"),
        (["covid-19", "flu"], "ab"),
        (["B", "A", "AB"], "ba1"),
        (["a", "A"], "a1"),
        (["p", "s", "u"], "p12"),
        ([*map("word {}".format, "abcdefghijk")], TEN[1:] + "0a"),
        ([f"{letter}rea" for letter in "abcdefghijkl"], TEN[1:] + "0mn"),
        ([f"w{number}" for number in range(10, 35)], [*"abcdefghijklmnopqrtvxyzw", ""]),
    ],
)
def test_no_key_says_another_label(labels, keys):
    task = Task("classification", classes=tuple(labels))
    assert [one.key for one in choices(task)] == list(keys)


@pytest.mark.parametrize("kind", ["outcomes", "ranking"])
def test_a_grade_is_sent_as_it_is_and_shown_in_short(kind):
    found = choices(Task(kind, grades=(0.0, 1 / 3, 2 / 3, 12345678.0)))
    assert [float(one.value) for one in found] == [0.0, 1 / 3, 2 / 3, 12345678.0]
    assert [one.name for one in found][1:3] == ["0.333333", "0.666667"]
    near = choices(Task(kind, grades=(0.0, 1.0000001, 1.0000002)))
    assert [one.name for one in near] == ["0", "1.0000001", "1.0000002"]


def test_grades_have_keys_that_say_them():
    found = choices(Task("outcomes", grades=(-1.0, 0.0, 0.5, 1.0)))
    assert [(one.value, one.key) for one in found] == [("-1", "a"), ("0", "0"), ("0.5", "b"), ("1", "1")]


def test_fields_are_those_of_the_longest_name_that_they_begin_with():
    fields = {"gpt-4.answer": "FIVE", "gpt-4.1.answer": "FOUR", "question": "2 + 2?"}
    for systems in (["gpt-4", "gpt-4.1"], ["gpt-4.1", "gpt-4"]):
        own, parts = system_parts(fields, systems)
        assert own == {"question": "2 + 2?"}
        assert parts == {"gpt-4": {"answer": "FIVE"}, "gpt-4.1": {"answer": "FOUR"}}
