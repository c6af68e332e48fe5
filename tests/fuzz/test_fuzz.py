"""A short run of fuzzing, and every file that ever failed; `make fuzz` runs more."""

import sys

import pytest

from tests.fuzz.cases import kept_cases, make_case
from tests.fuzz.mutations import alter_bytes
from tests.fuzz.runner import Tally, run_cases

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="memory is read from /proc"
)
N_CASES = 90


def told(tally):
    return "\n".join(f"{case.name}: {why}" for case, why in tally.failures)


def test_altered_files_end_in_a_clean_error_or_are_sound():
    for package in ("skops", "pyarrow", "jsonschema", "click"):
        pytest.importorskip(package)
    kept = kept_cases()
    assert len(kept) > 10
    cases = [*kept, *(make_case(number, seed=1) for number in range(N_CASES))]
    tally = run_cases(cases)
    assert not tally.failures, told(tally)
    assert sum(tally.counts.values()) == len(cases)


def test_a_case_is_told_by_its_number():
    assert make_case(17, seed=3) == make_case(17, seed=3)
    assert make_case(17, seed=3) != make_case(17, seed=4)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"megabytes": 3000.0}, "3000 MB"),
        ({"seconds": 9.0}, "9.0 s"),
        ({"outcome": "failure", "text": "KeyError"}, "KeyError"),
    ],
)
def test_who_swells_hangs_or_breaks_has_failed(answer, why):
    clean = {"outcome": "clean error", "text": "", "megabytes": 1.0, "seconds": 0.1}
    tally = Tally()
    tally.add(make_case(0, seed=0), clean | answer)
    assert why in told(tally)
    assert tally.text().splitlines()[-1].startswith("1 cases, 1 failures")


def test_bytes_may_be_none():
    import random

    assert len(alter_bytes(b"", random.Random(0))) == 8
