"""Sections on data and model: rows and classes, disagreements, features, settings."""

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import count
from defragtrees.report.model import changed_settings, versions
from defragtrees.report.summary import QUANTILES
from defragtrees.report.text import (
    Html,
    Table,
    bar,
    breakable,
    clamped,
    name,
    percent,
    prediction_text,
    rate_text,
    value_text,
)

MOST_CLASSES = 20
MOST_SHOWN = 20
TOP_UNUSED = 5


def data(page):
    """Model, rows, and the distribution of the target."""
    summary = page.summary
    rows, outcome, baseline = summary.rows, summary.outcome, summary.baseline
    context = {
        "n_features": rows.matrix.shape[1],
        "has_missing": np.isnan(rows.matrix).any(),
        "counted": summary.rules._evidence_text(),
        "classes": None,
        "positive": None,
    }
    if outcome.statistic == "mean":
        low, middle, high = baseline.quantiles
        levels = f"{render.percent(QUANTILES[0])} and {render.percent(QUANTILES[-1])}"
        return context | {"low": low, "middle": middle, "high": high, "levels": levels}
    if outcome.n_classes <= MOST_CLASSES:
        context["classes"] = _classes(summary)
    if outcome.is_binary:
        context["positive"] = outcome.view.prediction(outcome.positive_class)
    return context


def _classes(summary):
    """The classes, their labels and their base rates."""
    baseline, rules = summary.baseline, summary.rules
    before = rules._training_rates
    lines = []
    for k, label in enumerate(rules.outcome.labels):
        rate = baseline.rates[k]
        line = [name(summary.outcome.view.prediction(label))]
        line += [name(label)] if rules.class_labels else []
        [colour] = summary.colours.of([label])
        line += [count(baseline.n_rows[k]), bar(rate, rate_text(rate), colour)]
        line += [render.share_range(*baseline.intervals[k])]
        lines.append(line + ([] if before is None else [rate_text(before[k])]))
    header = ["Class"] + (["In the data"] if rules.class_labels else [])
    first = len(header)
    header += ["Rows", "Base rate", "95 % interval"]
    header += [] if before is None else ["Base rate in the rows of the estimates"]
    return Table(
        header,
        lines,
        "The classes and their base rates",
        numeric=(first, *range(first + 2, len(header))),
    )


def settings(page):
    """Code and command, settings that are not the default, and versions."""
    summary = page.summary
    method = None if summary.simplifier is None else type(summary.simplifier).__name__
    return {
        "method": method,
        "own": changed_settings(summary.simplifier),
        "theirs": changed_settings(summary.model and summary.model.fitted),
        "versions": " · ".join(
            f"{package} {version}"
            for package, version in versions(summary.model).items()
        ),
    }


def disagreements(page):
    """The rows on which rules and model disagree most."""
    summary, rules = page.summary, page.summary.rules
    if summary.model is None:
        return None
    differing, rows = summary.disagreements, summary.rows
    # Where rules combine, no single one is to blame.
    is_one = rules._is_exclusive
    header = ["Row", *(["Rule"] if is_one else []), "Rules", "Model"]
    header += [name(summary.target)] if rows.y is not None else []
    names = [clamped(rules._vocabulary.axis_names[j]) for j in differing.features]
    lines = []
    for i in differing.worst:
        k = int(rows.deciding[i]) if is_one else None
        columns = [rows.predicted, rows.model_predictions]
        columns += [] if rows.y is None else [rows.y]
        predicted, model, *truth = (
            name(prediction_text(column[i], summary.outcome)) for column in columns
        )
        if rows.sureness is not None:
            model = Html(f"{model} ({percent(rows.sureness[i])})")
        conditions = () if k is None else list(rules)[k].conditions
        used = {condition.feature for condition in conditions}
        values = []
        for j in differing.features:
            scale, labels = rules._vocabulary.scales[j], rules.categories[j]
            text = name(value_text(rows.matrix[i, j], labels, scale=scale))
            values.append({"kind": "bold", "text": text} if j in used else text)
        number = [k + 1] if is_one else []
        lines.append([count(i + 1), *number, predicted, model, *truth, *values])
    return {
        "differing": differing,
        "is_one": is_one,
        "rows": Table(
            [*header, *names],
            lines,
            "Rows on which rules and model disagree most",
            numeric=range(len(header), len(header) + len(names)),
            kind="wide",
        ),
    }


def shown_features(use):
    """Indices of the used features and of the most important unused ones."""
    if use.importance is None:
        return use.used[:MOST_SHOWN]
    unused = [
        int(j)
        for j in np.argsort(-use.importance, kind="stable")
        if not use.n_rules[j] and use.importance[j] > 0
    ]
    return [*use.used, *unused[:TOP_UNUSED]][:MOST_SHOWN]


def features(page):
    """Features in the rules and their importance in the model."""
    use, names = page.summary.features, page.summary.rules._vocabulary.names
    shown = shown_features(use)
    conditions = use.n_sides / max(1, use.n_sides.sum())
    is_known = use.importance is not None
    importance = use.importance if is_known else np.zeros(len(names))
    largest = max([*conditions[shown], *importance[shown], 1e-9])
    lines = []
    for j in shown:
        line = [
            breakable(names[j]),
            count(use.n_rules[j]) if use.n_rules[j] else "–",
            bar(conditions[j] / largest, percent(conditions[j])),
        ]
        if is_known:
            share = importance[j]
            line.append(bar(share / largest, percent(share), "second"))
        lines.append(line)
    header = ["Feature", "Rules", "Conditions"]
    return {
        "use": use,
        "n_used": len(use.used),
        "share": importance[use.used].sum() if is_known else None,
        "n_more": len(use.used) - MOST_SHOWN,
        "features": Table(
            header + (["Importance"] if is_known else []),
            lines,
            "Features of the rules",
            numeric=(1,),
            kind="features",
        ),
    }
