"""The plot of a history of checks."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from matplotlib import pyplot

from defragtrees import plots
from defragtrees.monitoring import Check, Finding, History, Record

LONG = "annual household income before taxes and all other deductions"


def make_history(n_checks, label="week {}", about="_income $", start=2, n_measures=3):
    """Checks of which those from `start` on find drift, more and more."""
    records = []
    for k in range(n_checks):
        findings = [
            Finding(
                "column",
                f"{about} {j}",
                0.5,
                0.5 + 0.01 * max(k - start + 1, 0),
                "50.0% <= 1,250,000",
                f"{50 + k}% <= 1,250,000",
                0.5,
                column=about,
                is_moved=k >= start + j,
            )
            for j in range(n_measures)
        ]
        check = Check((*findings, Finding("error", "all rules", 0.2, 0.2, "", "", 1.0)),
                      1000, 500)  # fmt: skip
        when = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(weeks=k)
        records.append(Record(check, when, label.format(k + 1)))
    return History(tuple(records), "checks.jsonl")


def lines_of(ax):
    """The x and height of the points of each line with more than two, in order."""
    return [line.get_xydata() for line in ax.get_lines() if len(line.get_xdata()) > 2]


def test_every_measure_that_drifted_has_a_line_and_its_drift_dots():
    ax = plots.history(make_history(6))
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert [text.splitlines()[0] for text in labels] == [
        rf"_income \$ {j}: distribution" for j in range(3)
    ]
    # Since when: the first check of the last run of drift.
    assert labels[1].splitlines()[1].startswith("week 4: 53% <= 1,250,000, was")
    first, dots = lines_of(ax)[:2]
    assert first[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
    assert dots[:, 0].tolist() == [2, 3, 4, 5]
    # Higher values are higher in the picture, whose axis points down.
    assert ax.yaxis_inverted()
    assert (np.diff(first[1:, 1]) < 0).all()
    middle = ax.get_yticks()[0]
    assert first[:2, 1].tolist() == [middle, middle]
    assert [text.get_text() for text in ax.get_xticklabels()][::-1] == [
        f"week {k}" for k in range(1, 7)
    ]
    [drift, training] = [text.get_text() for text in ax.get_legend().get_texts()]
    assert (drift, training) == ("drift (adjusted p <= 0.05)", "training rows")


def test_a_false_alarm_is_not_the_beginning():
    history = make_history(6, n_measures=1, start=3)
    early, *rest = history.records
    [finding, other] = early.check.findings
    alarm = Finding(**{**vars(finding), "is_moved": True, "now_text": "early"})
    check = Check((alarm, other), 1000, 500)
    records = (Record(check, early.time, "week 1"), *rest)
    ax = plots.history(History(records, "checks.jsonl"))
    assert "week 4:" in ax.get_yticklabels()[0].get_text()


def test_without_drift_there_is_a_sentence():
    ax = plots.history(make_history(3, start=9))
    assert "no drift in 3 checks" in [text.get_text() for text in ax.texts]
    assert len(ax.get_yticks()) == 0
    ax = plots.history(make_history(1, start=9))
    assert [text.get_text() for text in ax.texts] == ["no drift in 1 check"]


def test_only_the_first_measures_are_shown():
    ax = plots.history(make_history(30, n_measures=20))
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert len(labels) == 13
    assert labels[-1] == "and 8 more"


def with_findings(history, change):
    """A history whose k-th check has its first finding changed by `change(k)`."""
    records = []
    for k, record in enumerate(history):
        first, *others = record.check.findings
        check = Check((replace(first, **change(k)), *others), 1000, 500)
        records.append(replace(record, check=check))
    return History(tuple(records), "checks.jsonl")


def test_drift_that_some_checks_miss_began_when_most_found_it():
    found = [1, 4, 6, 7, 9, 10]  # of 12 checks, from 0; the first is a false alarm
    history = with_findings(
        make_history(12, n_measures=1),
        lambda k: {"is_moved": k in found, "now_text": f"now {k}"},
    )
    text = plots.history(history).get_yticklabels()[0].get_text()
    assert text.splitlines()[1].startswith("week 5: now 4, was")


def test_a_distribution_is_drawn_by_how_far_it_moved():
    def change(k):  # the share of one category rises, that of another falls
        return {"now": 0.5 + 0.1 * (-1) ** k, "is_moved": True}

    history = with_findings(make_history(4, n_measures=1), change)
    line = lines_of(plots.history(history))[0]
    assert len(set(line[:, 1].round(9))) == 1

    def rate(k):
        return {**change(k), "kind": "rate"}

    line = lines_of(plots.history(with_findings(history, rate)))[0]
    assert len(set(line[:, 1].round(9))) == 2


@pytest.mark.parametrize("n_checks", [1, 4, 12, 60])
@pytest.mark.parametrize("label", ["week {}", "loan_applications_2026_week_{}.parquet"])
def test_texts_have_room(n_checks, label, monkeypatch):
    from .test_room import check_room

    history = make_history(n_checks, label, LONG, start=0, n_measures=2)
    figure = plots.history(history).figure
    check_room(figure, monkeypatch)
    pyplot.close(figure)
