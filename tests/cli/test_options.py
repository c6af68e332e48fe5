"""Options of a method are its settings: what they may be, mean and are by default."""

import dataclasses

import click
import pytest

from defragtrees import DefragClassifier
from defragtrees.cli.compare import command as compare
from defragtrees.cli.path import command as path
from defragtrees.cli.report import command as report
from defragtrees.cli.simplify import command as simplify

OPTIONS = {parameter.name: parameter for parameter in simplify.params}
FIELDS = {field.name: field for field in dataclasses.fields(DefragClassifier)}


def test_every_option_has_the_help_of_its_setting():
    settings = [name for name in OPTIONS if name in FIELDS and name != "target"]
    assert len(settings) > 20
    for name in settings:
        words = FIELDS[name].metadata["help"]
        assert words.endswith("."), name
        assert OPTIONS[name].help.startswith(words), name


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("max_rules", "auto"),
        ("form", "list"),
        ("brevity", "0.01"),
        ("criterion", "both"),
        ("e_step", "original"),
        ("random_state", "0"),
        ("target_is", "ensemble"),
    ],
)
def test_defaults_are_those_of_the_settings(name, default):
    assert f"[default: {default}]" in OPTIONS[name].help
    # What is not given is left to the method, but for the seed.
    assert OPTIONS[name].default == (0 if name == "random_state" else None)


def test_choices_and_ranges_are_those_of_the_fields():
    assert list(OPTIONS["form"].type.choices) == ["list", "standalone", "points"]
    assert list(OPTIONS["points"].type.choices) == ["exact", "integer"]
    assert isinstance(OPTIONS["max_rules"].type, click.IntRange)
    assert (OPTIONS["max_rules"].type.min, OPTIONS["stability"].type.min) == (1, 2)
    threshold = OPTIONS["threshold"].type
    assert (threshold.min, threshold.max, threshold.min_open) == (0, 1, True)


def test_settings_of_the_paper_are_for_its_method(refused, files):
    inputs = [files / "xgboost.json", files / "iris.csv", "--target", "class"]
    for option, value in (("--n-restarts", "3"), ("--init", "random")):
        line = refused("simplify", *inputs, option, value)
        assert f"{option} is for --method paper; got --method defrag." in line


def test_which_commands_have_them():
    names = {c.name: {p.name for p in c.params} for c in (path, compare, report)}
    assert names["report"] >= {"method", "e_step", "max_rules", "stability"}
    assert not names["path"] & {"method", "e_step", "n_restarts", "stability"}
    assert not names["compare"] & {"method", "e_step", "features", "pos_label"}
    assert names["compare"] >= {"form", "brevity", "monotone", "random_state"}
