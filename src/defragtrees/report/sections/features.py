"""Which features count for the rules and for the ensemble."""

import numpy as np

from defragtrees._utils.formatting import plural
from defragtrees.report.markup import bar, breakable, table, text
from defragtrees.report.wording import count, percent

__all__ = ["shown_features", "write"]

MOST_SHOWN = 20
TOP_UNUSED = 5


def shown_features(use):
    """Numbers of the used features and of the most important unused ones."""
    unused = [
        int(j)
        for j in np.argsort(-use.importance, kind="stable")
        if not use.n_rules[j] and use.importance[j] > 0
    ]
    return [*use.used, *unused[:TOP_UNUSED]][:MOST_SHOWN]


def write(page):
    """What the rules use beside what the ensemble uses."""
    use, names = page.summary.features, page.summary.rules.shown_names
    shown = shown_features(use)
    conditions = use.n_sides / max(1, use.n_sides.sum())
    largest = max([*conditions[shown], *use.importance[shown], 1e-9])
    lines = [
        [
            breakable(names[j]),
            count(use.n_rules[j]) if use.n_rules[j] else "–",
            bar(conditions[j] / largest, percent(conditions[j])),
            bar(use.importance[j] / largest, percent(use.importance[j]), "second"),
        ]
        for j in shown
    ]
    return [
        _words(use),
        table(
            ["Feature", "Rules", "Conditions", "Importance"],
            lines,
            "Features of the rules and of the ensemble",
            numeric=(1,),
            kind="features",
        ),
    ]


def _words(use):
    n_used = len(use.used)
    share = percent(use.importance[use.used].sum())
    made_up = f"; these make up {share} of the ensemble’s importance" if n_used else ""
    words = (
        f"<p>The rules use {count(n_used)} of "
        f"{plural(len(use.n_rules), 'feature')}{made_up}. Importance is: "
        f"{text(use.source)}. Features that the rules do not use are listed if "
        "they matter most of those to the ensemble. Below, “rules” is the number of "
        "rules that ask about a feature, and “conditions” its share of all "
        "conditions.</p>"
    )
    if n_used > MOST_SHOWN:
        words += (
            f"<p>{count(n_used - MOST_SHOWN)} more used features are not listed.</p>"
        )
    return words
