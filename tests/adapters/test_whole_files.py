"""A file is written as a whole, beside nothing else's name, with the rights that any new file has."""

import os

import pytest

from sondage.adapters.whole_files import whole_file


def test_what_has_the_name_and_part_is_left_alone(tmp_path):
    own = tmp_path / "out.csv.part"
    own.write_text("mine")
    with whole_file(tmp_path / "out.csv") as place:
        place.write_text("new")
    assert (own.read_text(), (tmp_path / "out.csv").read_text()) == ("mine", "new")
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "out.csv.part"]


def test_of_two_writers_the_last_one_has_written_all(tmp_path):
    with whole_file(tmp_path / "out.csv") as first, whole_file(tmp_path / "out.csv") as second:
        first.write_text("first")
        second.write_text("second")
    assert (tmp_path / "out.csv").read_text() == "first"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_nothing_is_left_of_what_failed(tmp_path):
    def interrupted():
        with whole_file(tmp_path / "out.csv") as place:
            place.write_text("half")
            raise KeyboardInterrupt

    (tmp_path / "out.csv").write_text("old")
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        interrupted()
    assert (tmp_path / "out.csv").read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_rights_are_those_of_any_new_file(mask, tmp_path):
    before = os.umask(mask)
    try:
        with whole_file(tmp_path / "out.csv") as place:
            place.write_text("new")
    finally:
        os.umask(before)
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o666 & ~mask
