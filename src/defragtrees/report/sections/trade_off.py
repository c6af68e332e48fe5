"""Other lists and other methods: what more or fewer rules would bring."""

from defragtrees.report.markup import Cell, figure, name, section, table
from defragtrees.report.sections.said import error_text, fidelity_text
from defragtrees.report.wording import percent, plural

__all__ = ["comparison_section", "path_section"]

OTHER_LIST = (
    " The rules above are none of these lists: they were found on other rows or in "
    "another way."
)
MARKS = {"chosen": "chosen", "shown": "shown here"}


def path_section(summary, pictures):
    """The lists from one rule up."""
    path = summary["path"]
    if not path:
        return ""
    kind = _kind(summary)
    against = "" if path["against_y"] else ", here against the ensemble,"
    where = (
        "on rows held out when the path was made"
        if path["is_given"]
        else "on the rows of this report"
    )
    caption = (
        f"{kind}{against} against number of rules, {where}. Bars are one standard "
        "error; the dashed line is the ensemble itself."
    )
    other = OTHER_LIST if path["shown"] is None else ""
    label = "Error against number of rules"
    return section(
        "path",
        "More rules or fewer",
        "<p>Each further rule must earn its place. These are the best lists found of "
        f"each size, and what they would cost or bring.{other}</p>",
        figure("path", label, caption, pictures, 300),
        table(
            ["Size", "Conditions", kind, "Fidelity", "Coverage", "Note"],
            [_list_cells(i, summary) for i in range(len(path["points"]))],
            f"Lists by size, {where}",
            numeric=(1, 2, 3, 4),
            kind="bars",
        ),
    )


def _kind(summary):
    return "Error" if summary["task"] == "classification" else "Squared error"


def _list_cells(i, summary):
    path = summary["path"]
    point = path["points"][i]
    error = error_text(point["error"], summary)
    return [
        plural(point["n_rules"], "rule"),
        f"{point['n_conditions']:.1f}",
        f"{error} ± {error_text(point['standard_error'], summary)}",
        fidelity_text(point["fidelity"]),
        percent(point["coverage"]),
        ", ".join(words for mark, words in MARKS.items() if path[mark] == i),
    ]


def comparison_section(summary, pictures):
    """Other methods on the same ensemble."""
    found = summary["comparison"]
    if not found:
        return ""
    kind = _kind(summary)
    over = (
        "one split into training and test rows"
        if found["n_splits"] == 1
        else f"means over {found['n_splits']} splits into training and test rows"
    )
    caption = (
        f"{kind} against number of rules; lower left is better. The dashed line is the "
        "ensemble itself."
    )
    label = "Error against number of rules, by method"
    return section(
        "comparison",
        "Other methods",
        f"<p>The same ensemble simplified by other methods, {over}. The ensemble’s own "
        f"error there: {error_text(found['ensemble_error'], summary)}.</p>",
        figure("comparison", label, caption, pictures, 320),
        table(
            ["Method", "Rules", "Conditions", kind, "Fidelity", "Coverage", "Time"],
            [_method_cells(row, summary) for row in found["rows"]],
            "Methods compared",
            numeric=(1, 2, 3, 4, 5, 6),
            kind="bars",
        ),
        *(
            f"<p>{_method_name(row)} failed: {name(row['failure'])}</p>"
            for row in found["rows"]
            if row["failure"] is not None
        ),
    )


def _method_name(row):
    budget = row["budget"]
    return Cell(name(row["method"]) + ("" if budget is None else f", at most {budget}"))


def _method_cells(row, summary):
    if row["failure"] is not None:
        return [_method_name(row), *["–"] * 5, "failed"]
    error = error_text(row["error"], summary)
    if summary["comparison"]["n_splits"] > 1:
        error += f" ± {error_text(row['error_std'], summary)}"
    return [
        _method_name(row),
        f"{row['n_rules']:.4g}",
        f"{row['n_conditions']:.1f}",
        error,
        fidelity_text(row["fidelity"]),
        percent(row["coverage"]),
        f"{row['seconds']:.2f} s",
    ]
