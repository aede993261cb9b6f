"""Labels of CSV files are what was written; what spreadsheets make of them is passed over, the rest refused."""

import csv
import gzip
import os

import pytest

from sondage import read_pool
from sondage.adapters.text_files import escaped, parse_json, read_label_rows
from sondage.errors import InputError, LabelError


def read_labels(path):
    """Return the ids and the labels of a file."""
    rows = [row for _, row in read_label_rows(path, ["id", "label"], ["label"])]
    return [row["id"] for row in rows], [row["label"] for row in rows]


def test_labels_are_text_and_empty_ones_skips(written):
    path = written("text;label;id\nx;spam;a\ny;;b\n'=1;  ham ;'=c\n")
    assert read_labels(path) == (["a", "b", "=c"], ["spam", None, "ham"])


def test_what_spreadsheets_leave_around_labels_is_passed_over(written):
    path = written("\r\nid;label;text\r\na;spam;x\r\n;;\r\n\r\nb;;y\r\n;;\r\n ;;\r\n")
    assert read_labels(path) == (["a", "b"], ["spam", None])
    with pytest.raises(InputError, match="line 4 has more or fewer"):
        read_labels(written("\nid,label\n\n1\n"))


def test_a_line_by_which_excel_knows_what_divides_cells_is_passed_over(written):
    rows = read_label_rows(written("\ufeffsep=;\r\nid;label\r\n1;spam\r\n;\r\n"), ["id"], ["label"])
    assert rows == [(3, {"id": "1", "label": "spam"})]


def test_compressed_files_are_read_or_refused(tmp_path):
    path, rows = tmp_path / "a.csv.gz", b"".join(b"%d,1,0.5\n" % n for n in range(9999))
    whole = gzip.compress(b"id,label,p_1\n" + rows)
    path.write_bytes(whole)
    assert len(read_labels(path)[0]) == len(read_pool(path)) == 9999
    for broken in (whole[:12], whole[:-900], whole[:20] + b"\0" * 20 + whole[40:], b"id,label,p_1\n1,1,.5\n"):
        path.write_bytes(broken)
        for read in (read_labels, read_pool):
            with pytest.raises(InputError, match=r"a.csv.gz: ") as caught:
                read(path)
            assert "\n" not in str(caught.value)


def test_pipes_are_refused_in_one_line():
    reading, writing = os.pipe()
    os.write(writing, b"id,label\na,1\n")
    os.close(writing)
    with pytest.raises(InputError, match=r"^/dev/fd/\d+: it is a pipe, .* only once: save it as a file$"):
        read_label_rows(f"/dev/fd/{reading}", ["id", "label"], ["label"])
    os.close(reading)


def test_lines_that_break_off_are_told_in_plain_words():
    with pytest.raises(LabelError, match=r"^line 1 is not JSON: Unterminated string starting at column 2$"):
        parse_json('{"', "line 1")


def test_cells_may_be_long(written):
    limit, text = csv.field_size_limit(), "x" * 200_000
    assert read_labels(written(f"id,{text},label\n1,{text},spam\n")) == (["1"], ["spam"])
    assert read_pool(written(f"id,{text},p_1\n1,{text},0.5\n")).fields[text].tolist() == [text]
    assert csv.field_size_limit() == limit


def test_labels_of_systems_have_a_column_each(written):
    rows = read_label_rows(written("id,a.label,b.label\n1,0,1\n2,,\n"), ["id", "a.label"], ["a.label", "b.label"])
    assert rows == [
        (2, {"id": "1", "a.label": "0", "b.label": "1"}),
        (3, {"id": "2", "a.label": None, "b.label": None}),
    ]


@pytest.mark.parametrize("cell", ["=1+1", "+1+1", "-1+1", "@sum", "'=x", "\tx", "-5", "+5.5e3", "plain", "'quoted'", 7])
def test_escaped_cells_come_back(cell, written):
    begins = str(escaped(cell))[0]
    assert begins not in "=@\t"
    assert begins not in "+-" or cell in ("-5", "+5.5e3")
    assert read_labels(written(f'id,label\n"{escaped(cell)}",\n'))[0] == [str(cell)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,labels\n1,0\n", r"no column 'label'; there are \['id', 'labels'\]"),
        ("id, Label\n1,0\n", r"no column 'label'; there are \['id', ' Label'\]: write 'label' for ' Label'"),
        ("id,label\n1,0,0\n", "line 2 has more or fewer cells than the header"),
        ("id,label\n1,0\n2\n", "line 3 has more or fewer"),
        ("id,label\n,0\n", "line 2 has no id"),
        ('id,label\n1,0\n2,"0\n3,1\n', "line 3: its quotation marks do not fit"),
        ("", "the file is empty"),
    ],
)
def test_label_files_that_cannot_be_read(text, message, written):
    with pytest.raises(InputError, match=f"file.csv: {message}"):
        read_labels(written(text))


def test_label_files_that_are_not_there_or_not_text(tmp_path):
    with pytest.raises(InputError, match=r"none.csv: No such file or directory$"):
        read_labels(tmp_path / "none.csv")
    (tmp_path / "labels.csv").write_bytes(b"id,label\n\xff\xfe,1\n")
    with pytest.raises(InputError, match=r"labels\.csv: the file is not UTF-8: it has a byte 0xff"):
        read_labels(tmp_path / "labels.csv")
