"""One door for all formats; a file is there completely or not at all."""

import os
import sys
import types

import pytest

from defragtrees import Rule, RuleList
from defragtrees.cli import export as export_command
from defragtrees.cli.group import run
from defragtrees.export import FORMATS, Format, export

RULES = RuleList((), Rule((), 2.0), ("größe",), "regression")


def test_the_formats_are_the_promised_ones():
    assert sorted(FORMATS) == [
        "csv",
        "excel",
        "html",
        "json",
        "latex",
        "markdown",
        "onnx",
        "pmml",
        "python",
        "sql",
        "text",
    ]


@pytest.mark.parametrize(
    "format",
    ["csv", "html", "json", "latex", "markdown", "python", "sql", "text"],
)
def test_a_file_holds_what_is_returned(tmp_path, format):
    path = tmp_path / "rules"
    path.write_text("before")
    text = export(RULES, format, path)
    assert path.read_bytes() == text.encode("utf-8")
    assert text.endswith("\n")
    assert [found.name for found in tmp_path.iterdir()] == ["rules"]


def test_a_file_is_readable_for_others_as_any_new_file_is(tmp_path):
    (tmp_path / "plain").write_text("")
    export(RULES, "text", tmp_path / "rules")
    modes = {path.stat().st_mode for path in tmp_path.iterdir()}
    assert len(modes) == 1


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "rules").write_text("before")
    (tmp_path / "link").symlink_to(tmp_path / "rules")
    text = export(RULES, "text", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "rules").read_text() == text


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "rules"
    path.write_text("before")

    def fail(source, target):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space left"):
        export(RULES, "text", path)
    assert path.read_text() == "before"
    assert [found.name for found in tmp_path.iterdir()] == ["rules"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*new.*Create"):
        export(RULES, "text", tmp_path / "new" / "rules.txt")


def test_wrong_calls_are_refused_in_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="format must"):
        export(RULES, "pdf")
    with pytest.raises(TypeError, match="rules must"):
        export({}, "text")
    with pytest.raises(TypeError, match="dialect"):
        export(RULES, "text", dialect="ansi")
    assert list(tmp_path.iterdir()) == []


def test_an_export_is_one_function_and_one_line(monkeypatch, tmp_path, capsys):
    counting = types.ModuleType("counting")
    counting.to_count = lambda rules, unit=1: (len(rules.rules) + 1) // unit
    counting.count_bytes = lambda count: bytes([count])
    monkeypatch.setitem(sys.modules, "counting", counting)
    added = Format(".count", "counting", "to_count", "count_bytes")
    monkeypatch.setitem(FORMATS, "count", added)
    assert export(RULES, "count", tmp_path / "a.count", unit=1) == 1
    assert (tmp_path / "a.count").read_bytes() == b"\x01"
    # The command line has it too, and knows that it is no text.
    monkeypatch.delitem(sys.modules, export_command.__name__)
    RULES.save(tmp_path / "rules.json")
    arguments = ["export", str(tmp_path / "rules.json"), "--format", "count"]
    assert run(arguments) == 2
    assert "--format count is no text; name a file" in capsys.readouterr().err
    assert run([*arguments, "--out", str(tmp_path / "b.count")]) == 0
    assert (tmp_path / "b.count").read_bytes() == b"\x01"


def test_an_option_that_a_format_does_not_have_is_refused_with_a_guess():
    rules = RuleList((), Rule((), 1.0), ("a",), "regression")
    with pytest.raises(TypeError, match="'tabel' for 'sql'"):
        export(rules, "sql", tabel="loans")
    with pytest.raises(TypeError, match="'zoom' for 'text'"):
        export(rules, "text", zoom=3)
    with pytest.raises(TypeError, match="'zoom' for 'markdown'"):
        export(rules, "markdown", zoom=3)
