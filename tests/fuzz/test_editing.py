"""Any row of edits leaves rules that answer, print, save and tell what they are."""

import contextlib
import json

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from defragtrees import Condition, Rule, RuleModel, diff
from defragtrees.rules.models import MODELS

CITIES = ("Bonn", "Oslo", "Rome")
NAMES = ("income", "age", "city")
TEXTS = (
    "income > 10",
    "20 < income <= 40 or missing",
    "age >= 30",
    "age is 41",
    "city is Rome or Bonn",
    "city is not Oslo and income <= 70",
    "age <= 50 and age > 20",
    "incme > 3",
    "income <= ",
)
RNG = np.random.default_rng(0)
X = np.empty((80, 3), dtype=object)
X[:, 0] = RNG.uniform(0, 100, 80).round()
X[:, 1] = RNG.integers(18, 60, 80)
X[:, 2] = RNG.choice([*CITIES, "Kiel"], 80)
X[3, 0] = None
Y = np.where(RNG.random(80) < 0.6, "good", "bad")
NUMBER = st.integers(0, 4)


def starting_rules(form):
    points = {"points": (1.5,)} if form == "points" else {}

    def made(conditions, answer, weight=1.0):
        shares = (0.3, 0.7) if answer == "good" else (0.7, 0.3)
        return Rule(conditions, answer, shares, weight=weight, **points)

    default = made((), "bad", 0.0 if form == "standalone" else 1.0)
    return MODELS[form](
        (
            made((Condition(0, lower=30.0),), "good"),
            made((Condition(1, upper=40.0, is_integer=True),), "bad"),
            made((Condition(2, categories=(0, 3)), Condition(0, upper=60.0)), "good"),
        ),
        default, NAMES, "classification", ("bad", "good"), (None, None, CITIES),
    )  # fmt: skip


class Editing(RuleBasedStateMachine):
    """Edits in any order; those that make no sense are refused with a ValueError."""

    @initialize(form=st.sampled_from(["list", "standalone", "points", "tree"]))
    def start(self, form):
        self.rules = self.before = starting_rules(form)

    def change(self, edit):
        with contextlib.suppress(ValueError):
            after = edit(self.rules)
            assert after.edits[:-1] == self.rules.edits
            self.before, self.rules = self.rules, after

    @rule(number=NUMBER)
    def drop(self, number):
        self.change(lambda rules: rules.drop(number))

    @rule(number=NUMBER, text=st.sampled_from(TEXTS))
    def replace(self, number, text):
        self.change(lambda rules: rules.replace(number, text))

    @rule(number=NUMBER, text=st.sampled_from(TEXTS), column=st.sampled_from(NAMES))
    def replace_one(self, number, text, column):
        self.change(lambda rules: rules.replace(number, text, column))

    @rule(number=NUMBER, column=st.sampled_from([*NAMES, 1, 2]))
    def remove(self, number, column):
        self.change(lambda rules: rules.drop(number, column))

    @rule(number=NUMBER, answer=st.sampled_from(["good", "bad", "fine", 2.0]))
    def answer(self, number, answer):
        self.change(lambda rules: rules.set_prediction(number, answer))

    @rule(number=NUMBER, to=NUMBER)
    def move(self, number, to):
        self.change(lambda rules: rules.move(number, to))

    @rule(n_rows=st.integers(1, 80))
    def refit(self, n_rows):
        self.change(lambda rules: rules.refit(X[:n_rows], Y[:n_rows]))

    @invariant()
    def rules_are_still_rules(self):
        if not hasattr(self, "rules"):
            return
        rules = self.rules
        again = RuleModel.from_dict(json.loads(json.dumps(rules.to_dict())))
        assert again == rules
        assert again.predict(X).tolist() == rules.predict(X).tolist()
        assert str(again) == str(rules)
        # A text leaves out what earlier rules of a list take.
        for number, rule_ in enumerate(rules.rules, start=1):
            same = rules.replace(number, rule_.text()).rules[number - 1]
            assert same.conditions == rule_.shown
        assert str(diff(self.before, rules, X, Y))
        if rules.edits and rules.edits[-1].action == "refit":
            assert not np.isnan([rule_.n_rows for rule_ in rules]).any()
            rules.check(X, Y)


TestEditing = Editing.TestCase
TestEditing.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
