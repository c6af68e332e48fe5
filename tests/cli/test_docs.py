"""The page about the command line is about the command line as it is."""

import re
from pathlib import Path

import pytest

from defragtrees.cli.group import COMMANDS, cli

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


@pytest.fixture(scope="module")
def sections():
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def options(name):
    """The options of a command."""
    return {o for p in cli.get_command(None, name).params for o in p.opts}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_section_with_an_example(sections, name):
    shown = re.findall(r"^\$ (defragtrees (?:.+\\\n)*.+)$", sections[name], re.M)
    assert shown[0].startswith(f"defragtrees {name}")
    for line in shown:
        assert set(re.findall(r"--[a-z-]+", line)) <= options(line.split()[1])


@pytest.mark.parametrize("name", COMMANDS)
def test_no_section_names_an_option_that_is_not_there(sections, name):
    assert set(re.findall(r"`(--[a-z-]+)", sections[name])) <= options(name)
