"""Sections of overview: head of the page, model and data, settings."""

import math

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import plural
from defragtrees.report.model import read_settings, versions
from defragtrees.report.summary import QUANTILES
from defragtrees.report.text import (
    Table,
    bar,
    count,
    error_text,
    fidelity_text,
    name,
    numbered,
    percent,
    rate_text,
)

MOST_CLASSES = 20


def head(summary):
    """The verdict and the key figures."""
    scores, outcome = summary.scores, summary.outcome
    context = {"tiles": _tiles(summary), "auc": None, "flagged": _flagged(summary)}
    context["stability"] = _stability(summary)
    if summary.rows.y is None:
        return context
    context["errors"] = {
        "rules": error_text(scores["error"], outcome),
        "ensemble": None
        if summary.model is None
        else error_text(scores["ensemble_error"], outcome),
        "guess": error_text(summary.baseline.guess_error, outcome),
        "is_no_better": scores["error"] >= summary.baseline.guess_error,
    }
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
        return "their stability was not measured"
    refits = plural(summary.stability.n_resamples, "refit")
    rare = summary.rarely_back
    if not rare:
        return f"every rule is found again in at least half of {refits} on other rows"
    verb = "is" if len(rare) == 1 else "are"
    return (
        f"{numbered(rare)} {verb} found again in fewer than half of {refits} on other "
        "rows"
    )


def _tiles(summary):
    """Pairs of a number and its label."""
    scores, outcome = summary.scores, summary.outcome
    instead = f"with {plural(summary.rules.n_conditions, 'condition')}"
    if summary.model is not None:
        instead = f"instead of {plural(summary.model.n_leaves, 'leaf')}"
        if summary.model.origin:
            instead = "instead of a black box"
    tiles = [(plural(summary.rules.n_rules, "rule"), instead)]
    fidelity = scores.get("fidelity")
    if fidelity is None:
        pass
    elif outcome.error_is_share:
        tiles.append((percent(fidelity), "agreement with the ensemble"))
    else:
        fit = f"R² {fidelity_text(fidelity)}"
        tiles.append((fit, "agreement with the ensemble (fidelity)"))
    if "error" not in scores:
        covered = percent(scores["coverage"])
        return [*tiles, (covered, "of rows match a rule (coverage)")]
    for prefix, who in (("", "rules"), ("ensemble_", "ensemble")):
        if f"{prefix}error" not in scores:
            continue
        label = f"{outcome.error_name} of the {who}"
        if outcome.error_is_share:
            label = f"error of the {who}"
        if prefix:
            label += summary.trained_note
        tiles.append((error_text(scores[f"{prefix}error"], outcome), label))
    auc = _auc(scores)
    if auc is not None:
        theirs = "of the rules"
        if "ensemble_auc" in scores:
            theirs += f"; ensemble {scores['ensemble_auc']:.3f}{summary.trained_note}"
        tiles.append((f"AUC {auc:.3f}", theirs))
    return tiles


def question(page):
    """Ensemble, rows, limits of the search, and target."""
    summary = page.summary
    rows, outcome, baseline = summary.rows, summary.outcome, summary.baseline
    context = {
        "method": None,
        "n_features": len(rows.rules.feature_names),
        "has_missing": np.isnan(rows.matrix).any(),
        "classes": None,
        "positive": None,
    }
    if summary.simplifier is not None:
        context["method"] = type(summary.simplifier).__name__
        context["limits"] = _limits(summary.simplifier)
        context["imitates_ensemble"] = summary.simplifier.target == "ensemble"
    if outcome.statistic == "mean":
        context["low"], context["middle"], context["high"] = baseline.quantiles
        ends = f"{100 * QUANTILES[0]:.0f} %", f"{100 * QUANTILES[-1]:.0f} %"
        context["levels"] = " and ".join(ends)
    elif len(outcome.labels) <= MOST_CLASSES:
        context["classes"] = _classes(summary)
        if outcome.is_binary:
            context["positive"] = outcome.answer_text(outcome.positive_class)
    return context


def _counted_name(rules):
    """Column header for the rows that the rules were counted on."""
    is_trained = rules.evidence is None or rules.evidence.worth < 1
    return "Training" if is_trained else "Rows counted"


def _limits(simplifier):
    """The requested limits on the number and length of the rules."""
    settings = simplifier.get_params(deep=False)
    limits = {
        name: int(settings[name])
        for name in ("max_rules", "max_conditions", "max_depth")
        if isinstance(settings.get(name), int | np.integer)
    }
    text = "a few rules"
    if "max_rules" in limits:
        text = f"at most {plural(limits['max_rules'], 'rule')}"
    if "max_conditions" in limits:
        text += f" of at most {plural(limits['max_conditions'], 'condition')}"
    if "max_depth" in limits:
        text += f" and a depth of at most {limits['max_depth']}"
    return text


def _classes(summary):
    """The classes, their labels and their base rates."""
    baseline, rules = summary.baseline, summary.rules
    before = rules.training_rates
    lines = []
    for k, label in enumerate(rules.outcome.labels):
        rate = baseline.rates[k]
        line = [name(summary.outcome.answer_text(label))]
        line += [name(label)] if rules.class_labels else []
        line += [count(baseline.n_rows[k]), bar(rate, rate_text(rate))]
        line += [render.share_range(*baseline.intervals[k])]
        lines.append(line + ([] if before is None else [rate_text(before[k])]))
    header = ["Class"] + (["In the data"] if rules.class_labels else [])
    first = len(header)
    header += ["Rows", "Base rate", "95 % interval"]
    header += [] if before is None else [_counted_name(rules)]
    return Table(
        header,
        lines,
        "The classes and their base rates",
        numeric=(first, *range(first + 2, len(header))),
        kind="bars",
    )


def settings(page):
    """Code and command, settings, versions, and the rules as text."""
    summary = page.summary
    own = read_settings(summary.simplifier)
    fitted = None if summary.model is None else summary.model.fitted
    changed = [f"{one.name}={one.value}" for one in own if not one.is_default]
    # Settings of the ensemble that are None by default are left out: they are many.
    theirs = [
        one
        for one in read_settings(fitted)
        if not (one.is_default and one.value == "None")
    ]
    return {
        "method": summary.simplifier and type(summary.simplifier).__name__,
        "call": ", ".join(["ensemble", *changed]),
        "own": own,
        "theirs": theirs,
        "versions": Table(
            ["Package", "Version"],
            list(versions(summary.model).items()),
            "Versions",
            kind="narrow",
            is_quiet=True,
        ),
    }
