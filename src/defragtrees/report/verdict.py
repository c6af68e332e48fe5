"""The verdict: what the rules are worth, in three sentences made of the numbers."""

import math

import numpy as np

from defragtrees._utils.formatting import plural
from defragtrees.report.flags import came_back_rarely
from defragtrees.report.markup import name
from defragtrees.report.wording import (
    amount,
    count,
    error_text,
    fidelity_text,
    numbered,
    rate_text,
)

__all__ = ["verdict"]


def verdict(summary):
    """Three sentences as HTML: how close, how good, and where they fail.

    Parameters
    ----------
    summary : Summary
    """
    return [_closeness(summary), _goodness(summary), _weakness(summary)]


def _closeness(summary):
    ensemble, rows = summary.ensemble, summary.rows
    fidelity = summary.scores["fidelity"]
    instead = (
        name(ensemble.name)
        if ensemble.origin
        else f"the {plural(ensemble.n_leaves, 'leaf')} of {name(ensemble.name)}"
    )
    is_one = summary.rules.n_rules == 1
    verb, say, follow = (
        ("stands", "says", "follows") if is_one else ("stand", "say", "follow")
    )
    head = f"<b>{plural(summary.rules.n_rules, 'rule')}</b> {verb} for {instead}"
    if summary.outcome.n_classes:
        return (
            f"{head} and {say} what it says on <b>{rate_text(fidelity)}</b> "
            f"of the {plural(len(rows), 'row')} here."
        )
    return (
        f"{head} and {follow} its answers on the {plural(len(rows), 'row')} here with "
        f"R² <b>{fidelity_text(fidelity)}</b>."
    )


def _goodness(summary):
    """Against the truth, beside the ensemble and a guess that is always the same."""
    target, scores, outcome = name(summary.target), summary.scores, summary.outcome
    if summary.rows.y is None:
        return (
            f"How good they are against the truth is not known here: {target} was not "
            "given."
        )
    own, theirs = (
        error_text(scores[key], outcome) for key in ("error", "ensemble_error")
    )
    guess = error_text(summary.baseline.guess_error, outcome)
    if not outcome.n_classes:
        return (
            f"Against {target} their root mean squared error is <b>{own}</b> "
            f"(R² {fidelity_text(scores['r2'])}), the ensemble’s {theirs}, and that of "
            f"the mean of all rows {guess}."
        )
    always = name(outcome.answer_text(summary.baseline.guess))
    auc = scores.get("auc", math.nan)
    ranks = "" if math.isnan(auc) else f"; their AUC is {auc:.3f}"
    no_better = (
        ", so by error alone they are no better than that"
        if scores["error"] >= summary.baseline.guess_error
        else ""
    )
    return (
        f"Against {target} they are wrong on <b>{own}</b> of rows, the ensemble on "
        f"{theirs}, and the answer {always} to everything on {guess}{no_better}{ranks}."
    )


def _weakness(summary):
    """The rule with most mistakes, the weak rules, and whether they are stable."""
    parts = [_most_mistakes(summary), _flagged(summary), _stability(summary)]
    parts = [part for part in parts if part]
    return f"{parts[0][0].upper()}{'; '.join(parts)[1:]}."


def _most_mistakes(summary):
    rows, rules = summary.rows, summary.rules
    against = "the ensemble" if rows.y is None else name(summary.target)
    losses = summary.outcome.losses(rows.expected, rows.predicted)
    if not losses.any():
        return f"they make no mistake against {against} here"
    if not rules.is_list or rules.n_rules == 1:
        return ""
    sums = np.bincount(rows.answering, rows.weight * losses, rules.n_rules)
    k = int(sums.argmax())
    members = rows.members[:, k]
    where = f"rule {k + 1}"
    if summary.outcome.n_classes:
        n_wrong, n_all = int(losses[members].sum()), int(losses.sum())
        return (
            f"they fail most in {where}, with {count(n_wrong)} of "
            f"{plural(n_all, 'mistake')} against {against} on "
            f"{plural(int(members.sum()), 'row')}"
        )
    error = math.sqrt(rows.mean(losses, members))
    return (
        f"they fail most in {where}, where the error against {against} is "
        f"{amount(error)} on {plural(int(members.sum()), 'row')}"
    )


def _flagged(summary):
    weak = [card.number for card in summary.cards if card.flags]
    if not weak:
        return "no rule is flagged as weak"
    verb = "is" if len(weak) == 1 else "are"
    return f"{numbered(weak)} {verb} flagged as weak"


def _stability(summary):
    measured = summary.stability
    if measured is None:
        return "whether they are stable was not measured"
    rare = [
        k + 1 for k in range(len(measured.returns)) if came_back_rarely(k, measured)
    ]
    refits = plural(measured.n_resamples, "refit")
    if not rare:
        return f"every rule came back in most of {refits} on other rows"
    return f"{numbered(rare)} came back in fewer than half of {refits} on other rows"
