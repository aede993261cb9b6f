"""Bad input is refused with one line that names value, place and what is allowed: the list of DESIGN section 7."""

import re
import uuid
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest
import scipy.sparse

import sondage
from sondage import Classifier, Outcome, Pool, Ranking, Regressor, Study, read_pool
from sondage.core.measures import Loss
from sondage.errors import InputError, LabelError, MeasureError, SondageError, SondageWarning

FILES = {
    "outside": ("id,p_1\na,0.5\nb,1.5\n", "p_1 of row 1 (id b) is 1.5; it must be in [0, 1]"),
    "negative": ("id,p_x,p_y\na,-0.5,1.5\n", "p_x of row 0 (id a) is -0.5; it must be in [0, 1]"),
    "sum": ("id,p_x,p_y\na,.5,.5\nb,.5,.4\n", "row 1 (id b) sum to 0.9; they must sum to 1"),
    "nan": ("id,p_1\na,nan\n", "p_1 of row 0 (id a) is nan; it must be in [0, 1]"),
    "text": ("id,p_1\na,0.5\nb,high\n", "p_1 of row 1 (id b) is 'high'; it must be a number"),
    "spelled": ("id,p_1,cost\na,0.5,2\nb,0.5,1_000\n", "cost of row 1 (id b) is '1_000'; it must be a number"),
    "comma": ("id;p_1\na;0,5\nb;0,25\n", "p_1 of row 0 (id a) is '0,5'; it must be a number: write 0.5"),
    "predictions with commas": (
        "id;prediction\na;2\nb;1,5\n",
        "prediction of row 1 (id b) is '1,5': write 1.5, or say that the task is 'classification'",
    ),
    "large id": ("ID,p_1\na,.5\n", "no column 'id'; there are ['ID', 'p_1']: write 'id' for 'ID'"),
    "large output": ("id,P_x\na,.5\n", "there are ['id', 'P_x']: 'P_x' must be written in small letters, but for the"),
    "large judge": ("id,a.Judge\na,.5\n", "there are ['id', 'a.Judge']: 'a.Judge' must be written in small letters"),
    "a judge of no system": ("id,judge\na,.5\n", "['id', 'judge']: 'judge' is called '<model>.judge', if it judges"),
    "a judge's grade": (
        "id,bot_judge\na,4\n",
        "'bot_judge' is called '<model>.judge', if it judges a system's answers",
    ),
    "a grade that is named": (
        "id,a.judge\nx,.5\ny,4\n",
        "a.judge of row 1 (id y) is 4.0; it must be in [0, 1], or a judge of grades has 'a.judge.p_<grade>' for each",
    ),
    "blank before": ("id, p_X, text\na,.5,b\n", "there are ['id', ' p_X', ' text']: write 'p_X' for ' p_X'"),
    "missing": ("id,p_1\na,0.5\nb,\n", "p_1 of row 1 (id b) is missing; every row needs one"),
    "no prediction": ("id,prediction\na,\nb,x\n", "prediction of row 0 (id a) is missing"),
    "duplicate": ("id,p_1\na,.5\na,.6\n", "id a stands in more than one row; ids must be unique"),
    "no id": ("name,p_1\na,.5\n", "no column 'id'; there are ['name', 'p_1']"),
    "no document": ("query,a.rank\nq,1\n", "rankings need columns 'query' and 'document', and no features; there are"),
    "blank id": ('id,p_1\n"  ",.5\n', "the id of row 0 is '  '; it must be more than spaces"),
    "empty id": ("id,p_1\n,.5\n", "id of row 0 is missing"),
    "no output": ("id,text\na,b\n", "no column 'prediction', 'p_<class>' or '<model>.judge'; there are ['id', 'text']"),
    "unknown class": ("id,p_x,p_y,prediction\na,.5,.5,z\n", "is 'z'; classes are ['x', 'y']"),
    "third class": ("id,p_x,prediction\na,.5,y\nb,.5,z\n", "'p_x' alone is enough for two classes only"),
    "one grade": (
        "id,a.judge.p_1\nx,.5\n",
        "['a.judge.p_1']: a system has 'a.judge', or 'a.judge.p_<grade>' for each of two or more grades",
    ),
    "a system's own probabilities": (
        "id,a.judge,a.p_0,a.p_1\nx,.5,.4,.6\n",
        "['a.judge', 'a.p_0', 'a.p_1']: a system has 'a.judge', or",
    ),
    "the same twice": (
        "id,a.p_0,a.judge.p_0,a.p_1,a.judge.p_1\nx,.4,.5,.6,.5\n",
        "columns 'a.p_0' and 'a.judge.p_0' say the same of one model: drop one",
    ),
    "a judge of all": (
        "id,a.judge,judge.new.p_1\nx,.5,.4\n",
        "column 'judge.new.p_1': each system has its own judge, '<model>.judge'; give others as 'feature.<name>'",
    ),
    "a class less": ("id,a.p_x,a.p_y,a.p_z,b.p_x,b.p_y\na,.2,.3,.5,.5,.5\n", "no column 'p_z'; there are"),
    "another class": ("id,a.p_x,a.p_y,b.p_x,b.p_z\na,.5,.5,.5,.5\n", "'b.p_z' is of no class; classes are ['x', 'y']"),
    "half named": ("id,p_x,b.p_x\na,.5,.5\n", "columns 'p_x' and those of model 'b': all models need a name"),
    "zero cost": ("id,p_1,cost\na,.5,1\nb,.5,0\n", "cost of row 1 (id b) is 0.0; it must be positive"),
    "negative weight": ("id,p_1,weight\na,.5,-1\n", "weight of row 0 (id a) is -1.0; it must be positive"),
    "infinite": ("id,prediction,variance\na,inf,1\n", "prediction of row 0 (id a) is"),
    "negative variance": (
        "id,prediction,variance\na,1,-1\n",
        "variance of row 0 (id a) is -1.0; it must be finite, not",
    ),
    "variance only": ("id,variance\na,1\n", "model 'model' of a regression needs a column 'prediction'"),
    "grade": ("id,a.judge.p_good,a.judge.p_bad\na,.5,.5\n", "the grade 'good' must be a number"),
    "empty pool": ("id,p_1\n", "the pool is empty: it has no rows"),
    "empty file": ("", "the file is empty: it has no header"),
    "case": ("id,p_A,p_a\na,.5,.5\n", "columns 'p_A' and 'p_a' differ in upper and lower case only: rename one, or"),
    "empty columns": (
        "id;p_1;;\na;.5;;\n",
        "the header has empty cells behind its last column, 'p_1': delete the columns that follow it",
    ),
    "twice": ("id,p_1,p_1\na,.5,.5\n", "column 'p_1' stands twice or has no name"),
    "row numbers": (
        ",id,p_1\n0,a,.5\n",
        "['', 'id', 'p_1']; of pandas, to_csv(index=False) leaves out the row numbers",
    ),
    "ragged": ("id,p_1\na,.5\nb,.5,.5\n", "Line: 3"),
    "empty class": ("id,p_,p_x\na,.5,.5\n", "class '' has no name; an empty label is a skip: name it, as in 'none'"),
    "blank class": ('id,"p_ ",p_x\na,.5,.5\n', "class ' ' has no name; an empty label is a skip"),
    "like classes": ('id,"p_x ",p_x\na,.5,.5\n', "classes 'x ' and 'x' must differ in more than white space"),
    "open quote": ('id,p_1,text\na,.5,"x\nb,.5,y\n', "Line: 2"),
}


