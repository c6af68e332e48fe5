"""Every field of every form of rules altered: one sentence, or rules that work.

A part of the 50,000 alterations is tried; more of them by `make test-slow`, and all of
them, in some minutes, by `ALTERED=all pytest tests/rules/test_altered_files.py`.
"""

import os
import warnings

import pytest
from jsonschema import Draft202012Validator

from defragtrees import RuleModel
from defragtrees.export.tables import schema as rules_schema
from tests.rules import altered

# Primes, to meet every value.
STEPS = (397, pytest.param(97, marks=pytest.mark.slow))
if os.environ.get("ALTERED") == "all":
    STEPS = (1,)
# What the schema cannot say: what must go together.
TOGETHER = (
    "default: ",
    "]: ",
    "Each rule must predict the class that follows",
    "must have no entry twice",
    "must have one",
    "must be ascending",
    "in ascending order",
    "The training target",
    "Counts and spreads of the training target",
    "A training column",
    "residuals",
    "rate_bands",
    "baseline must have",
    "threshold",
    "costs",
    "labels",
    "pos_label",
    "feature_kinds",
    "categories",
    "Rules for a",
    "The default of standalone rules",
    "unit must be",
    "tails are for",
    "in words",
)


@pytest.fixture(scope="module")
def documents():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return altered.make_documents()


@pytest.fixture(scope="module")
def rows():
    return altered.make_table()[0].iloc[:12].to_numpy()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", STEPS)
def test_an_altered_file_is_rejected_or_works(documents, rows, step):
    validator = Draft202012Validator(rules_schema())
    n_rejected = n_works = 0
    for k, (name, document) in enumerate(documents.items()):
        assert altered.judge(document, rows) is None, name
        assert validator.is_valid(document), name
        for what, changed in altered.alterations(document, k, step):
            try:
                error = altered.judge(changed, rows)
            except Exception as trouble:
                raise AssertionError(f"{name}: {what}: {trouble!r}") from trouble
            is_valid = validator.is_valid(changed)
            if error is None:
                n_works += 1
                assert is_valid, f"{name}: {what} is accepted against the schema"
            else:
                n_rejected += 1
                is_known = any(text in error for text in TOGETHER)
                assert not is_valid or is_known, f"{name}: {what}: {error}"
    assert n_rejected > 2 * n_works > 0


def test_every_form_and_field_is_altered(documents):
    fields = {key for document in documents.values() for key in document}
    assert fields == set(rules_schema()["properties"])
    kinds = {type(RuleModel.from_dict(one)).__name__ for one in documents.values()}
    assert kinds == {"RuleEnsemble", "RuleList", "RuleSet", "RuleTree", "Scorecard"}
    rules = [
        rule for one in documents.values() for rule in [*one["rules"], one["default"]]
    ]
    for name in rules_schema()["$defs"]["rule"]["properties"]:
        assert any(rule.get(name) not in (None, []) for rule in rules), name
