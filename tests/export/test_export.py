"""One door for all formats; a file is there completely or not at all."""

import os

import pytest

from defragtrees import Rule, RuleSet
from defragtrees.export import FORMATS, export

RULES = RuleSet((), Rule((), 2.0), ("größe",), "regression")


def test_the_formats_are_the_promised_ones():
    assert sorted(FORMATS) == [
        "html",
        "json",
        "latex",
        "markdown",
        "onnx",
        "python",
        "sklearn",
        "sql",
        "text",
    ]


@pytest.mark.parametrize(
    "format", ["html", "json", "latex", "markdown", "python", "sql", "text"]
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
    with pytest.raises(ValueError, match="format must be one of html, json"):
        export(RULES, "pdf")
    with pytest.raises(TypeError, match="A RuleSet is needed; got dict"):
        export({}, "text")
    with pytest.raises(TypeError, match="dialect"):
        export(RULES, "text", dialect="ansi")
    with pytest.raises(ValueError, match="save the tree with joblib"):
        export(RULES, "sklearn", tmp_path / "tree")
    assert list(tmp_path.iterdir()) == []