@pytest.mark.parametrize("name", FILES)
def test_files(name, tmp_path):
    text, message = FILES[name]
    path = tmp_path / "pool.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read_pool(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_line_that_is_too_long_is_not_repeated(tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text(f"id,p_1,text\na,0.5,{'x' * 3_000_000}\n")
    with pytest.raises(InputError, match="Maximum line size") as caught:
        read_pool(path)
    assert len(str(caught.value)) < 1000


def test_a_file_that_is_no_table(tmp_path):
    (tmp_path / "pool.parquet").write_text("hello")
    with pytest.raises(InputError, match=r"pool\.parquet: .*[Pp]arquet"):
        read_pool(tmp_path / "pool.parquet")
    (tmp_path / "pool.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8: it has a byte 0xff"):
        read_pool(tmp_path / "pool.csv")
    (tmp_path / "pool.xlsx").touch()
    with pytest.raises(InputError, match=r"a pool is read from \.csv, .*\.parquet"):
        read_pool(tmp_path / "pool.xlsx")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_pool(tmp_path / "none.csv")
    with pytest.raises(InputError, match=r"is a folder; name its files, as in .*\*\.parquet"):
        read_pool(tmp_path)
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "part-0.parquet").touch()
    with pytest.raises(InputError, match=r"is a folder; name its files, as in .*/\*/\*\.parquet$"):
        read_pool(tmp_path)
    (tmp_path / "a.csv").write_text("id,p_1\n1,.5\n")
    (tmp_path / "b.csv").write_text("id,p_2\n2,.5\n")
    with pytest.raises(InputError, match=r"is a folder; name its files, as in .*\*\.csv$"):
        read_pool(tmp_path)
    with pytest.raises(InputError, match=r"b.csv has other columns than .*a.csv"):
        read_pool(tmp_path / "*.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"id;p_1;x\n2;.5;y\n", r"b\.csv has ';' between cells, .*a\.csv ','"),
        (b"id,p_1,x\n2,.5\n", r"b\.csv: .*Line: 2 .*Expected Number of Columns: 3 Found: 2$"),
        (b"", r"b\.csv: the file is empty"),
        (
            b"id,p_1,x\n" + 9000 * b"2,.5,y\n" + b'2,.5,"\xe9\nz\nz\nz"\n',
            r"b\.csv: line 9002 is not UTF-8; save the file",
        ),
    ],
)
def test_of_several_files_the_one_that_is_wrong_is_named(text, message, tmp_path):
    (tmp_path / "a.csv").write_text("id,p_1,x\n1,.5,y\n")
    (tmp_path / "b.csv").write_bytes(text)
    with pytest.raises(InputError, match=message):
        read_pool(tmp_path / "*.csv")


