"""Some of the odd values for some of the settings; each ends in words that name it."""

import random

from tests.fuzz.odd_settings import VALUES, judge_setting, setting_names

N_TRIED = 60


def test_odd_settings_are_refused_by_name_or_work():
    rng = random.Random(0)
    names = setting_names()
    counts = {}
    for _ in range(N_TRIED):
        method, task, name = rng.choice(names)
        value = rng.choice(VALUES)
        outcome, _ = judge_setting(method, task, name, value)
        counts[outcome] = counts.get(outcome, 0) + 1
    assert counts["clean error"] > N_TRIED / 4
