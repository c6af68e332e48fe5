"""What a type checker sees: real types on all that is public."""

import inspect
import os
import re
import shutil
import subprocess
import sys
from functools import cached_property
from importlib import import_module
from pathlib import Path

import pytest

import defragtrees
from defragtrees import plots

HERE = Path(__file__).parent
SCRIPTS = ("user_classes.py", "user_numbers.py", "user_rules.py")
# As if the library were installed: of it only the types count. scikit-learn has none.
SETTINGS = """[mypy]
follow_imports = silent
[mypy-sklearn.*]
ignore_missing_imports = True
"""
OF_PYTHON = ("__init__", "__len__", "__iter__", "__getitem__", "__str__")


def test_a_user_sees_no_any(tmp_path):
    pytest.importorskip("mypy", reason="types are checked with mypy")
    pytest.importorskip("matplotlib", reason="pictures are of its types")
    for name in SCRIPTS:
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "every_name.py").write_text(_reveal_all())
    settings = tmp_path / "mypy.ini"
    settings.write_text(SETTINGS)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-error-summary"),
            "--no-color-output",
            *("--config-file", settings, "--cache-dir", tmp_path / "cache"),
            *SCRIPTS,
            "every_name.py",
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(Path(defragtrees.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    revealed = re.findall(r'Revealed type is "(.*)"', done.stdout)
    n_asked = sum((HERE / s).read_text().count("reveal_type(") for s in SCRIPTS)
    assert len(revealed) == n_asked + len(_public_names())
    assert [text for text in revealed if "generated_args" in text] == []
    # What a function gives. Any in brackets is numpy's word for a shape, or for
    # classes of any type.
    given = [re.sub(r"\[.*\]", "", text.rpartition("-> ")[2]) for text in revealed]
    assert [text for text in given if "Any" in text] == [], done.stdout


def _public_names():
    names = [f"defragtrees.{name}" for name in defragtrees.__all__]
    return names + [f"defragtrees.plots.{name}" for name in plots.__all__]


def _reveal_all():
    lines = [f"reveal_type({name})" for name in _public_names()]
    return "\n".join(["import defragtrees", *lines, ""])


def test_everything_public_has_types():
    missing = {}
    for module in ("", *(f".{name}" for name in defragtrees.MODULES)):
        module = import_module(f"defragtrees{module}")
        for name in module.__all__:
            for label, function in _functions(getattr(module, name)):
                without = _untyped(function)
                if without:
                    missing[label] = without
    assert missing == {}


def _functions(thing):
    """A function, or all public methods of a class that are written here."""
    if inspect.isfunction(thing):
        yield thing.__qualname__, thing
    for kind in thing.__mro__ if inspect.isclass(thing) else ():
        for name, value in vars(kind).items():
            is_ours = kind.__module__.startswith("defragtrees.")
            if is_ours and (not name.startswith("_") or name in OF_PYTHON):
                value = getattr(value, "__func__", value)
                value = value.fget if isinstance(value, property) else value
                value = value.func if isinstance(value, cached_property) else value
                if inspect.isfunction(value):
                    yield value.__qualname__, value


def _untyped(function):
    signature = inspect.signature(function)
    given = [*signature.parameters.values()]
    names = [p.name for p in given if p.annotation is p.empty]
    if signature.return_annotation is signature.empty:
        names.append("return")
    return [name for name in names if name not in ("self", "cls")]


def test_the_package_says_that_it_is_typed():
    assert (Path(defragtrees.__file__).parent / "py.typed").exists()
