"""What was asked: the ensemble, the rows, and the first few numbers."""

import math

import numpy as np

from defragtrees._utils.formatting import plural
from defragtrees.report.markup import name, text
from defragtrees.report.sections.answers import answers_table
from defragtrees.report.wording import (
    amount,
    error_text,
    fidelity_text,
    percent,
    sentence,
)

__all__ = ["tiles", "write"]

TOO_GOOD = (
    "If the ensemble was trained on the rows shown here, its error here is too good."
)
BY_WEIGHT = " Shares and errors are by the weights of the rows; counts are of rows."


def write(page):
    """What ensemble, what rows, what was asked, in a few sentences."""
    summary = page.summary
    ensemble, rows, rules = summary.ensemble, summary.rows, summary.rules
    target_name = name(summary.target)
    library = f" ({text(ensemble.library)})" if ensemble.library else ""
    target = (
        "the ensemble’s own answers"
        if summary.simplifier.target == "ensemble"
        else f"the labels {target_name}, as the ensemble did"
    )
    truth = (
        f"and their true answers, {target_name}, are known"
        if rows.y is not None
        else "without their true answers, so only agreement with the ensemble is known"
    )
    missing = "; some values are missing" if np.isnan(rows.matrix).any() else ""
    each = f", with {rules.n_conditions:.1f} conditions each on average"
    what = (
        "is a model that cannot be read, and answers what it is asked"
        if ensemble.origin
        else f"answers with {plural(ensemble.n_trees, 'tree')} that have "
        f"{plural(ensemble.n_leaves, 'leaf')} together, too many to read"
    )
    return [
        f"<p><strong>{name(sentence(ensemble.name))}</strong>{library} {what}. "
        f"<strong>{text(type(summary.simplifier).__name__)}</strong> was asked to say "
        f"nearly the same in {_wish(summary.simplifier)}, and imitates {target}. It "
        f"found <strong>{plural(rules.n_rules, 'rule')}</strong>"
        f"{each if rules.n_rules > 1 else ''}.</p>",
        f"<p>Everything below is measured on {plural(len(rows), 'row')} of "
        f"{plural(rows.forest.n_features, 'feature')}{missing}, {truth}."
        f"{BY_WEIGHT if summary.is_weighted else ''}</p>",
        *answers_table(summary),
    ]


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


def _error_tiles(scores, outcome):
    """Errors of rules and ensemble, and how well they tell classes apart."""
    whose = (("", "rules"), ("ensemble_", "ensemble"))
    if not outcome.n_classes:
        return [
            (amount(scores[f"{prefix}rmse"]), f"root mean squared error, {who}")
            for prefix, who in whose
        ]
    shown = [
        (error_text(scores[f"{prefix}error"], outcome), f"wrong, by the {who}")
        for prefix, who in whose
    ]
    auc = scores.get("auc", math.nan)
    if not math.isnan(auc):
        other = f"{scores['ensemble_auc']:.3f}"
        shown.append((f"AUC {auc:.3f}", f"of the rules; {other} of the ensemble"))
    return shown


def _unbroken(value):
    """A headline number that stays on one line."""
    return text(value).replace(" ", "\N{NO-BREAK SPACE}")


def tiles(summary):
    """The few numbers that one would say first."""
    scores, outcome = summary.scores, summary.outcome
    fidelity = scores["fidelity"]
    shown = [
        (
            plural(summary.rules.n_rules, "rule"),
            "instead of a model that cannot be read"
            if summary.ensemble.origin
            else f"instead of {plural(summary.ensemble.n_leaves, 'leaf')}",
        ),
        (percent(fidelity), "agreement with the ensemble")
        if outcome.n_classes
        else (f"R² {fidelity_text(fidelity)}", "of the ensemble’s answers (fidelity)"),
    ]
    if "error" in scores:
        shown += _error_tiles(scores, outcome)
    else:
        covered = percent(scores["coverage"])
        shown.append((covered, "of rows have a rule before the last one"))
    parts = "".join(
        f"<div><dt>{text(label)}</dt><dd>{_unbroken(value)}</dd></div>"
        for value, label in shown
    )
    caution = f'<p class="hint">{TOO_GOOD}</p>' if "error" in scores else ""
    return f'<dl class="tiles">{parts}</dl>{caution}'
