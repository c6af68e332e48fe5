"""Rules, rows and the browser that the tests of the report share."""

import os
import re
import shutil
import time
from dataclasses import KW_ONLY, dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from defragtrees.ensembles.forest import Forest, Tree
from defragtrees.estimators.base import RuleClassifier, RuleRegressor, Simplifier
from defragtrees.report.page import Page
from defragtrees.report.sections import SECTIONS
from defragtrees.report.verdict import make_verdict
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule
from defragtrees.rules.models import MODELS

SCREENSHOTS = Path(
    os.environ.get("DEFRAGTREES_SCREENSHOTS", Path(__file__).parent / "screenshots")
)
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
# Containers have little shared memory, and a page that needs more than that crashes.
ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage"
).split()
PATIENCE = 120_000  # milliseconds, after which a page hangs; a busy machine is slow


def launch(running):
    """Chromium, under a running Playwright."""
    return running.chromium.launch(
        executable_path=CHROMIUM, args=ARGUMENTS, timeout=PATIENCE
    )


def assert_soon(page, look, expected):
    """What `look` finds comes to be what is expected; a page may draw it later."""
    end = time.monotonic() + PATIENCE / 1000
    while (found := look()) != expected and time.monotonic() < end:
        page.wait_for_timeout(20)
    assert found == expected


@dataclass(repr=False, eq=False)
class GivenRules(Simplifier):
    """A simplifier whose rules are written by hand, around a forest."""

    _: KW_ONLY
    rules: Any = None
    random_state: Any = 0

    def _simplify(self, problem, rng):
        return self.rules


@dataclass(repr=False, eq=False)
class GivenClassifier(RuleClassifier, GivenRules):
    """For classes."""


class GivenRegressor(RuleRegressor, GivenRules):
    """For numbers."""


def stump(feature, threshold, low, high):
    """A tree with one split."""
    cover = [10.0, 6.0, 4.0]
    inner = [feature, -1, -1]
    values = [low, low, high]
    return Tree(
        inner, [threshold, 0, 0], [1, -1, -1], [2, -1, -1], [True] * 3, values, cover
    )


def weather():
    """Three rules about two features, six rows, and a forest that differs on one.

    Rows are predicted by rules 1, 1, 2, 2, 3 and 3; the forest tests only whether
    degrees are above 20.
    """
    names = ("degrees", "wind")
    warm = Rule((Condition(0, lower=20.0), Condition(1, upper=5.0)), "out", (0.0, 1.0))
    calm = Rule((Condition(1, upper=2.0),), "out", (0.5, 0.5))
    rest = Rule((), "in", (1.0, 0.0))
    rules = RuleList((warm, calm), rest, names, "classification", ("in", "out"))
    tree = stump(0, 20.0, [1.0, 0.0], [0.0, 1.0])
    forest = Forest((tree,), names, "classification", ("in", "out"), "mean")
    X = np.array(
        [[25.0, 1.0], [30.0, 5.0], [10.0, 1.0], [12.0, 2.0], [5.0, 9.0], [26.0, 8.0]]
    )
    y = np.array(["out", "out", "in", "out", "in", "in"])
    return GivenClassifier(forest, rules=rules).fit(X, y), X, y


def named(first, second, classes):
    """Two rules with given names of the features and classes; row 2 is a dispute."""
    names = (first, second)
    one = Rule((Condition(0, lower=-0.01), Condition(1, upper=5.0)), classes[1], (0, 1))
    rest = Rule((), classes[0], (1, 0))
    rules = RuleList((one,), rest, names, "classification", classes)
    tree = stump(0, 1.0, [1.0, 0.0], [0.0, 1.0])
    forest = Forest((tree,), names, "classification", classes, "mean")
    X = np.array([[2.0, 1.0], [0.5, -1.5], [-3.0, 9.0], [-4.0, -2.0]])
    y = np.array(classes)[[1, 0, 0, 0]]
    return GivenClassifier(forest, rules=rules).fit(X, y), X, y


