"""The lists from one rule up, and other methods, as plain rows."""

import math

from defragtrees import metrics

__all__ = ["comparison_rows", "path_points"]

SHOWN = ("n_rules", "n_conditions", "error", "standard_error", "fidelity", "coverage")


def path_points(simplifier, found, rule_path=None):
    """The trade-off path, or None if there is none.

    Parameters
    ----------
    simplifier : Simplifier
    found : Measured
    rule_path : RulePath, optional
        Without it the path is `simplifier.path_`, measured on the rows of the report.
    """
    if rule_path is not None:
        rows = rule_path.rows()
        lists = [point.rules for point in rule_path.points]
        ensemble_error = float(rule_path.ensemble_error)
        chosen = next(i for i, row in enumerate(rows) if row["chosen"])
    else:
        lists = list(getattr(simplifier, "path_", {}).values())
        rows = [_measured(rules, found) for rules in lists]
        expected = found.answers if found.y is None else found.y
        ensemble_error = metrics.error(
            expected, found.answers, found.rules.task, found.weight
        )
        chosen = None
    if not rows:
        return None
    same = [i for i, rules in enumerate(lists) if rules == simplifier.rules_]
    shown = same[0] if same else None
    return {
        "points": [
            {name: _plain(row[name]) for name in SHOWN} | {"shown": i == shown}
            for i, row in enumerate(rows)
        ],
        "chosen": shown if chosen is None else chosen,
        "shown": shown,
        "ensemble_error": ensemble_error,
        "is_given": rule_path is not None,
        "against_y": found.y is not None
        if rule_path is None
        else rule_path.is_against_y,
    }


def _measured(rules, found):
    expected = found.answers if found.y is None else found.y
    rows = found.matrix, expected, found.answers, found.weight
    return {
        "n_rules": rules.n_rules,
        "n_conditions": rules.n_conditions,
        **metrics.trade_off_scores(rules, *rows),
    }


def comparison_rows(comparison):
    """What `compare` found, as plain rows; None stays None."""
    if comparison is None:
        return None
    names = ("n_rules", "n_conditions", "error", "error_std", "fidelity", "coverage")
    rows = []
    for row in comparison.rows():
        plain = {
            "method": str(row["method"]),
            "budget": None if row["budget"] is None else int(row["budget"]),
            "failure": None if row["failure"] is None else str(row["failure"]),
        }
        if row["failure"] is None:
            plain |= {name: _plain(row[name]) for name in (*names, "seconds")}
        rows.append(plain)
    return {
        "rows": rows,
        "ensemble_error": float(comparison.ensemble_error),
        "n_splits": int(comparison.n_splits),
    }


def _plain(value):
    return (
        None if math.isnan(value) else value if isinstance(value, int) else float(value)
    )
