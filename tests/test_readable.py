"""Printed rules of made sets, as they were read by a person and kept."""

import re
from pathlib import Path

import pytest

pytest.importorskip("pandas", reason="the made sets are data frames")

from tests import readable

KEPT = Path(__file__).parent / "reference" / "readable_rules.txt"
NEW_ROWS = 10_000  # of a search, as users have


@pytest.fixture(scope="module")
def printed():
    return readable.printed()


def test_printed_rules_are_those_that_were_read(printed):
    """If not, read what `python -m tests.readable` prints, and keep that."""
    assert printed == KEPT.read_text(encoding="utf-8")


def test_whole_numbers_have_whole_cuts(printed):
    rules, _ = readable.rules_of("accounts")
    for name in ("children", "grade", "member", "dur"):
        place = rules.feature_names.index(name)
        for rule in rules.rules:
            for condition in rule.conditions:
                if condition.feature == place:
                    assert all(v == int(v) for _, v in condition.sides)
    assert not re.search(r"(hour|holiday|year) [<>]=? \d+\.", printed)


def test_no_cut_has_more_digits_than_its_column(printed):
    for number in re.findall(r"(?:temperature|height|weight) [<>]=? (\S+)", printed):
        assert len(number.partition(".")[2]) <= 1
    for date in re.findall(r"opened [<>]=? (\S+)", printed):
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", date)


def test_raw_names_and_classes_are_nowhere(printed):
    accounts = printed.partition("accounts\n")[2].partition("\nhires")[0]
    assert "dur " not in accounts.replace("duration", "")
    assert "then 1" not in accounts
    assert " months" in accounts
