"""How close the rules are to the ensemble, and where they part."""

from defragtrees.report.markup import Cell, clamped, name, section, table
from defragtrees.report.sections.said import error_text, fidelity_text
from defragtrees.report.wording import amount, count, percent, plural

__all__ = ["closeness_section", "disagreement_section"]

ANSWERING = (
    ("Rules as printed", ""),
    ("Posterior behind them", "posterior_"),
    ("Ensemble", "ensemble_"),
)
MEANINGS = {
    "classification": (
        "the share of rows on which rules and ensemble say the same",
        "the share of rows with a wrong answer",
    ),
    "regression": (
        "R², how much of the variance of the ensemble’s answers the rules repeat",
        "the mean squared distance to y",
    ),
}


def closeness_section(summary):
    """Fidelity and error, and what the ensemble says where the rules say something."""
    is_classification = summary["task"] == "classification"
    kind = "Error" if is_classification else "Squared error"
    header = ["Answers of", f"{kind}, these rows", "Fidelity, these rows"]
    header += [f"{kind}, training", "Fidelity, training"]
    fidelity, error = MEANINGS[summary["task"]]
    return section(
        "closeness",
        "How close to the ensemble",
        f"<p>Fidelity is {fidelity}; error is {error}. “Training” are the rows that "
        "the rules were found on.</p>",
        table(header, _scores(summary), "Error and fidelity", numeric=(1, 2, 3, 4)),
        _pairs(summary["closeness"])
        if is_classification
        else _levels(summary["closeness"]),
    )


def _scores(summary):
    """One line for the rules, what is behind them, and the ensemble."""
    rows = []
    for label, prefix in ANSWERING:
        cells = []
        for scores in (summary["scores"], summary["training"]):
            error = scores.get(f"{prefix}error")
            fidelity = scores.get(f"{prefix}fidelity")
            cells.append("–" if error is None else error_text(error, summary))
            cells.append("–" if fidelity is None else fidelity_text(fidelity))
        if any(cell != "–" for cell in cells):
            rows.append([label, *cells])
    return rows


def _levels(found):
    """What the ensemble says on the rows of each rule."""
    rows = [
        [
            f"Rule {row['number']}",
            name(row["then"]),
            count(row["n_rows"]),
            _range(row["quantiles"], found["range"]),
            *(amount(level) for level in row["quantiles"]),
        ]
        for row in found["rows"]
    ]
    return table(
        ["Rule", "Says", "Rows", "Ensemble’s answers", "10 %", "Median", "90 %"],
        rows,
        "What the ensemble says on the rows of each rule: the middle 80 %",
        numeric=(1, 2, 4, 5, 6),
        kind="bars",
    )


def _pairs(found):
    """How often the rules say one class and the ensemble another."""
    labels = found["classes"]
    if not labels:
        return f"<p>There are {found['n_classes']} classes, too many for a table.</p>"
    rows = [
        [
            name(label),
            *(
                Cell(f'<span class="{"same" if i == j else "other"}">{count(n)}</span>')
                for j, n in enumerate(line)
            ),
        ]
        for i, (label, line) in enumerate(zip(labels, found["counts"], strict=True))
    ]
    return table(
        ["Rules say", *(Cell(f"ensemble: {name(label)}") for label in labels)],
        rows,
        "Rows by what the rules say and what the ensemble says",
        numeric=range(1, len(labels) + 1),
        kind="pairs",
    )


def _range(quantiles, ends):
    """A cell with a stretch from the first to the last quantile, and the median."""
    width = (ends[1] - ends[0]) or 1.0
    low, middle, high = (100 * (q - ends[0]) / width for q in quantiles)
    return Cell(
        '<span class="range" aria-hidden="true">'
        f'<span style="left:{low:.1f}%;width:{max(0.5, high - low):.1f}%"></span>'
        f'<i style="left:{middle:.1f}%"></i></span>'
    )


def disagreement_section(summary):
    """The rows on which rules and ensemble part most."""
    found = summary["disagreements"]
    n_rows = summary["question"]["n_rows"]
    if not found["rows"]:
        words = f"Rules and ensemble say the same on all {plural(n_rows, 'row')}."
        return section("disagreements", "Where they disagree", f"<p>{words}</p>")
    words = _how_often(found, summary)
    words += (
        " Values that the answering rule asks about are in bold; a row’s number is its "
        "place among the rows of this report."
    )
    if found["n_features_left_out"]:
        more = plural(found["n_features_left_out"], "further feature")
        words += f" {more} of the rules would not fit."
    header = ["Row", "Rule", "Rules say", "Ensemble says"]
    header += ["y"] if found["has_y"] else []
    last = len(header) + len(found["features"])
    return section(
        "disagreements",
        "Where they disagree",
        f"<p>{words}</p>",
        table(
            [*header, *(clamped(feature) for feature in found["features"])],
            [_disagreeing(row, found["has_y"]) for row in found["rows"]],
            "Rows on which rules and ensemble disagree most",
            numeric=range(len(header), last),
            kind="wide",
        ),
    )


def _how_often(found, summary):
    n_shown = len(found["rows"])
    if summary["task"] == "regression":
        return (
            f"Rules and ensemble are {amount(found['mean_distance'], 3)} apart on "
            f"average. These are the {n_shown} rows on which they are farthest apart."
        )
    which = f"These are the {n_shown} on which the ensemble is surest."
    if n_shown == found["n"]:
        which = "These are all of them, the ensemble’s surest first."
    if found["n"] == 1:
        which = "This is the row."
    return (
        f"Rules and ensemble differ on {count(found['n'])} of "
        f"{plural(summary['question']['n_rows'], 'row')} ({percent(found['share'])}). "
        f"{which}"
    )


def _disagreeing(row, has_y):
    sure = "" if row["sure"] is None else f" ({percent(row['sure'])} sure)"
    values = [
        Cell(f"<b>{name(value)}</b>") if is_asked else name(value)
        for value, is_asked in zip(row["values"], row["asked"], strict=True)
    ]
    truth = [name(row["y"])] if has_y else []
    return [
        count(row["row"]), row["rule"], name(row["says"]),
        Cell(f"{name(row['ensemble'])}{sure}"),
        *truth, *values,
    ]  # fmt: skip