def numbers(form):
    """Two overlapping rules for a number, averaged or in order."""
    names = ("size", "age")
    large = Rule((Condition(0, lower=1.0),), 4.0, weight=2.0)
    old = Rule((Condition(1, lower=1.0),), 1.0, weight=1.0)
    rest = Rule((), 0.0, weight=1.0)
    rules = MODELS[form]((large, old), rest, names, "regression")
    forest = Forest((stump(0, 1.0, 0.0, 4.0),), names, "regression")
    X = np.array([[2.0, 2.0], [2.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    return GivenRegressor(forest, rules=rules).fit(X), X, np.array([3.0, 4.0, 0.0, 0.0])


EVIL = "<script>alert(1)</script>"


def loans(form="list", n_rows=600):
    """Rules about whole numbers, shares that may be missing, and cities; and rows."""
    late = Condition(0, lower=1.0, is_integer=True)
    high = Condition(1, lower=0.5, missing=True)
    rome = Condition(2, categories=(1,))
    low = Condition(1, lower=0.05, upper=0.3)
    extra = [{}] * 4
    if form == "points":
        extra = [{"points": (value,)} for value in (1.25, 0.5, -0.75, -0.625)]
    if form == "standalone":
        extra = [{"weight": weight} for weight in (60.0, 120.0, 90.0, 0.0)]
    rules = MODELS[form](
        (
            Rule((late, high), "unpaid", (0.25, 0.75), **extra[0]),
            Rule((rome,), "unpaid", (0.45, 0.55), **extra[1]),
            Rule((low,), "paid", (0.9, 0.1), **extra[2]),
        ),
        Rule((), "paid", (0.7, 0.3), **extra[3]),
        ("late", EVIL, "city"),
        "classification",
        ("paid", "unpaid"),
        (None, None, ("Bern", "Rome", "Oslo")),
    )
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, n_rows)
    share = rng.beta(2, 3, n_rows).round(3)
    share[rng.random(n_rows) < 0.05] = np.nan
    city = pd.Categorical(rng.choice(rules.categories[2], n_rows), rules.categories[2])
    X = pd.DataFrame({"late": counts, EVIL: share, "city": city})
    risk = 0.1 + 0.4 * (np.nan_to_num(share, nan=0.6) > 0.5) + 0.2 * (counts > 1)
    y = np.where(rng.random(n_rows) < risk + 0.2 * (city == "Rome"), "unpaid", "paid")
    forest = Forest(
        (stump(1, 0.5, [0.8, 0.2], [0.4, 0.6]),), rules.feature_names, rules.task,
        rules.classes, "mean", categories=rules.categories,
    )  # fmt: skip
    return (
        GivenClassifier(forest, rules=rules).fit(X, y),
        X,
        pd.Series(y, name="status"),
    )


def cells(html):
    """The cells of the body of a table, as text."""
    body = html[html.index("<tbody>") :]
    lines = [re.split("</t[hd]>", line)[:-1] for line in body.split("</tr>")[:-1]]
    return [[re.sub("<(?!/?b>)[^>]*>", "", cell) for cell in line] for line in lines]


VOID = {"meta", "link", "br", "wbr", "input", "hr", "img", "path", "rect"}


class Pieces(HTMLParser):
    """The elements of a text that are inside no other."""

    def __init__(self, html):
        super().__init__()
        self.html, self.depth, self.found = html, 0, []
        self.lines = [0]
        for line in html.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.feed(html)

    def place(self):
        line, column = self.getpos()
        return self.lines[line - 1] + column

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.begin = self.begin if self.depth else self.place()
            self.depth += 1

    def handle_endtag(self, tag):
        if tag not in VOID:
            self.depth -= 1
        if self.depth == 0:
            end = self.html.index(">", self.place()) + 1
            self.found.append(one_line(self.html[self.begin : end]))


def one_line(html):
    """HTML with one plain space for each white space, as a browser has it."""
    return re.sub("[ \n]+", " ", html)


def written(name, summary):
    """The pieces of a section, without its charts."""
    [section] = [section for section in SECTIONS if section.name == name]
    html = Page(summary).write(section)
    return Pieces(re.sub("<figure.*?</figure>", "", html, flags=re.DOTALL)).found


def verdict(summary):
    """Sentences and caveats of the verdict, with plain spaces."""
    made = make_verdict(summary)
    texts = [*made.sentences, *made.caveats]
    return [text.replace("\N{NO-BREAK SPACE}", " ") for text in texts]
