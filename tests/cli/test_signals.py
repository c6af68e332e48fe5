"""Signals, pipes and terminals: nothing is left behind, nothing is obeyed."""

import csv
import json
import os
import signal
import sys
import time

import pytest

import defragtrees
from defragtrees import Condition, Rule, RuleList
from defragtrees.cli import _interrupts, main
from defragtrees.cli.group import run
from tests.cli.conftest import PATIENCE

ESCAPE = "\x1b]0;title\x07"
HOSTILE = f"=cmd|' /C calc'!A0{ESCAPE}\u202e"


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.json"
    small = Rule((Condition(0, upper=0.5),), HOSTILE)
    RuleList(
        (small,), Rule((), "no"), ("size",), "classification", (HOSTILE, "no")
    ).save(path)
    return path


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("size,id\n0,+49 30\n1,-5\n", encoding="utf-8")
    return path


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_sigterm_leaves_no_draft_behind(start, rules, tmp_path):
    data = tmp_path / "long.csv"
    data.write_text("size\n" + "0.25\n" * 2_000_000, encoding="utf-8")
    folder = tmp_path / "out"
    folder.mkdir()
    process = start("predict", rules, data, "--out", folder / "a.csv", stderr=-1)
    begin = time.monotonic()
    while not any(folder.iterdir()) and time.monotonic() - begin < PATIENCE:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 143
    said = process.stderr.read().decode()
    assert said == "defragtrees: Ended by a signal (SIGTERM).\n"
    assert list(folder.iterdir()) == []


def test_signals_are_as_they_were_after_the_command(rules, table):
    # A test may have called the command without the program around it.
    _interrupts.restore()
    before = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)]
    assert main(["predict", str(rules), str(table)]) == 0
    after = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)]
    assert after == before


def test_ctrl_c_is_an_error_with_an_object():
    # Python's own handler sets one without, which pandas' parser hides: every fifth
    # Ctrl-C came out as "cannot be read as CSV".
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _interrupts.exit_at_once()
        _interrupts.raise_errors()
        handler = signal.getsignal(signal.SIGINT)
        assert handler is not signal.default_int_handler
        with pytest.raises(KeyboardInterrupt):
            handler(signal.SIGINT, None)
        _interrupts.restore()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_while_a_package_is_imported(rules, table, monkeypatch, capsys):
    # Compiled packages report an interrupt during their import as an ImportError.
    def interrupted(path):
        try:
            signal.getsignal(signal.SIGINT)(signal.SIGINT, None)
        except KeyboardInterrupt as error:
            raise ImportError("initialization failed") from error

    monkeypatch.setattr("defragtrees.cli.predict.read_rules", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(["predict", str(rules), str(table)]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "defragtrees: Interrupted.\n"


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
def test_standard_output_can_be_named(command, rules, table, tmp_path):
    done = command("predict", rules, table, "--json", "--out", "/dev/stdout")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"prediction"') == 2
    assert done.stdout.endswith("The predictions are in /dev/stdout.\n")
    with open(tmp_path / "all.txt", "w") as file:
        line = ("predict", rules, table, "--json", "--out", "/dev/stdout")
        again = command(*line, capture_output=False, stdout=file, stderr=-1)
    assert (again.returncode, again.stderr) == (0, "")
    assert (tmp_path / "all.txt").read_text("utf-8") == done.stdout


def test_standard_output_needs_no_folder_to_write_to(call, rules, table, monkeypatch):
    # Only root may write to /dev; standard output may be written to by everybody.
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.R_OK)
    done = call("predict", rules, table, "--json", "--out", "/dev/stdout")
    assert (done.code, done.err) == (0, "")
    assert done.out.count('"prediction"') == 2
    assert call("predict", rules, table, "--out", table.parent / "a.csv").code == 2


def kill_oneself():
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_is_one_sentence(call, monkeypatch, rules, table):
    from joblib import Parallel, delayed

    def killed(path):
        Parallel(n_jobs=2)(delayed(kill_oneself)() for _ in range(4))

    monkeypatch.setattr("defragtrees.cli.predict.read_rules", killed)
    done = call("predict", rules, table)
    assert done.code == 2
    assert done.err == (
        "defragtrees: A worker process was ended from outside, as where memory is "
        "short. Run it again with a smaller --jobs; what is done is kept.\n"
    )


def test_cells_that_begin_like_formulas_are_guarded(call, rules, table, tmp_path):
    out = tmp_path / "answers.csv"
    call("predict", rules, table, "--id", "id", "--out", out)
    with open(out, encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [
            ["id", "prediction", "rule"],
            ["'+49 30", f"'{HOSTILE}", "1"],
            ["-5", "no", "2"],
        ]
    call("predict", rules, table, "--id", "id", "--out", out, "--exact")
    with open(out, encoding="utf-8", newline="") as file:
        assert list(csv.reader(file))[1] == ["+49 30", HOSTILE, "1"]


@pytest.mark.parametrize("label", ["x\r=cmd|' /C calc'!A0", "x;=1+1"])
def test_formulas_inside_a_label_are_guarded(call, table, tmp_path, label):
    path, out = tmp_path / "rules.json", tmp_path / "answers.csv"
    small = Rule((Condition(0, upper=0.5),), label)
    names = ("size",)
    RuleList((small,), Rule((), "no"), names, "classification", (label, "no")).save(
        path
    )
    call("predict", path, table, "--out", out)
    with open(out, encoding="utf-8", newline="") as file:
        text = file.read()
    guarded = label.replace("=", "'=")
    assert text == f'prediction,rule\n"{guarded}",1\nno,2\n'
    call("predict", path, table, "--out", out, "--exact")
    with open(out, encoding="utf-8", newline="") as file:
        assert list(csv.reader(file))[1] == [label, "1"]


@pytest.mark.parametrize("line", [("predict",), ("explain",)])
def test_a_terminal_is_told_nothing_to_obey(rules, table, monkeypatch, line, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert main([line[0], str(rules), str(table), *line[1:]]) == 0
    shown = capsys.readouterr().out
    assert "cmd" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


@pytest.mark.parametrize("form", ["sql", "csv", "json", "python", "markdown"])
def test_an_export_to_a_terminal_is_text(rules, monkeypatch, form, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["export", str(rules), "--format", form]) == 0
    shown = capsys.readouterr().out
    assert "cmd" in shown
    assert all(line.isprintable() for line in shown.split("\n"))


@pytest.mark.parametrize(
    "line", [("predict", "--json"), ("explain", "--format", "json")]
)
def test_json_shows_hidden_characters_by_number(call, rules, table, tmp_path, line):
    label = HOSTILE + "\x7f\x9b31m\u2066"
    small = Rule((Condition(0, upper=0.5),), label)
    classes = (label, "no")
    path = tmp_path / "more.json"
    RuleList((small,), Rule((), "no"), ("size",), "classification", classes).save(path)
    assert defragtrees.load(path).classes == classes
    name, *options = line
    done = call(name, path, table, *options)
    for text in (path.read_text(encoding="utf-8"), done.out):
        assert all(line.isprintable() for line in text.split("\n"))
    assert json.loads(done.out)[0]["prediction"] == label


def test_explanations_are_lines_of_text(rules):
    text = defragtrees.load(rules).explain({"size": 0.0})
    assert all(line.isprintable() for line in text.split("\n"))
    assert "cmd" in text


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_closed_stream_does_not_look_like_drift(rules, table, monkeypatch, name):
    for data, code in ((table, 0), ("none.csv", 2)):
        monkeypatch.setattr(sys, name, None)
        assert run(["predict", str(rules), str(data)]) == code
        getattr(sys, name).close()
