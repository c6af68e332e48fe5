"""Rows of CSV files are read as they are, or refused; nothing is cut off or added."""

import pytest

from defragtrees import Condition, Rule, RuleList
from tests.cli.test_errors import HEADER, written

NOTE = '1,2,3,"4\n\n",0\n'  # one row in three lines


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.json"
    small = Rule((Condition(0, upper=0.5),), 0)
    names = ("sepal length",)
    RuleList((small,), Rule((), 1), names, "classification", (0, 1)).save(path)
    return path


@pytest.mark.parametrize(
    ("rows", "line", "n_fields"),
    [
        ("1,2,3,4,0\n" * 3 + '1,2,3,"4,0\n', 5, 4),
        ("1,2,3,4,0,7,8,9\n", 2, 8),
        ("1,2,3,4,0\n" * 70_000 + "1,2,3,4,0,\n", 70_002, 6),
        (NOTE + '\n1,2,3,4,"0",7\n', 6, 6),
        (NOTE + "1,2,3,4,0\n1,2,3\n", 6, 3),
        # Quotes in the middle of a field are letters, and hide no comma.
        ('1,2,3,4" x,5" x,0\n', 2, 6),
        ('1,2,3,"4"",",5,"0"\n', 2, 6),
    ],
)
def test_a_line_of_another_length(refused, rules, tmp_path, rows, line, n_fields):
    # Also a column that is not asked for may have slipped.
    data = written(tmp_path, HEADER + rows)
    assert refused("predict", rules, data, "--out", tmp_path / "answers.csv") == (
        f"defragtrees: 'data.csv' cannot be read as CSV: line {line} has {n_fields} "
        "fields, but there are 5 column names."
    )
    assert not (tmp_path / "answers.csv").exists()


def test_lines_that_only_look_longer(call, rules, tmp_path):
    long = "x," * 100_000
    rows = (
        f'1,2,3,4,"{long}"\r\n\n  \n{NOTE}1,2,3,5" x,0\n"1","2","3","4",""""\n1,2,3,,'
    )
    data = written(tmp_path, HEADER + rows)
    done = call("predict", rules, data, "--id", "petal width")
    assert done.code == 0, done.err
    expected = 'petal width,prediction,rule\n4,1,2\n"4\n\n",1,2\n"5"" x",1,2\n'
    assert done.out == expected + "4,1,2\n,1,2\n"


def test_intervals_are_columns(call, refused, rules, tmp_path):
    data = written(tmp_path, HEADER + "1,2,3,4,0\n")
    line = refused("predict", rules, data, "--interval", "0.9")
    assert "The interval of a rate is the one of 0.95" in line
    done = call("predict", rules, data, "--interval", "0.95")
    assert done.out.splitlines()[0] == "prediction,rule,low,high"


@pytest.mark.parametrize("name", ["[a]", "{a}", "[a b"])
def test_a_column_may_begin_with_a_bracket(call, tmp_path, name):
    path = tmp_path / "rules.json"
    small = Rule((Condition(0, upper=0.5),), 0)
    RuleList((small,), Rule((), 1), (name,), "classification", (0, 1)).save(path)
    data = written(tmp_path, f"{name},b\n1,2\n")
    done = call("predict", path, data)
    assert (done.code, done.out) == (0, "prediction,rule\n1,2\n")


@pytest.mark.parametrize("text", ['{"a": 1}', "[1, 2]", '["a"]', "[[1]]", "{}", "[]"])
def test_json_is_no_table(refused, rules, tmp_path, text):
    assert "is no table" in refused("predict", rules, written(tmp_path, text))
