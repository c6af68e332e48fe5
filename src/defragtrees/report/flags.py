"""Why a rule is weak: reasons that a reader should see beside it."""

import math

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import plural
from defragtrees.outcomes.intervals import QUANTILE, wilson_interval
from defragtrees.report.wording import amount, count, rate_text

__all__ = ["RARE", "came_back_rarely", "rule_flags"]

WIDE = 0.2  # an interval of a rate that is wider says little
AS_WIDE = 0.9  # of the spread of all rows, from which on a rule's is no narrower
RARE = 0.01  # share of the rows below which a rule is said to answer few
FEWEST = 5  # rows on which a rule may be called wrong more often than right
WEAK = 0.5  # a rule that came back in fewer refits is called so


def rule_flags(rows, k, baseline, stability=None, has_costs=False):
    """Reasons in words, the gravest first; none at a rule that is sound.

    Parameters
    ----------
    rows : AnsweredRows
    k : int
        Number of the rule, from 0.
    baseline : Baseline
    stability : RuleStability, optional
    has_costs : bool
        Whether mistakes differ in what they cost, so that a rule may well be wrong
        more often than right.
    """
    is_classes = bool(rows.rules.outcome.n_classes)
    reasons = []
    if is_classes and not has_costs:
        reasons.append(_mostly_wrong(rows, k))
    reasons += (_rate_flags if is_classes else _number_flags)(rows, k, baseline)
    reasons += [_rare(rows, k), _unstable(k, stability)]
    return tuple(filter(None, reasons))


def came_back_rarely(k, stability):
    """Whether a rule came back in fewer than half of the refits."""
    return stability.returns[k] < WEAK * stability.n_resamples


def _mostly_wrong(rows, k):
    members = rows.members[:, k]
    if rows.y is None or members.sum() < FEWEST:
        return ""
    if rows.mean(rows.predicted == rows.y, members) >= 0.5:
        return ""
    n_right = int((rows.predicted == rows.y)[members].sum())
    return (
        f"It is wrong more often than right here: right on {count(n_right)} of "
        f"{plural(int(members.sum()), 'row')}."
    )


def _rate_flags(rows, k, baseline):
    """An interval that is wide, and a rate that is that of all rows."""
    rules = rows.rules
    rule = list(rules)[k]
    place = rules.outcome.told_place(rule)
    rate, n_rows, whose = _observed_rate(rows, k, place)
    if rate is None:
        return []
    low, high = wilson_interval(rate, n_rows)
    reasons = []
    if high - low > WIDE:
        reasons.append(
            f"Its rate is unsure: {render.share_range(low, high)} from "
            f"{render.count(n_rows)} {whose}."
        )
    base = rules.training_rates or (baseline.rates if baseline.is_of_y else None)
    if rule.conditions and base is not None and low <= base[place] <= high:
        reasons.append(
            f"Its rate, {rate_text(rate)}, is hardly another than the base rate, "
            f"{rate_text(base[place])}."
        )
    return reasons


def _observed_rate(rows, k, place):
    """The rate of a class under a rule: of training rows or, unknown, of these."""
    rule = list(rows.rules)[k]
    if rule.rates is not None and rule.n_rows > 0:
        return rule.rates[place], rule.n_rows, "training rows"
    members = rows.members[:, k]
    weight = float(rows.weight[members].sum())
    if rows.y is None or rows.rules.decision == "average" or not weight > 0:
        return None, 0.0, ""
    return rows.mean(rows.y == rows.rules.classes[place], members), weight, "rows here"


def _number_flags(rows, k, baseline):
    """Rows that are as spread as all are, and an answer that is that of all rows."""
    rule, reasons = list(rows.rules)[k], []
    if rows.rules.decision in ("points", "average"):
        return reasons
    if rule.quantiles is not None and baseline.quantiles:
        width = rule.quantiles[1] - rule.quantiles[0]
        everyone = baseline.quantiles[-1] - baseline.quantiles[0]
        if rule.conditions and width >= AS_WIDE * everyone > 0:
            reasons.append(
                f"Its rows are as spread as all are: {amount(width)} between the 10 "
                f"and 90 % points, {amount(everyone)} over all rows here."
            )
    if rule.spread and rule.n_rows > 0 and rule.conditions:
        reach = QUANTILE * rule.spread / math.sqrt(rule.n_rows)
        if abs(rule.prediction - baseline.guess) <= reach:
            reasons.append(
                f"Its answer is hardly another than the mean of all rows here, "
                f"{amount(baseline.guess)}."
            )
    return reasons


def _rare(rows, k):
    members = rows.members[:, k]
    if not list(rows.rules)[k].conditions or rows.share(members) >= RARE:
        return ""
    verb = "answers" if rows.rules.is_list else "holds in"
    return (
        f"It {verb} under 1 % of the rows here: {count(np.sum(members))} of "
        f"{count(len(rows))}."
    )


def _unstable(k, stability):
    if stability is None or not came_back_rarely(k, stability):
        return ""
    return (
        f"It is not stable: it came back in {stability.returns[k]} of "
        f"{plural(stability.n_resamples, 'refit')} on other rows."
    )
