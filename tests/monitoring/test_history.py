"""A history of checks: one line per check, read back as it was, never damaged."""

import concurrent.futures
import dataclasses
import errno
import functools
import json
import multiprocessing
import os
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from defragtrees.errors import HistoryFileError
from defragtrees.monitoring import Check, Finding, History, Record, read_history
from defragtrees.monitoring import history as module
from tests.monitoring.test_check import fitted, rows, shifted

START = datetime(2026, 1, 5, 6, 30, tzinfo=UTC)


@functools.cache
def checks():
    """A check without drift and one with drift, by a real model."""
    rules, model = fitted()
    X, y = rows(1000, np.random.default_rng(3))
    moved = shifted(X, y, None)[0]
    return [rules.check(part, y, model=model) for part in (X, moved)]


def saved(path, *which, label="week {}"):
    """The history of a file with these checks, one a week."""
    for k, check in enumerate(which):
        when = START + timedelta(weeks=k)
        record = Record(check, when, label.format(k + 1), "rules.json", "new.csv")
        history = read_history(path, missing_ok=True).append(record)
    return history


def test_checks_come_back_as_they_were(tmp_path):
    path = tmp_path / "checks.jsonl"
    still, moved = checks()
    written = saved(path, still, moved)
    history = read_history(path)
    assert len(path.read_bytes().splitlines()) == len(history) == len(written) == 2
    for record, check in zip(history, (still, moved), strict=True):
        assert record.check.findings == check.findings
        assert record.check.predictions == check.predictions
        assert str(record.check) == str(check)
        assert record.check.to_dict() == check.to_dict()
    assert [record.time for record in history] == [START, START + timedelta(weeks=1)]
    assert (history[1].name, history[1].rules, history[1].data) == (
        "week 2", "rules.json", "new.csv",
    )  # fmt: skip
    line = json.loads(path.read_text("utf-8").splitlines()[1])
    assert line["time"] == "2026-01-12T06:30:00Z"
    assert line["level"] == 0.05
    income = next(one for one in line["findings"] if one["moved"] and one["column"])
    assert income["column"] == "income"
    assert isinstance(income["then"], float)
    assert income["now"] < income["then"]
    assert f"{100 * income['now']:.1f}%" in income["now_text"]


def test_a_check_appends_itself(tmp_path):
    path = tmp_path / "checks.jsonl"
    before = datetime.now(UTC).replace(microsecond=0)
    checks()[1].append_to(path, label="May", rules="a", data="b")
    history = checks()[0].append_to(path)
    assert [record.check.has_moved for record in history] == [True, False]
    assert history[0].name == "May"
    assert before <= read_history(path)[1].time <= datetime.now(UTC)
    assert history[1].name == f"{history[1].time:%Y-%m-%d}"


def test_what_drifted_and_since_when(tmp_path):
    still, moved = checks()
    history = saved(tmp_path / "a.jsonl", still, moved, still, moved, moved)
    assert history.since.name == "week 4"
    measures = history.moved
    assert set(measures) == {(one.kind, one.about) for one in moved.moved}
    found = measures["column", "income"]
    assert [one.is_moved for one in found] == [False, True, False, True, True]
    assert saved(tmp_path / "b.jsonl", moved, still).since is None
    text = str(history)
    assert text.splitlines()[1].split() == ["week", "1", "1,000", "no"]
    assert "income: distribution" in text
    assert max(map(len, text.splitlines())) <= 80
    # A column that a later check no longer tests.
    fewer = dataclasses.replace(
        still, findings=tuple(f for f in still.findings if f.column != "income")
    )
    measures = saved(tmp_path / "c.jsonl", moved, fewer).moved
    assert measures["column", "income"][1] is None


def test_checks_are_in_order_of_time(tmp_path):
    path = tmp_path / "checks.jsonl"
    for week in (2, 0, 1):
        record = Record(checks()[0], START + timedelta(weeks=week), f"week {week}")
        history = read_history(path, missing_ok=True).append(record)
    for found in (history, read_history(path)):
        assert [record.label for record in found] == ["week 0", "week 1", "week 2"]


def line(**changes):
    """A line of a history with other fields; None removes one."""
    data = Record(checks()[1], START).to_dict() | changes
    return json.dumps({k: v for k, v in data.items() if v is not None}) + "\n"


