"""Rules as data frames, CSV, workbooks, and a text that says how to read them."""

import csv
import io
import math

import pytest

from defragtrees import Condition, Rule, RuleList, Scorecard
from defragtrees.export import export

openpyxl = pytest.importorskip("openpyxl", reason="workbooks are read by openpyxl")


def loans(**more):
    rich = Rule((Condition(0, lower=40.0),), "good", (0.1, 0.9), n_rows=40.0,
                rates=(0.1, 0.9), share=0.4, coverage=0.4)  # fmt: skip
    south = Rule((Condition(1, categories=(1,)),), "bad", (0.7, 0.3))
    return RuleList((rich, south), Rule((), "good", (0.4, 0.6)), ("=income", "city"),
                   "classification", ("bad", "good"), (None, ("Oslo", "Rome")),
                   **more)  # fmt: skip


def card():
    warm = Rule((Condition(0, lower=20.0),), 5.0, points=(3.0,))
    base = Rule((), 2.0, points=(2.0,))
    return Scorecard((warm,), base, ("degrees",), "regression")


def test_a_frame_has_a_row_for_each_rule():
    frame = loans().to_frame()
    assert frame.index.tolist() == [1, 2, 3]
    assert frame["if"].tolist() == ["=income > 40", "city is Rome", "otherwise"]
    assert frame["then"].tolist() == ["good", "bad", "good"]
    assert frame["rate good"].iloc[0] == 0.9
    assert frame["rate good from"].iloc[0] == pytest.approx(0.769, abs=0.001)
    assert math.isnan(frame["rate good"].iloc[1])
    assert frame["probability bad"].tolist() == [0.1, 0.7, 0.4]
    assert "model good" not in frame
    assert card().to_frame()["points"].tolist() == [3.0, 2.0]
    assert card().to_frame()["if"].tolist() == ["degrees > 20", "base"]


def test_csv_reads_back_and_no_spreadsheet_obeys_it():
    rows = list(csv.DictReader(io.StringIO(export(loans(), "csv"))))
    assert rows[0]["if"] == "'=income > 40"
    assert float(rows[0]["rate good"]) == 0.9
    assert rows[1]["rate good"] == ""
    exact = list(csv.DictReader(io.StringIO(export(loans(), "csv", exact=True))))
    assert exact[0]["if"] == "=income > 40"


def test_a_workbook_has_values_and_no_formulas(tmp_path):
    path = tmp_path / "rules.xlsx"
    loans().export("excel", path)
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["rules", "how to read"]
    sheet = book["rules"]
    assert sheet["B2"].value == "=income > 40"
    assert sheet["B2"].data_type == "s"
    header = [cell.value for cell in sheet[1]]
    place = header.index("rate good")
    assert sheet[2][place].value == 0.9
    assert sheet[2][place].number_format == "0.0%"
    assert "in order" in book["how to read"]["A1"].value
