"""How good rules are, as a sentence and tables."""

import math

from defragtrees import render
from defragtrees.sentences import decision_text

__all__ = ["calibration_text", "scores_text"]

SOURCES = (("rules", ""), ("posterior", "posterior_"), ("ensemble", "ensemble_"))


def scores_text(rules, scores, where, is_short=False):
    """The size of the rules, and what they are worth beside the ensemble.

    Parameters
    ----------
    rules : RuleSet
    scores : dict
        What `evaluate` gave.
    where : str
        Which rows it was measured on.
    is_short : bool, default=False
        Leave out how many rules hold in a row.
    """
    sources = [
        (label, prefix)
        for label, prefix in SOURCES
        if f"{prefix}fidelity" in scores or f"{prefix}error" in scores
    ]
    lines = []
    for name, label in _shown(rules, scores):
        values = [scores.get(f"{prefix}{name}") for _, prefix in sources]
        cells = [_cell(value, rules.outcome.n_classes) for value in values]
        if any(cells):
            lines.append([label, *cells])
    header = [f"on {where}", *(label for label, _ in sources)]
    parts = [_size(rules, scores, is_short), render.text_table(header, lines)]
    notes = [*_class_notes(rules, scores), decision_text(rules), *_unanswered(rules)]
    notes = list(filter(None, notes))
    return "\n\n".join(parts + ([" ".join(notes)] if notes else []))


def _shown(rules, scores):
    """Names of what is shown, and their labels."""
    outcome = rules.outcome
    # Numbers have their errors in the units of y, if there is y.
    shown = [("error", outcome.error_name)] if outcome.n_classes else []
    has_costs = rules.costs is not None or rules.threshold is not None
    shown += [
        (measure.name, measure.label)
        for measure in outcome.measures()
        # Without costs it is the error.
        if measure.name != "expected_cost" or has_costs
    ]
    return [*shown, ("fidelity", "agreement with the ensemble")]


def _cell(value, n_classes):
    if value is None:
        return ""
    if math.isnan(value):
        return "–"
    # Points stand below each other where all is near one.
    return f"{value:.4f}" if n_classes and value < 10 else render.rounded(value)


def _class_notes(rules, scores):
    """Which class the measures of one class are of."""
    names = [m.label for m in rules.outcome.measures() if m.is_of_class]
    if not names or "precision" not in scores:
        return []
    text = f"{', '.join(names[:-1])} and {names[-1]} are ".capitalize()
    if len(rules.classes) == 2:
        return [f"{text}those of {_class_name(rules, rules.outcome.told_class)}."]
    return [f"{text}means over the classes, as is AUC."]


def _class_name(rules, label):
    return render.plain(rules.outcome.answer_text(label))


def _unanswered(rules):
    missing = rules.unanswered_classes
    if not missing:
        return []
    names = ", ".join(_class_name(rules, label) for label in missing[:5])
    return [f"No rule answers {names}{', ...' if missing[5:] else ''}."]


def calibration_text(rules, rows, where):
    """What each rule tells and what is observed, as a table.

    Parameters
    ----------
    rules : RuleSet
    rows : list of dict
        What `metrics.calibration` gave.
    where : str
        Which rows it was observed on.
    """
    outcome = rules.outcome
    text = render.share if outcome.n_classes else outcome.short_text
    is_many = outcome.n_classes > 2
    lines = []
    for row in rows:
        line = [str(row["rule"])]
        if is_many:
            line.append(_class_name(rules, row["class"]))
        if row["n_rows"]:
            line += [text(row[name]) for name in ("told", "observed")]
            line.append(f"{text(row['low'])} to {text(row['high'])}")
        else:
            line += [""] * 3
        lines.append([*line, f"{row['n_rows']:,.6g}"])
    header = ["rule", *(["class"] if is_many else []), "told", "observed"]
    header += ["95 % interval", "rows"]
    title = f"Told and observed on {where}"
    if outcome.n_classes == 2:
        title += f", for {_class_name(rules, outcome.told_class)}"
    return f"{title}:\n{render.text_table(header, lines)}\n{_mean_gap(rules, rows)}"


def _mean_gap(rules, rows):
    seen = [row for row in rows if row["n_rows"]]
    gaps = [row["n_rows"] * abs(row["told"] - row["observed"]) for row in seen]
    gap = sum(gaps) / sum(row["n_rows"] for row in seen)
    text = f"{100 * gap:.1f} points" if rules.classes else render.rounded(gap)
    return f"On average over rows they differ by {text}."


def _size(rules, scores, is_short):
    if scores["n_rules"] == 1:
        return "1 rule without conditions."
    size = f"{scores['n_rules']} rules with {scores['n_conditions']:.1f} conditions "
    if rules.decision == "first":
        overlap = "" if is_short else f", {scores['overlap']:.2f} rules a row"
        return (
            f"{size}each; they cover {render.share(scores['coverage'])} of the rows "
            f"before the otherwise{overlap}."
        )
    if is_short:
        return f"{size}each."
    if rules.decision == "partition":
        return f"{size}each; just one of them holds in a row."
    if rules.decision == "points":
        return (
            f"{size}each; on average {scores['overlap']:.2f} of them hold in a row. "
            "Their points and those of the base add up."
        )
    if rules.decision == "standalone":
        return (
            f"{size}each, each told of all rows in which it holds; they cover "
            f"{render.share(scores['coverage'])} of the rows, "
            f"{scores['overlap']:.2f} rules a row."
        )
    return (
        f"{size}each; on average {scores['overlap']:.2f} of them hold in a row, and "
        "the last one always does. Their mean by weight is the answer."
    )