WRONG = {
    "csv": (b"a,b\n1,2\n", "line 1 is not JSON"),
    "csv without end": (b"a,b", "line 1 is not JSON"),
    "rules": (
        lambda: json.dumps(fitted()[0].to_dict(), indent=1).encode(),
        "line 1 is not JSON",
    ),
    "rules in one line": (
        lambda: json.dumps(fitted()[0].to_dict()).encode(),
        "line 1 is no check: the format must be 'defragtrees-check-1'",
    ),
    "other JSON": (b'{"a": 1}\n', "'defragtrees-check-1'; got None"),
    "a list": (b"[1, 2]\n", "'defragtrees-check-1'; got [1, 2]"),
    "a number": (b"17\n", "'defragtrees-check-1'; got 17"),
    "binary": (b"\x89PNG\r\n\x1a\n\x00\x00", "line 1 is not UTF-8 text"),
    "zeros": (bytes(4096), "line 1 is not JSON"),
    "cut off": (lambda: (2 * line())[:-40].encode(), "line 2 is cut off"),
    "cut off early": (lambda: line().encode() + b'{"for', "line 2 is not JSON"),
    "deep": (b"[" * 100_000 + b"\n", "line 1 is not JSON"),
    "another version": (
        lambda: line(format="defragtrees-check-9").encode(),
        "'defragtrees-check-1'; got 'defragtrees-check-9'",
    ),
    "no time": (lambda: line(time=None).encode(), "has no 'time'"),
    "local time": (lambda: line(time="2026-01-05T06:30:00").encode(), "have a zone"),
    "no findings": (lambda: line(findings=None).encode(), "has no 'findings'"),
    "more": (lambda: line(colour="red").encode(), "has 'colour', which"),
    "not finite": (
        lambda: line().replace('"n_now": 1000', '"n_now": NaN').encode(),
        "n_now must be",
    ),
    "half a finding": (
        lambda: line(findings=[{"kind": "rate"}]).encode(),
        r"findings[0] has no 'about'",
    ),
    "half a prediction": (
        lambda: line(predictions=[{"prediction": "good"}]).encode(),
        r"predictions[0] has no 'then'",
    ),
    "text for a number": (
        lambda: line(level="high").encode(),
        "level must be a number; got 'high'",
    ),
    "in the middle": (
        lambda: (line() + "week,rows\n" + line()).encode(),
        "line 2 is not JSON",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_no_history_is_left_as_it_is(name, tmp_path):
    content, why = WRONG[name]
    content = content if isinstance(content, bytes) else content()
    path = tmp_path / "checks.jsonl"
    path.write_bytes(content)
    for read in (read_history, checks()[0].append_to):
        with pytest.raises(HistoryFileError) as caught:
            read(path)
        message = str(caught.value)
        assert message.startswith(f"{str(path)!r} is not a history of checks (")
        assert why in message
        assert len(message) < 600
        assert "\n" not in message
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["checks.jsonl"]


def test_empty_files_and_missing_ends_are_no_harm(tmp_path):
    path = tmp_path / "checks.jsonl"
    path.write_bytes(b"")
    assert len(read_history(path)) == 0
    saved(path, checks()[0])
    # As some editors leave it, with an empty line before.
    path.write_bytes(b"\r\n" + path.read_bytes().rstrip(b"\n"))
    saved(path, checks()[1])
    assert [record.check.has_moved for record in read_history(path)] == [False, True]
    with pytest.raises(FileNotFoundError):
        read_history(tmp_path / "none.jsonl")
    with pytest.raises(HistoryFileError, match="no regular file"):
        read_history(tmp_path)
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    assert len(saved(link, checks()[0])) == 3
    assert link.is_symlink()


def append_many(path, k):
    check = Check(checks_plain(k), 100, 50)
    for i in range(20):
        check.append_to(path, label=f"{k}-{i}")


def checks_plain(k):
    finding = Finding("coverage", "rule 1", 0.5, 0.9, "x" * 5000, "90.0%", 0.001)
    return (finding,) * (k + 1)


def test_checks_at_the_same_time_do_not_mix_their_lines(tmp_path):
    path = tmp_path / "checks.jsonl"
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, context) as pool:
        list(pool.map(append_many, [path] * 2, range(2)))
    labels = [record.label for record in read_history(path)]
    assert sorted(labels) == sorted(f"{k}-{i}" for k in range(2) for i in range(20))


def test_a_line_that_does_not_fit_is_not_written_in_part(tmp_path, monkeypatch):
    path = tmp_path / "checks.jsonl"
    saved(path, checks()[0])
    before = path.read_bytes()
    write = os.write
    monkeypatch.setattr(module.os, "write", lambda file, data: write(file, data[:100]))
    with pytest.raises(OSError, match="No space left") as caught:
        checks()[1].append_to(path)
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == before


def test_a_history_without_checks_has_nothing_to_show():
    pytest.importorskip("matplotlib")
    empty = History((), "checks.jsonl")
    assert (empty.since, empty.moved, len(empty)) == (None, {}, 0)
    assert str(empty) == "check  rows  drift"
    with pytest.raises(ValueError, match="A history without checks"):
        empty.plot()
