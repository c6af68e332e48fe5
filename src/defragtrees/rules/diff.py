"""diff: what changed from one rule model to another, in words and in rows."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Floats, Rows, Values
from defragtrees.outcomes.decision import cost_matrix
from defragtrees.rules.conditions import Rule
from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import decision_phrase

__all__ = ["Change", "Difference", "diff", "diff_encoded"]

SETTINGS = {
    "form": "the form",
    "unit": "what a point stands for",
    "origin": "the total that stands for 0",
    "tails": "what the lowest and highest totals stand for",
}
ALIKE = 0.5  # share of columns that two rules must have in common to be one changed


@dataclass(frozen=True)
class Change:
    """One thing that is not as before.

    Parameters
    ----------
    kind : str
        "gone", "new", "conditions", "prediction", "moved", "rate", "setting" or "edit".
    text : str
    before, after : int or None
        The number of the rule, from 1, in the first and in the second model.
    """

    kind: str
    text: str
    before: int | None = None
    after: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Its contents as plain texts and numbers."""
        numbers = {"before": self.before, "after": self.after}
        return {"kind": self.kind, **numbers, "text": self.text}


@dataclass(frozen=True, eq=False)
class Difference(render.Tabular):
    """What changed from one rule model to another.

    Parameters
    ----------
    changes : tuple of Change
    measures : dict from str to number
        If rows were given: their number, the number predicted differently, and in
        regression the mean difference. With y the error of both models and the number
        of rows that are newly right (`n_mended`) and newly wrong
        (`n_broken`), and with costs the expected cost per row.
    is_changed : bool array of shape (n_samples,), optional
        Which rows are predicted differently.
    moves : tuple of (str, str, int)
        Classes predicted before and after, and the number of such rows.
    outcome : Outcome, optional
        What is predicted; it names the error.
    """

    changes: tuple[Change, ...]
    measures: dict[str, float] = field(default_factory=dict)
    is_changed: Any = None
    moves: tuple[tuple[str, str, int], ...] = ()
    outcome: Any = None

    def __bool__(self) -> bool:
        return bool(self.changes) or bool(self.measures.get("n_changed"))

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain numbers, texts and lists."""
        names = ("before", "after", "n_rows")
        return {
            "changes": [change.to_dict() for change in self.changes],
            "measures": dict(self.measures),
            "moves": [dict(zip(names, move, strict=True)) for move in self.moves],
        }

    def __repr__(self) -> str:
        return f"<Difference: {render.plural(len(self.changes), 'change')}>"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        lines = [
            ["" if n is None else str(n) for n in (change.before, change.after)]
            + [render.plain(change.text)]
            for change in self.changes
        ]
        return ["before", "after", "change"], lines

    def __str__(self) -> str:
        lines = [render.plain(change.text) for change in self.changes]
        lines = lines or ["The rules are the same."]
        return "\n".join([*lines, *self._notes()])

    def _notes(self) -> list[str]:
        measures = self.measures
        if not measures:
            return []
        n_rows, n_changed = measures["n_rows"], measures["n_changed"]
        share = render.share(n_changed / n_rows) if n_rows else "none"
        notes = [
            f"{render.plural(n_changed, 'row')} of {n_rows:,} ({share}) predicted "
            "differently"
        ]
        notes += [
            f"{render.plural(n, 'row')} from {before} to {after}"
            for before, after, n in self.moves
        ]
        if "mean_change" in measures:
            apart = render.rounded(measures["mean_change"])
            notes.append(f"predictions differ by {apart} on average")
        if "n_mended" in measures and n_changed:
            mended, broken = measures["n_mended"], measures["n_broken"]
            notes.append(f"{mended:,} newly right, {broken:,} newly wrong")
        for name, title in (
            ("error", self.outcome and self.outcome.error_name),
            ("cost", "expected cost per row"),
        ):
            if f"{name}_after" in measures:
                pair = [measures[f"{name}_{when}"] for when in ("after", "before")]
                if name == "error":
                    pair = [self.outcome.shown_error(value) for value in pair]
                now, then = map(render.rounded, pair)
                notes.append(f"{title} {now}, was {then}")
        return notes


def diff(
    before: RuleModel, after: RuleModel, X: Rows | None = None, y: Column | None = None
) -> Difference:
    """Compare two rule models: which rules changed and, with X, which predictions.

    Parameters
    ----------
    before, after : RuleModel
    X : array-like or data frame of shape (n_samples, n_features), optional
        Rows for which the predictions of both models are compared.
    y : array-like of shape (n_samples,), optional
        If given, the errors of both models are compared.

    Returns
    -------
    Difference

    Examples
    --------
    >>> print(diff(rules, rules.replace(2, "degrees > 25"), [[21.0, 3.0], [26.0, 3.0]]))
    rule 2: degrees > 20 became degrees > 25
    1 row of 2 (50.0%) predicted differently
    1 row from yes to no
    """
    _check(before, after)
    if X is None:
        return diff_encoded(before, after)
    return diff_encoded(before, after, [before._encode(X), after._encode(X)], y)


def diff_encoded(
    before: RuleModel,
    after: RuleModel,
    matrices: Sequence[Floats] | None = None,
    y: Any = None,
) -> Difference:
    """`diff` of the same rows as matrices, one by the columns of each model."""
    _check(before, after)
    changes = (*_rule_changes(before, after), *_setting_changes(before, after))
    if matrices is None:
        return Difference(changes)
    first, second = (
        rules._form.predict(rules._covers(matrix))
        for rules, matrix in zip((before, after), matrices, strict=True)
    )
    outcome, is_changed = before.outcome, first != second
    if y is not None:
        y = outcome.read(y, len(first))
    measures = {
        "n_rows": len(first),
        "n_changed": int(is_changed.sum()),
        **outcome.change_measures(first, second, y),
        **_scores_of(before, after, first, second, y),
    }
    moves = outcome.moves(first[is_changed], second[is_changed])
    return Difference(changes, measures, is_changed, moves, outcome)


def _check(before: RuleModel, after: RuleModel) -> None:
    for rules in (before, after):
        if not isinstance(rules, RuleModel):
            raise TypeError(
                f"diff needs two rule models; got {type(rules).__name__}. Pass rules_ "
                "of an estimator, or defragtrees.load(path)."
            )
    same_classes = set(before.classes or ()) == set(after.classes or ())
    if before.task != after.task or not same_classes:
        raise ValueError(
            "diff needs two rule models for the same target; got "
            f"{before.classes or before.task!r} and {after.classes or after.task!r}. "
            "Compare those of one target."
        )


def _asked(rules: RuleModel, rule: Rule) -> dict[str, str]:
    """From the columns of a rule to the text of their conditions."""
    return {
        rules.feature_names[c.feature]: c.text(*rules._vocabulary)
        for c in rule.conditions
    }


def _pairs(before: RuleModel, after: RuleModel) -> dict[int, int]:
    """Which rule became which: the same conditions, else mostly the same columns."""
    first = [_asked(before, rule) for rule in before.rules]
    second = [_asked(after, rule) for rule in after.rules]
    pairs: dict[int, int] = {}
    for i, one in enumerate(first):
        same = [j for j, other in enumerate(second) if one == other]
        free = [j for j in same if j not in pairs.values()]
        if free:
            pairs[i] = free[0]
    scores = [
        (-_likeness(one, other), abs(i - j), i, j)
        for i, one in enumerate(first)
        for j, other in enumerate(second)
        if i not in pairs and j not in pairs.values()
    ]
    for score, _, i, j in sorted(scores):
        if -score >= ALIKE and i not in pairs and j not in pairs.values():
            pairs[i] = j
    return pairs


def _likeness(one: Mapping[str, str], other: Mapping[str, str]) -> float:
    """Share of common columns, a little more where their conditions are the same."""
    every = set(one) | set(other)
    same = sum(one.get(name) == other.get(name) for name in every)
    return (len(set(one) & set(other)) + 0.01 * same) / max(len(every), 1)


def _rule_changes(before: RuleModel, after: RuleModel) -> Iterator[Change]:
    pairs = _pairs(before, after)
    for i, rule in enumerate(before.rules):
        if i not in pairs:
            text = f"rule {i + 1} is gone: {before._view.rule_text(rule)}"
            yield Change("gone", text, i + 1)
    for j, rule in enumerate(after.rules):
        if j not in pairs.values():
            text = f"rule {j + 1} is new: {after._view.rule_text(rule)}"
            yield Change("new", text, None, j + 1)
    kept_before = sorted(pairs)
    kept_after = sorted(pairs.values())
    for i, j in sorted(pairs.items(), key=lambda pair: pair[1]):
        yield from _changes_of(before, after, i, j)
        if kept_before.index(i) != kept_after.index(j) and after._form.is_exclusive:
            moved = after._view.rule_text(after.rules[j])
            text = f"rule {j + 1} was rule {i + 1}: {moved}"
            yield Change("moved", text, i + 1, j + 1)
    yield from _changes_of(before, after, len(before.rules), len(after.rules))


def _changes_of(
    before: RuleModel, after: RuleModel, i: int, j: int
) -> Iterator[Change]:
    """What is not as before in a rule that is there in both."""
    old, new = [*before][i], [*after][j]
    place = {"before": i + 1, "after": j + 1}
    head = f"rule {j + 1}" if i == j else f"rule {j + 1} (was {i + 1})"
    texts = old.text(), new.text()
    if _asked(before, old) != _asked(after, new) and texts[0] != texts[1]:
        text = f"{head}: {texts[0]} became {texts[1]}"
        yield Change("conditions", text, **place)
    then = before._view.then_text(old), after._view.then_text(new)
    if then[0] != then[1]:
        about = f": {'if ' if new.conditions else ''}{new.text()}"
        text = f"{head} predicts {then[1]}, was {then[0]}{about}"
        yield Change("prediction", text, **place)
    rates = _rate_text(before, old), _rate_text(after, new)
    if all(rates) and rates[0] != rates[1]:
        yield Change("rate", f"{head}: {rates[1]}, was {rates[0]}", **place)


def _rate_text(rules: RuleModel, rule: Rule) -> str:
    """The rate of a rule and its rows; empty if not counted."""
    if math.isnan(rule.n_rows):
        return ""
    rows = f"in {render.count(rule.n_rows)} rows"
    if rule.rates is None:
        return rows
    found = rules.outcome.estimate(rule)
    label = rules.outcome.view.label(found["class"])
    return f"{render.share(found['rate'])} {label} {rows}"


def _setting_changes(before: RuleModel, after: RuleModel) -> Iterator[Change]:
    old, new = before.to_dict(profile=False), after.to_dict(profile=False)
    for name, text in SETTINGS.items():
        was, now = old.get(name, "a line"), new.get(name, "a line")
        if was != now:
            yield Change("setting", f"{text} is {now!r}, was {was!r}")
    if (before.threshold, before.costs) != (after.threshold, after.costs):
        decided, then = (
            decision_phrase(rules.outcome, rules.threshold, rules.costs)
            for rules in (after, before)
        )
        yield Change("setting", f"{decided}; before: {then}")
    added = after.edits[len(before.edits) :]
    if after.edits[: len(before.edits)] == before.edits:
        for edit in added:
            if edit.action in ("refit", "improve", "use"):
                yield Change("edit", edit.text)


def _scores_of(
    before: RuleModel, after: RuleModel, first: Values, second: Values, y: Any
) -> dict[str, float]:
    """Errors of two predictions and, with costs, the expected costs; none without y."""
    if y is None:
        return {}
    outcome, pairs = before.outcome, (("before", first), ("after", second))
    scores = {f"error_{name}": outcome.error(y, values) for name, values in pairs}
    # Both are judged by the costs of `after`, or of `before` if it has none.
    rules = after if after.costs is not None else before
    if rules.costs is not None:
        true, costs = outcome.encode_any(y), cost_matrix(rules)
        known = outcome.is_known(true)
        for name, values in pairs if known.any() else ():
            codes = outcome.encode(values[known])
            scores[f"cost_{name}"] = float(costs[true[known], codes].mean())
    return scores