def test_of_json_lines_it_is_said_what_makes_a_pool(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pool.jsonl").write_text('{"id": "a", "p_1": 0.5}\n{"id": "b", "p_1": 0.25}\n')
    with pytest.raises(InputError, match="; DuckDB makes one: duckdb") as caught:
        read_pool("pool.jsonl")
    eval(str(caught.value).split("makes one: ")[1], {"duckdb": duckdb})
    assert read_pool("pool.parquet").ids.tolist() == ["a", "b"]


def test_lines_end_in_one_way(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"id,p_1\n" + b"".join(b"%d,.5\r\n" % n for n in range(9)))
    with pytest.raises(InputError, match=r"a.csv: lines that end in different ways, .*; save it as CSV once more$"):
        read_pool(tmp_path / "a.csv")


def test_features_are_a_list_of_names():
    frame = pandas.DataFrame({"id": [1, 2], "p_1": [0.1, 0.9], "x": [1.0, 2.0], "y": [0.5, 0.1]})
    for names in (frame.columns[2:], frame.columns[2:].to_numpy(), ("x", "y")):
        assert read_pool(frame, features=names).items.features.shape == (2, 2)
    for odd in (None, "x", {"x"}):  # a set has no order
        with pytest.raises(InputError, match=f"features is {odd!r}; it must be a list"):
            read_pool(frame, features=odd)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", ["Weight", "cost ", "B.P_1", "Feature.x", "Judge.Prediction"])
def test_a_column_that_would_mean_something_in_small_letters_is_told(name, lazy, tmp_path):
    frame = pandas.DataFrame({"id": [1, 2], "p_1": [0.1, 0.9], name: [1.0, 2.0], "Text": ["a", "b"]})
    frame.to_parquet(tmp_path / "pool.parquet")
    with pytest.warns(SondageWarning, match=rf"column '{re.escape(name)}' is shown to labellers, and nothing else"):
        assert read_pool(tmp_path / "pool.parquet", lazy=lazy).field_names == (name, "Text")


def test_judges_alone_are_not_told_to_be_written_as_they_are():
    with pytest.raises(InputError, match=r"'<model>\.judge'; there are \['id', 'judge\.a\.p_1'\]$"):
        read_pool(pandas.DataFrame({"id": ["a"], "judge.a.p_1": [0.5]}))


@pytest.mark.parametrize("lazy", [False, True])
def test_a_further_judge_of_a_system_is_told_to_be_shown_alone(lazy, tmp_path):
    told = {"a.judge": [0.1, 0.9], "b.judge": [0.5, 0.5], "a.judge.other": [0.2, 0.8], "c.judge.d": ["x", "y"]}
    pandas.DataFrame({"id": [1, 2], **told}).to_parquet(tmp_path / "pool.parquet")
    rule = r"column 'a\.judge\.other' is shown to labellers, and counts for nothing: .* 'feature\.<name>'"
    with pytest.warns(SondageWarning, match=rule) as warned:
        assert read_pool(tmp_path / "pool.parquet", lazy=lazy).field_names == ("a.judge.other", "c.judge.d")
    assert len({str(each.message) for each in warned}) == 1


def test_a_judge_that_names_grades_is_told_the_form_of_grades():
    rule = "judge of 'a' is one column for 5 grades; give one for each grade, of its probability, or with 1 where"
    for named in ([4, 5], pandas.Series([0.0, 1.0])):
        with pytest.raises(InputError, match=rule):
            Pool(models={"a": Outcome(judge=named, grades=[1, 2, 3, 4, 5])})


def test_a_column_of_rankings_that_would_mean_something_in_small_letters_is_told():
    frame = pandas.DataFrame({"query": ["q", "q"], "document": ["d", "e"], "rank": [1, 2], "Weight": [2.0, 2.0]})
    with pytest.warns(SondageWarning, match="what counts is called 'weight'"):
        read_pool(frame, classes=[0, 1])


def test_predictions_that_have_no_order():
    frame = pandas.DataFrame({"id": [1, 2, 3], "p_spam": [0.1, 0.9, 0.5], "prediction": ["ham", "spam", True]})
    with pytest.raises(InputError, match="'p_spam' alone is enough for two classes only"):
        read_pool(frame)


def test_options_that_do_not_fit(tmp_path):
    (tmp_path / "a.csv").write_text("id,p_x\n1,.5\n")
    with pytest.raises(InputError, match="no task 'sorting'; there are classification"):
        read_pool(tmp_path / "a.csv", task="sorting")
    with pytest.raises(InputError, match=r"'p_x' is of no class; classes are \['y', 'z'\]"):
        read_pool(tmp_path / "a.csv", classes=["y", "z"])
    with pytest.raises(InputError, match="classes=2 must be two or more different names"):
        read_pool(tmp_path / "a.csv", classes=2)


def test_whole_numbers_are_not_guessed_to_be_a_thousand_classes(tmp_path):
    (tmp_path / "a.csv").write_text("id,prediction\n" + "".join(f"{n},{n}\n" for n in range(2000)))
    with pytest.raises(InputError, match="2000 whole numbers: say which task"):
        read_pool(tmp_path / "a.csv")
    assert read_pool(tmp_path / "a.csv", task="regression").task.kind == "regression"


P = [0.2, 0.5, 0.7]
ARRAYS = {
    "nothing": ({}, "a pool needs probabilities="),
    "empty": ({"probabilities": []}, "the pool is empty"),
    "shape": ({"probabilities": [[[0.5]]]}, "has shape (1, 1, 1)"),
    "a row for each class": (
        {"probabilities": [[0.5, 0.9, 0.8], [0.5, 0.1, 0.2]]},
        "probabilities of 'model' of row 0 sum to 2.2; they must sum to 1 within 0.001 over the 3 classes",
    ),
    "no class is likely": (  # as a model of scikit-learn of one class against the rest may have it
        {"probabilities": [[0.2, 0.5, 0.3], [0, 0, 0]]},
        "of row 1 sum to 0; they must sum to 1 within 0.001 over the 3 classes; where nothing is known give each 1/3",
    ),
    "generator": (
        {"probabilities": (p for p in P)},
        "probabilities of 'model' is of the type generator; it must be a list or an array",
    ),
    "generator of ids": (
        {"probabilities": [0.5, 1.5], "ids": (name for name in "ab")},
        "ids is of the type generator; it must be a list or an array",
    ),
    "sparse": (
        {"probabilities": P, "features": scipy.sparse.csr_array(np.ones((3, 2)))},
        "features is of the type csr_array; it must be a list or an array",
    ),
    "one weight": ({"probabilities": P, "weights": 2.0}, "weight is of the type float; it must be a list or an array"),
    "order of columns": (
        {"probabilities": pandas.DataFrame({"spam": [0.2], "ham": [0.8]}), "classes": ["ham", "spam"]},
        "have the columns ['spam', 'ham']; classes are ['ham', 'spam']: put both in one order",
    ),
    "order of a table's columns": (
        {"probabilities": pyarrow.table({"spam": [0.2], "ham": [0.8]}), "classes": ["ham", "spam"]},
        "have the columns ['spam', 'ham']; classes are ['ham', 'spam']: put both in one order",
    ),
    "order of columns as files have them": (
        {"probabilities": pandas.DataFrame({"p_spam": [0.2], "p_ham": [0.8]}), "classes": ["ham", "spam"]},
        "have the columns ['p_spam', 'p_ham']; classes are ['ham', 'spam']: put both in one order",
    ),
    "order of rows": (
        {"probabilities": pandas.Series(P, index=["b", "a", "c"]), "ids": ["a", "b", "c"]},
        "the index of probabilities of 'model' has the ids in another order: put its rows in that of ids=",
    ),
    "order of rows of costs": (
        {"probabilities": P, "ids": [4, 2, 7], "costs": pandas.Series([1, 2, 3], index=["2", "4", "7"])},
        "the index of costs has the ids in another order: put its rows in that of ids=",
    ),
    "rows": ({"probabilities": P, "ids": [1, 2]}, "there are 2 ids; the pool has 3 rows"),
    "cost": ({"probabilities": P, "costs": [1, 2, 0]}, "cost of row 2 is 0; it must be positive"),
    "weight": ({"probabilities": P, "weights": [1, np.nan, 1]}, "weight of row 1 is nan; it must be finite"),
    "spelled": ({"probabilities": P, "costs": ["1_0", 1, " 1 "]}, "cost of row 0 is '1_0'; it must be a number"),
    "spelled table": (
        {"probabilities": [["0.5", ".5"], ["1", "infinity"]]},
        "probabilities of 'model' of row 1 is 'infinity'; it must be a number",
    ),
    "number too large": ({"means": [1, 10**400]}, "mean of 'model' of row 1 is inf; it must be finite"),
    "missing in single precision": (
        {"means": np.array([1, -3.4028235e38], dtype=np.float32), "ids": ["x", "y"]},
        "mean of 'model' of row 1 (id y) is -3.4028234663852886e+38; it must be finite, at most 1e+35 either way",
    ),
    "variance too large": (
        {"means": [1, 2], "variances": [1e71, 1]},
        "variance of 'model' of row 0 is 1e+71; it must be at most 1e+70",
    ),
    "weight too large": (
        {"probabilities": P, "weights": [1, 1, 1e308]},
        "weight of row 2 is 1e+308; it must be 1e-100 to 1e+100",
    ),
    "cost too large": (
        {"probabilities": P, "costs": [1, 1e308, 1]},
        "cost of row 1 is 1e+308; it must be 1e-100 to 1e+100",
    ),
    "cost too small": (
        {"probabilities": P, "costs": [5e-324, 1, 1]},
        "cost of row 0 is 5e-324; it must be 1e-100 to 1e+100",
    ),
    "times": ({"means": np.array([1, 2], "m8[s]")}, "mean of 'model' must be numbers, not timedelta64[s]"),
    "ragged": (
        {"probabilities": [[0.5, 0.5], [1]]},
        "probabilities of 'model' must be one column, or rows of one length",
    ),
    "ragged ids": ({"probabilities": P, "ids": [[1], [2, 3], [4]]}, "the id must be one column, or rows of one length"),
    "id of a kind": ({"probabilities": P, "ids": [1, {}, 2]}, "the id of row 1 is {}; it must be a text or a number"),
    "ids in two types": ({"probabilities": P, "ids": [1, 1.0, "2"]}, "id 1 stands in more than one row"),
    "half a character": ({"probabilities": P, "ids": ["\ud800", "a", "b"]}, r"id '\ud800' has half a character"),
    "half a character in a class": ({"predictions": ["\ud800", "a", "b"]}, r"class '\ud800' has half a character"),
    "half a character in a model": ({"models": {"\ud800": Classifier(P)}}, r"model '\ud800' has half a character"),
    "half a character in a field": (
        {"probabilities": P, "fields": {"text": ["ä", None, "\udfff"]}, "ids": [5, 6, 7]},
        "field 'text' of row 2 (id 7) has half a character, which is no text",
    ),
    "half a character in a document": (
        {"models": {"a": Ranking([["x"], ["x", "\ud800"]])}, "classes": [0, 1], "ids": ["q", "p"]},
        "document of query 'p' has half a character",
    ),
    "half a character in a document's field": (
        {
            "models": {"a": Ranking(ranks=[1, 2])},
            "classes": [0, 1],
            "queries": ["q", "q"],
            "documents": ["x", "y"],
            "fields": {"\U0001f600": ["\U0001f600", "\ud83d"]},
        },
        "field '\U0001f600' of row 1 has half a character",
    ),
    "id": ({"probabilities": P, "ids": ["a", "b", "a"]}, "id a stands in more than one row"),
    "kinds": ({"models": {"a": Classifier(P), "b": Regressor(P)}}, "a: Classifier, b: Regressor"),
    "bare": ({"models": {"a": P, "b": P}}, "models must be all Classifier(probabilities), all Regressor(means)"),
    "lengths": ({"models": {"a": Classifier(P), "b": Classifier(P[:2])}}, "different numbers of rows"),
    "classes": ({"probabilities": P, "classes": ["a", "b", "c"]}, "3 classes ['a', 'b', 'c'] but 2 columns"),
    "outcomes": ({"models": {"a": Outcome()}}, "give ids="),
    "one grade": ({"models": {"a": Outcome(P, 2.0)}}, "grades of 'a' is of the type float; it must be a list"),
    "grade": ({"models": {"a": Outcome(P, [0, "x"])}}, "grade of 'a' of column 1 is 'x'; it must be a number"),
    "far grade": ({"models": {"a": Outcome(P, [0, 1e308])}}, "grade of 'a' of column 1 is 1e+308; it must be finite"),
    "no grades": (
        {"models": {"a": Outcome(grades=[])}, "ids": [1, 2, 3]},
        "grades of 'a' are []; an outcome has one or more that it can be",
    ),
    "unnamed": ({"models": Classifier(P)}, "models= is a Classifier: give each model a name"),
    "no group": ({"probabilities": P, "groups": [None, 0, 1]}, "group of row 0 is None; every row needs one"),
    "group nan": (
        {"probabilities": P, "groups": ["a", np.nan, "a"], "ids": ["x", "y", "z"]},
        "group of row 1 (id y) is nan; every row needs one",
    ),
    "group NA": (
        {"probabilities": P, "groups": pandas.Series([1, pandas.NA, 2], dtype=object)},
        "group of row 1 is <NA>; every row needs one",
    ),
    "prediction nan": (
        {"predictions": [1.0, np.nan, 0.0]},
        "prediction of 'model' of row 1 is nan; every row needs one",
    ),
    "prediction None": (
        {"predictions": ["a", None, "b"]},
        "prediction of 'model' of row 1 is None; every row needs one",
    ),
    "prediction beside": (
        {"predictions": ["a", "b", np.nan]},
        "prediction of 'model' of row 2 is nan; every row needs",
    ),
    "scores for classes": (
        {"predictions": [1.0, 0.25, 0.75]},
        "a prediction is 0.25, and classes are whole numbers or text: give probabilities as probabilities=",
    ),
    "no id": ({"probabilities": P, "ids": [None, 0, 1]}, "the id of row 0 is None; every row needs one"),
    "masked": (
        {"probabilities": np.ma.array(P, mask=[0, 1, 0])},
        "probabilities of 'model': row 1 is masked; every row needs a value",
    ),
    "masked table": ({"models": {"a": Regressor(np.ma.array(P, mask=[0, 0, 1]))}}, "means of 'a': row 2 is masked"),
    "number for classes": ({"probabilities": P, "classes": 2}, "classes=2 must be two or more different names"),
    "text for classes": ({"probabilities": P, "classes": "ab"}, "classes='ab' must be two or more different names"),
    "empty class": ({"probabilities": P, "classes": ["", "a"]}, "class '' has no name; an empty label is a skip"),
    "empty prediction": ({"predictions": ["", "a", "a"]}, "class '' has no name; an empty label is a skip"),
    "two kinds of predictions": (
        {"models": {"a": Classifier(predictions=[0, 1, 1]), "b": Classifier(predictions=["x", "y", "y"])}},
        "predictions are of several kinds, int, str: name the classes with classes=",
    ),
    "lists for classes": (
        {"predictions": np.array([[0], 1, 0], dtype=object), "classes": [0, 1]},
        "prediction of 'model' of row 0 is [0]; classes are [0, 1]",
    ),
    "bytes that a judge names": (
        {"probabilities": P, "judge": np.array(["1", bytearray(b"1"), "0"], dtype=object)},
        "judge 'judge' of row 1 is bytearray(b'1'); classes are [0, 1]",
    ),
    "like classes": (
        {"probabilities": P, "classes": ["a\nb", "a b"]},
        r"classes 'a\nb' and 'a b' must differ in more than white space",
    ),
    "missing class": (
        {"probabilities": P, "classes": [None, "a"]},
        "classes=[None, 'a'] must be two or more different",
    ),
    "ragged classes": ({"probabilities": P, "classes": [["a"], ["b", "c"]]}, "must be two or more different names"),
    "fields": ({"probabilities": P, "fields": [1]}, "fields= is a list: give each field a name, fields={'name': ...}"),
    "number for a name": ({"models": {1: Classifier(P)}}, "models= has the name 1; names must be text, such as '1'"),
    "no model": ({"models": {}}, "models= is empty"),
    "empty name": (
        {"models": {"a": Classifier(P), "": Classifier(P)}},
        "models= has the name ''; a name needs a letter, a digit or another sign",
    ),
    "models by position": ({"probabilities": {"a": Classifier(P)}}, "several models by name are models={...}"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name):
    options, message = ARRAYS[name]
    with pytest.raises(InputError, match=re.escape(message)):
        Pool(**options)


QUESTIONS = {
    "budget": ({"budget": 4}, "budget=4 is above what the pool can take: 3 (labels)"),
    "no budget": (
        {"budget": 0},
        "budget= is missing, or 0: give the number of labels, or their cost, that are at most spent",
    ),
    "budget below 0": ({"budget": -1}, "budget=-1 must be positive and finite: give the number of labels, or"),
    "half a label": ({"budget": 1.5}, "budget=1.5 counts labels and must be whole"),
    "measure": ({"measure": "recal"}, "no measure 'recal'; there are error_rate,"),
    "measure of scikit-learn": ({"measure": "roc_auc"}, "rbp; perhaps 'auc'"),
    "wide stop": ({"stop": 5}, "stop=5 must be below 1: error_rate is between 0 and 1"),
    "nothing for a measure": ({"measure": None}, "measure None is neither a name nor a measure; there are"),
    "class of measures": ({"measure": sondage.measures.Recall}, "Recall'> is neither a name nor a measure"),
    "costs": ({"measure": "expected_cost:costs=0/1/2"}, "costs: 3 numbers do not fill a square table"),
    "cost nan": ({"measure": "expected_cost:costs=0/nan/1/0"}, "costs[0][1] is nan; it must be finite"),
    "cost too large": (
        {"measure": "expected_cost:costs=0/1/-1e200/0"},
        "costs[1][0] is -1e+200; it must be finite, at most 1e+35 either way",
    ),
    "cost text": ({"measure": "expected_cost:costs=0/a/1/0"}, "costs='0/a/1/0' is not a number"),
    "task": ({"measure": "rmse"}, "'rmse'"),
    "positive": ({"measure": "f1:positive=9"}, "positive='9' is not a class of the pool; they are [0, 1]"),
    "parameter": ({"measure": "f_measure:gamma=2"}, "no parameter 'gamma'"),
    "parameter that is a word": ({"measure": "f1:average=macro"}, "no parameter 'average'; there are ['beta', "),
    "model": ({"model": "b"}, "no model 'b' in the pool; there are ['model']"),
    "method": ({"method": "magic"}, "no method 'magic'; there are default"),
    "belief": ({"belief": "hope"}, "no belief 'hope'; there are"),
    "text for a budget": ({"budget": "3"}, "budget='3' must be positive"),
    "nothing for a budget": ({"budget": None}, "budget=None must be positive"),
    "arrays for a method": ({"method": np.array([1, 2])}, "no method array([1, 2]); there are default"),
    "arrays for a design": ({"design": np.array([1, 2])}, "no design array([1, 2]); there are passive"),
    "arrays for a model": ({"model": np.array([1, 2])}, "no model array([1, 2]) in the pool; there are ['model']"),
    "number for a method": ({"method": 5}, "no method 5; there are default"),
    "stages": ({"stages": [np.nan, 1]}, "stages=[nan, 1] must be positive shares of the budget that sum to 1"),
    "level": ({"level": "a"}, "level='a' must be between 0 and 1"),
    "list for a width": ({"stop": [1]}, "stop=[1] must be the width of an interval, above 0"),
    "nothing to compare": (
        {"stop": "significant"},
        "stop='significant' is for comparisons; give the width of an interval",
    ),
    "seed": ({"seed": 1.5}, "seed=1.5 must be a whole number"),
    "no seed": ({"seed": None}, "seed=None must be a whole number"),
    "text for a seed": ({"seed": "a", "slices": [0, 0, 1]}, "seed='a' must be a whole number"),
    "labels": ({"labels": [0, 1]}, "labels have shape (2,); the pool has 3 items"),
    "one text": ({"labels": "011"}, "labels is of the type str; it must be a list or an array"),
    "loss that is no number": (
        {"measure": Loss(lambda prediction, label: np.where(label == 1, np.nan, 0.0))},
        "a loss function returned nan for the label 1; it must be finite",
    ),
    "loss beyond its bounds": (
        {"measure": Loss(lambda prediction, label: 10.0 * (prediction != label), bounds=(0, 1))},
        "a loss function returned 10.0 for the label 0; it must be from 0 to 1, its bounds",
    ),
    "loss beyond numbers": (
        {"measure": Loss(lambda prediction, label: 1e300 * (prediction != label))},
        "a loss function returned 1e+300 for the label 0; it must be finite, at most 1e+100 either way",
    ),
    "complex loss": (
        {"measure": Loss(lambda prediction, label: 1j * (prediction != label))},
        "a loss function returned complex numbers",
    ),
    "table of labels": (
        {"labels": [[0], [1], [1]]},
        "labels have shape (3, 1); they must be one column, or by id a mapping, or a Series whose index has the ids",
    ),
    "missing label": (
        {"labels": [0, 1, np.nan]},
        "label nan of id 2 is not a class; classes are [0, 1]: None is a skip",
    ),
    "label": ({"labels": [0, 1, 2]}, "label 2 of id 2 is not a class; classes are [0, 1]"),
    "unequal labels": ({"labels": [[0], [1, 2], [1]]}, "labels must be one column, or rows of one length"),
    "share": ({"slices": [0, 0, 1], "share": ["each"]}, "no share ['each']; there are overall, each"),
    "share of arrays": ({"share": np.array([1, 2])}, "share=array([1, 2]) divides a budget over slices"),
    "huge budget": ({"budget": 10**400}, "must be positive and finite"),
    "huge stages": ({"stages": 10**400}, "must be positive shares of the budget"),
    "huge costs": ({"measure": sondage.measures.ExpectedCost([[0, 1], [1, 0]]), "belief": [10**400, 0]}, "belief=["),
    "fraction for a level": ({"stop": 0.5, "level": Fraction(1, 2)}, "level=Fraction(1, 2) must be between 0 and 1"),
    "masked slices": ({"slices": np.ma.masked}, "slices is of the type MaskedConstant; it must be a list"),
    "slices": ({"slices": [{}, {}, {}]}, "slice of row 0 (id 0) is {}; it must be a text or a number"),
}


def test_messages_about_hundreds_of_models_name_a_few():
    pool = Pool(models={f"model {n}": Classifier([0.2, 0.9]) for n in range(300)})
    with pytest.raises(InputError, match=r"^no model 'model290' in the pool; the nearest of 300 are \['model 290', "):
        sondage.evaluate(pool, "error_rate", [0, 1], 1, model="model290")
    with pytest.raises(InputError, match=r"several models \['model 0', .*'model 19' and 280 others\]: name one with"):
        sondage.evaluate(pool, "error_rate", [0, 1], 1)


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions(name):
    options, message = QUESTIONS[name]
    with pytest.raises(InputError, match=re.escape(message)):
        sondage.evaluate(Pool(P), **({"labels": [0, 1, 1], "budget": 3} | options))


RESULTS = {
    "interval": (lambda found: found.interval("a"), "level='a' must be between 0 and 1"),
    "sequence": (lambda found: found.sequence("a"), "level='a' must be between 0 and 1"),
    "evidence": (lambda found: found.evalue(np.nan), "null=nan must be a finite number"),
    "huge null": (lambda found: found.evalue(10**400), "must be a finite number"),
    "fraction": (lambda found: found.interval(Fraction(1, 2)), "level=Fraction(1, 2) must be between 0 and 1"),
    "kind": (lambda found: found.interval(kind=["t"]), "no interval ['t']; there are auto, wald"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_what_is_asked_of_a_result(name):
    ask, message = RESULTS[name]
    with pytest.raises(InputError, match=re.escape(message)):
        ask(sondage.evaluate(Pool(P), labels=[0, 1, 1], budget=2))


STUDIES = {
    "seed": (lambda study, pool: Study.create("never.db", pool, budget=2, seed="a"), "seed='a' must be a whole number"),
    "measures": (lambda study, pool: Study.create("never.db", pool, [], 2), "there is no measure: name at least"),
    "pool": (lambda study, pool: Study.create("never.db", P, budget=2), "pool is a list, not a sondage.Pool"),
    "models": (lambda study, pool: Study.create("never.db", pool, budget=2, models=[]), "models, not []"),
    "another pool": (lambda study, pool: Study.open("study.db", P), "pool is a list, not a sondage.Pool"),
    "id": (lambda study, pool: study.tell(study.ask(1)[0], [1]), "ids is "),
    "list for an id": (lambda study, pool: study.tell([[1]], [1]), "id [1] was never asked for"),
    "list to skip": (lambda study, pool: study.skip([1], "ann"), "id [1] was never asked for"),
    "history": (lambda study, pool: study.history({}), "id {} was never asked for"),
    "half a field": (
        lambda study, pool: Study.create("never.db", Pool(P, fields={"t": [{"a": ["\ud800"]}] * 3}), budget=2),
        "field 't' of id 2 has half a character",
    ),
    "half a label": (lambda study, pool: study.tell(study.ask(1), ["\ud800"]), r"label '\ud800' of id"),
    "half an id": (lambda study, pool: study.tell(["\ud800"], [1]), r"id '\ud800' was never asked for"),
    "half a reason": (lambda study, pool: study.skip(study.ask(1)[0], "ann", "\ud800"), r"reason='\ud800' has half a"),
    "half a request": (lambda study, pool: study.undo("ann", request="\ud800"), r"request='\ud800' has half a"),
    "request": (lambda study, pool: study.undo("ann", request=uuid.UUID(int=5)), "request=UUID('00000000-0000-0000-"),
    "reason": (lambda study, pool: study.skip(study.ask(1)[0], "ann", 5), "reason=5 must be a text"),
    "list for a name": (lambda study, pool: study.tell(study.ask(1), [1], who=[[]]), "labeller [] must be a name"),
    "half a name": (lambda study, pool: study.release("\ud800"), r"labeller '\ud800' must be a name"),
    "release": (lambda study, pool: study.release("ann", 1), "ids is 1; it must be a list"),
    "fields": (lambda study, pool: study.fields("10"), "ids is '10'; it must be a list"),
    "documents": (lambda study, pool: study.documents(7), "ids is 7; it must be a list"),
    "label": (lambda study, pool: study.tell(study.ask(1), 1), "labels is 1; it must be a list"),
    "mapping": (lambda study, pool: study.tell([0, 1], {0: 1, 1: 0}), "labels is {0: 1, 1: 0}; it must be a list"),
    "who": (lambda study, pool: study.tell(study.ask(1), [1], who=5), "who is 5; it must be a list"),
    "whose": (lambda study, pool: study.replaced(study.ask(1), who=[]), "there are 1 ids and 0 names in who="),
    "generator": (lambda study, pool: study.estimate(generator=[]), "generator=[] is none of NumPy's"),
    "list for a pool": (lambda study, pool: study.extend(3, pool=[]), "pool is a list, not a sondage.Pool"),
    "a number for measures": (
        lambda study, pool: Study.open("study.db", measures=np.array(3)),
        "measures has array(3)",
    ),
    "ask": (lambda study, pool: study.ask(2.5), "n=2.5 must be a whole number from 1"),
    "claim": (lambda study, pool: study.claim("ann", None), "n=None must be a whole number from 1"),
    "extend": (lambda study, pool: study.extend("a"), "budget='a' must be a finite number"),
    "raters": (lambda study, pool: Study.create("never.db", pool, budget=2, raters="2"), "raters='2' must be a whole"),
    "budgets": (lambda study, pool: sondage.advise(pool, budgets="a"), "budget='a' must be positive"),
    "width": (lambda study, pool: sondage.advise(pool, width="a"), "width='a' must be a finite number"),
    "wide width": (
        lambda study, pool: sondage.advise(pool, "recall", width=5),
        "width=5 must be below 1: recall is between 0 and 1",
    ),
    "far width": (lambda study, pool: sondage.advise(pool, width=1e308), "width=1e+308 must be finite, at most 1e+35"),
    "power": (lambda study, pool: sondage.advise(pool, wanted_power=None), "wanted_power=None must be a finite number"),
}


@pytest.mark.parametrize("name", STUDIES)
def test_what_is_asked_of_a_study(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ask, message = STUDIES[name]
    with pytest.raises(InputError, match=re.escape(message)):
        ask(Study.create("study.db", Pool(P), budget=2), Pool(P))
    assert not (tmp_path / "never.db").exists()


TWO, TOLD = Pool(models={"a": Classifier(P), "b": Classifier(P[::-1])}), {"labels": [0, 1, 1], "budget": 3}
SEVERAL = {
    "alpha": (lambda: sondage.compare(TWO, "a", "b", alpha="a", **TOLD), "alpha='a' must be between 0 and 1"),
    "measures": (
        lambda: sondage.compare(TWO, "a", "b", ["f1", "mcc"], **TOLD),
        "measure ['f1', 'mcc'] is a list: give one measure here",
    ),
    "of many": (lambda: sondage.select(TWO, ["f1", "mcc"], **TOLD), "to select takes one measure, not 2"),
    "none": (lambda: sondage.select(TWO, models=[], **TOLD), "select needs two or more different models, not []"),
    "text": (lambda: sondage.select(TWO, models="ab", **TOLD), "models is 'ab'; it must be a list"),
    "no pool": (lambda: sondage.evaluate(None, **TOLD), "pool is a NoneType, not a sondage.Pool: make one"),
    "array": (lambda: sondage.evaluate(np.array(P), **TOLD), "pool is a ndarray, not a sondage.Pool: make one"),
    "arrays": (lambda: sondage.evaluate({"jan": P}, **TOLD), "pool is a list, not a sondage.Pool"),
    "pools": (lambda: sondage.compare({"x": TWO}, "a", "b", **TOLD), "pool is a dict, not a sondage.Pool"),
    "select": (lambda: sondage.select(P, **TOLD), "pool is a list, not a sondage.Pool"),
    "advise": (lambda: sondage.advise(P), "pool is a list, not a sondage.Pool"),
    "advised": (lambda: sondage.advise(TWO, compare=["a", "b", "a"]), "compare needs two different models, not ['a'"),
    "advised twice": (lambda: sondage.advise(TWO, model="a", compare=["a", "b"]), "model='a' is for one model"),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_pools_and_models_of_a_wrong_kind(name):
    ask, message = SEVERAL[name]
    with pytest.raises(InputError, match=re.escape(message)):
        ask()


def test_measures_of_parameters_that_cannot_be():
    with pytest.raises(MeasureError, match=r"costs=.* must be a square table of numbers"):
        sondage.measures.ExpectedCost([[0, 10**400], [1, 0]])
    with pytest.raises(MeasureError, match=r"gain=\[\] must be one of"):
        sondage.measures.DCG(gain=[])


def test_measures_that_no_label_can_define():
    with pytest.raises(InputError, match="'precision' is undefined on this pool whatever the labels"):
        sondage.evaluate(Pool([0.1, 0.2, 0.3]), "precision", labels=[0, 0, 1], budget=3)
    with pytest.raises(InputError, match="name the positive class with positive="):
        sondage.evaluate(Pool(np.full((3, 3), 1 / 3)), "f1", labels=[0, 0, 1], budget=3)


def test_labels_that_are_refused(tmp_path):
    study = Study.create(tmp_path / "study.db", Pool(P, ids=["a", "b", "c"]), budget=2)
    ids = study.ask(1)
    never = next(name for name in "abc" if name not in ids)
    cases = [
        ([never], [1], f"id '{never}' was never asked for"),
        (ids * 2, [0, 1], "has different labels here, 0 and 1"),
        (ids, ["spam"], r"label 'spam' of id .* is not a class; classes are \[0, 1\]"),
        (ids, [0, 1], "there are 1 ids and 2 labels"),
    ]
    for names, labels, message in cases:
        with pytest.raises(LabelError, match=message):
            study.tell(names, labels)
    with pytest.raises(SondageError, match="there are no labels yet"):
        study.estimate()


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("table", "names"),
    [
        ({"id": 1, "p_A": 0.5, "p_a": 0.5}, "'p_A' and 'p_a'"),
        ({"id": 1, "a.prediction": 0, "A.prediction": 1}, "'a.prediction' and 'A.prediction'"),
        ({"id": 1, "p_1": 0.5, "text": "a", "Text": "b"}, "'text' and 'Text'"),
    ],
)
def test_names_that_differ_in_case_only_are_refused(table, names, lazy, tmp_path):
    columns = pyarrow.table({name: [value] for name, value in table.items()} | {"parts": [{"id": 1, "ID": [2]}]})
    pyarrow.parquet.write_table(columns.drop_columns([*table][-1:]), tmp_path / "1.parquet")
    pyarrow.parquet.write_table(columns, tmp_path / "2.parquet")
    with pytest.raises(InputError, match=f"2.parquet: columns {names} differ in upper and lower case only: rename"):
        read_pool(str(tmp_path / "*.parquet"), lazy=lazy)
    relation = duckdb.sql("SELECT " + ", ".join(f'{value!r} AS "{name}"' for name, value in table.items()))
    with pytest.raises(InputError, match=f"^columns {names} differ in upper and lower case only: rename one"):
        read_pool(relation, lazy=lazy)
    assert len(read_pool(tmp_path / "1.parquet", lazy=lazy)) == 1
