"""The head of the page, and the question: the ensemble, the rows, what is predicted."""

import math

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import plural
from defragtrees.report.summary import QUANTILES
from defragtrees.report.text import (
    Table,
    amount,
    bar,
    count,
    error_text,
    fidelity_text,
    name,
    numbered,
    percent,
    rate_text,
)
from defragtrees.rules.profile import training_rates

MOST_CLASSES = 20


def head(summary):
    """The verdict, and the few numbers that one would say first."""
    scores, outcome = summary.scores, summary.outcome
    context = {"tiles": _tiles(summary), "auc": None, "flagged": _flagged(summary)}
    context["stability"] = _stability(summary)
    if summary.rows.y is None:
        return context
    context["errors"] = {
        "rules": error_text(scores["error"], outcome),
        "ensemble": error_text(scores["ensemble_error"], outcome),
        "guess": error_text(summary.baseline.guess_error, outcome),
        "is_no_better": scores["error"] >= summary.baseline.guess_error,
    }
    if summary.is_classes:
        context["guess"] = outcome.answer_text(summary.baseline.guess)
        context["auc"] = _auc(scores)
    return context


def _auc(scores):
    auc = scores.get("auc", math.nan)
    return None if math.isnan(auc) else auc


def _flagged(summary):
    weak = [card.number for card in summary.cards if card.flags]
    if not weak:
        return "no rule is flagged as weak"
    return f"{numbered(weak)} {'is' if len(weak) == 1 else 'are'} flagged as weak"


def _stability(summary):
    if summary.stability is None:
        return "whether they are stable was not measured"
    refits = plural(summary.stability.n_resamples, "refit")
    rare = summary.rarely_back
    if not rare:
        return f"every rule came back in most of {refits} on other rows"
    return f"{numbered(rare)} came back in fewer than half of {refits} on other rows"


def _tiles(summary):
    """Pairs of a number and its label."""
    scores, outcome = summary.scores, summary.outcome
    instead = f"instead of {plural(summary.ensemble.n_leaves, 'leaf')}"
    if summary.ensemble.origin:
        instead = "instead of a model that cannot be read"
    tiles = [(plural(summary.rules.n_rules, "rule"), instead)]
    fidelity = scores["fidelity"]
    if summary.is_classes:
        tiles.append((percent(fidelity), "agreement with the ensemble"))
    else:
        fit = f"R² {fidelity_text(fidelity)}"
        tiles.append((fit, "of the ensemble’s answers (fidelity)"))
    if "error" not in scores:
        covered = percent(scores["coverage"])
        return [*tiles, (covered, "of rows have a rule before the last one")]
    for prefix, who in (("", "rules"), ("ensemble_", "ensemble")):
        if summary.is_classes:
            error = error_text(scores[f"{prefix}error"], outcome)
            tiles.append((error, f"wrong, by the {who}"))
        else:
            error = amount(scores[f"{prefix}rmse"])
            tiles.append((error, f"root mean squared error, {who}"))
    auc = _auc(scores)
    if auc is not None:
        theirs = f"of the rules; {scores['ensemble_auc']:.3f} of the ensemble"
        tiles.append((f"AUC {auc:.3f}", theirs))
    return tiles


def question(page):
    """What ensemble, what rows, what was asked, and what is predicted."""
    summary = page.summary
    rows, outcome, baseline = summary.rows, summary.outcome, summary.baseline
    context = {
        "method": type(summary.simplifier).__name__,
        "wish": _wish(summary.simplifier),
        "imitates_ensemble": summary.simplifier.target == "ensemble",
        "n_features": rows.forest.n_features,
        "has_missing": np.isnan(rows.matrix).any(),
        "classes": None,
    }
    if not summary.is_classes:
        context["low"], context["middle"], context["high"] = baseline.quantiles
        ends = f"{100 * QUANTILES[0]:.0f} %", f"{100 * QUANTILES[-1]:.0f} %"
        context["levels"] = " and ".join(ends)
    elif outcome.n_classes <= MOST_CLASSES:
        context["classes"] = _classes(summary)
        is_pair = outcome.n_classes == 2
        context["told"] = (
            outcome.answer_text(outcome.positive_class) if is_pair else None
        )
    return context


def _wish(simplifier):
    """How many rules, and how long ones, were asked for."""
    settings = simplifier.get_params(deep=False)
    limits = {
        name: int(settings[name])
        for name in ("max_rules", "max_conditions", "max_depth")
        if isinstance(settings.get(name), int | np.integer)
    }
    wish = "a few rules"
    if "max_rules" in limits:
        wish = f"at most {plural(limits['max_rules'], 'rule')}"
    if "max_conditions" in limits:
        wish += f" of at most {plural(limits['max_conditions'], 'condition')}"
    if "max_depth" in limits:
        wish += f", at most {limits['max_depth']} splits deep"
    return wish


def _classes(summary):
    """The classes, what they mean and their base rates."""
    baseline, rules = summary.baseline, summary.rules
    before = training_rates(rules)
    lines = []
    for k, label in enumerate(rules.classes):
        rate = baseline.rates[k]
        line = [name(summary.outcome.answer_text(label))]
        line += [name(label)] if rules.class_labels else []
        line += [count(baseline.n_rows[k]), bar(rate, rate_text(rate))]
        line += [render.share_range(*baseline.intervals[k])]
        lines.append(line + ([] if before is None else [rate_text(before[k])]))
    header = ["Class"] + (["In the data"] if rules.class_labels else [])
    first = len(header)
    header += ["Rows", "Base rate", "95 % interval"]
    header += [] if before is None else ["Training"]
    return Table(
        header,
        lines,
        "The classes and their base rates",
        numeric=(first, *range(first + 2, len(header))),
        kind="bars",
    )
