"""Options of a method are its settings: what they may be, mean and are by default."""

import dataclasses

import click
import pytest

import defragtrees
from defragtrees import DefragClassifier
from defragtrees.cli.group import COMMANDS, cli
from defragtrees.cli.simplify import command as simplify

OPTIONS = {p.name: p for p in simplify.params if isinstance(p, click.Option)}
FIELDS = {field.name: field for field in dataclasses.fields(DefragClassifier)}


def test_there_are_few_options():
    commands = [cli, *(cli.get_command(None, name) for name in COMMANDS)]
    counts = {
        one.name: sum(isinstance(p, click.Option) for p in one.params)
        for one in commands
        if one is not cli
    }
    assert sum(counts.values()) <= 160, counts


def test_every_option_has_the_help_of_its_setting():
    settings = [name for name in OPTIONS if name in FIELDS and name != "target"]
    assert len(settings) > 14
    for name in settings:
        words = FIELDS[name].metadata["help"]
        assert words.endswith("."), name
        assert OPTIONS[name].help.startswith(words), name


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("max_rules", "auto"),
        ("form", "list"),
        ("random_state", "0"),
        ("target_is", "auto"),
    ],
)
def test_defaults_are_those_of_the_settings(name, default):
    assert f"[default: {default}]" in OPTIONS[name].help
    assert OPTIONS[name].default is None


@pytest.mark.parametrize(
    ("command", "option", "default"),
    [
        ("explain", "rows", "all"),
        ("explain", "format", "by the suffix of --out"),
        ("export", "format", "by the suffix of --out"),
        ("export", "probabilities", "of a list"),
        ("export", "best", "high"),
        ("predict", "exact", "with an apostrophe"),
        ("segments", "loss", "error of classes"),
        ("segments", "max_segments", "5"),
        ("segments", "max_conditions", "3"),
        ("watch", "classes", "labels that read the same"),
        ("watch", "label", "the name of the file"),
    ],
)
def test_defaults_of_other_commands_are_shown(command, option, default):
    command = cli.get_command(None, command)
    [found] = [p for p in command.params if p.name == option]
    _, text = found.get_help_record(click.Context(command))
    assert f"[default: {default}" in text


@pytest.fixture
def inputs(files):
    return [files / "xgboost.json", files / "iris.csv", "--target", "class"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max-rules", "0"], "--max-rules must be 'auto' or a whole number from 1"),
        (["--max-rules", "many"], "--max-rules must be 'auto' or a whole number"),
        (["--threshold", "1"], "--threshold must be None or a number above 0"),
        (["--form", "tree"], "'tree' is not one of"),
        (["--seed", "-1"], "-1 is not in the range"),
    ],
)
def test_values_are_checked_as_those_of_the_settings(refused, inputs, options, message):
    assert message in refused("simplify", *inputs, *options)


@pytest.fixture
def settings(tmp_path):
    """Write a file of settings; returns its path."""

    def write(text):
        path = tmp_path / "settings.toml"
        path.write_text(text)
        return path

    return write


def test_settings_come_from_a_file_and_options_go_before_it(
    call, inputs, settings, tmp_path
):
    out = tmp_path / "rules.json"
    path = settings(
        'max_rules = 3\ntarget = "labels"\nfeatures = ["petal width", "sepal width"]\n'
        'groups = [["petal width"], ["sepal width"]]\n[class_weight]\n0 = 2\n1 = 1.5\n'
    )
    done = call("simplify", *inputs, "--settings", path, "--out", out)
    assert done.code == 0, done.err
    rules = defragtrees.load(out)
    assert rules.n_rules == 3
    assert set(rules.features) <= {"petal width", "sepal width"}
    assert all(len(rule.conditions) <= 1 for rule in rules)
    assert rules.costs is not None
    call("simplify", *inputs, "--settings", path, "--max-rules", 2, "--out", out)
    assert defragtrees.load(out).n_rules == 2


def test_every_command_that_fits_takes_the_file(call, inputs, settings, tmp_path):
    path = settings('brevity = 0.5\nmax_rules = 3\nform = "standalone"\n')
    for name, *more in (
        ("path",),
        ("compare", "--methods", "defrag"),
        ("report", "--out", tmp_path / "report.html"),
    ):
        done = call(name, *inputs, "--settings", path, *more)
        assert done.code == 0, done.err
    assert "brevity" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "max_rule = 3",
            "'max_rule', which is no setting of DefragClassifier; did you",
        ),
        ("verbose = 1", "'verbose', which is no setting of DefragClassifier"),
        ("max_rules = 0", "settings.toml: max_rules must be 'auto' or a whole"),
        ("max_rules = ", "'settings.toml' is not TOML"),
        ('method = "paper"\nbrevity = 0.1', "'brevity', which is no setting of FAB"),
        ('features = ["petal_width"]', "did you mean 'petal width'?"),
    ],
)
def test_a_file_is_checked_as_the_settings_are(
    refused, inputs, settings, text, message
):
    assert message in refused("simplify", *inputs, "--settings", settings(text))


def test_settings_of_compare_are_those_of_the_default_method(refused, inputs, settings):
    path = settings("brevity = 0.5")
    line = refused("compare", *inputs, "--settings", path, "--methods", "distilled")
    assert "which is not among --methods" in line
    path = settings('method = "paper"')
    assert "path has the method" in refused("path", *inputs, "--settings", path)
