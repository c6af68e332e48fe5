"""Which features count, and how far the rules reach."""

from defragtrees.report.markup import Cell, bar, breakable, section, table, text
from defragtrees.report.sections.said import answer_badge
from defragtrees.report.wording import amount, count, percent, plural

__all__ = ["feature_section", "overlap_section"]


def feature_section(summary):
    """What the rules use beside what the ensemble uses."""
    found = summary["features"]
    largest = max([*(max(r["use"], r["importance"]) for r in found["rows"]), 1e-9])
    rows = [
        [
            breakable(row["name"]),
            count(row["n_rules"]) if row["n_rules"] else "–",
            bar(row["use"] / largest, percent(row["use"])),
            bar(row["importance"] / largest, percent(row["importance"]), "second"),
        ]
        for row in found["rows"]
    ]
    return section(
        "features",
        "Which features count",
        _feature_words(found),
        table(
            ["Feature", "Rules", "Conditions", "Importance"],
            rows,
            "Features of the rules and of the ensemble",
            numeric=(1,),
            kind="features",
        ),
    )


def _feature_words(found):
    made_up = (
        f"; these make up {percent(found['share_of_importance'])} of the ensemble’s "
        "importance"
        if found["n_used"]
        else ""
    )
    words = (
        f"<p>The rules use {count(found['n_used'])} of "
        f"{plural(found['n_features'], 'feature')}{made_up}. Importance is: "
        f"{text(found['source'])}. Features that the rules do not use are listed if "
        "they matter most of those to the ensemble. Below, “rules” is the number of "
        "rules that ask about a feature, and “conditions” its share of all "
        "conditions.</p>"
    )
    if found["n_left_out"]:
        words += (
            f"<p>{count(found['n_left_out'])} more used features are not listed.</p>"
        )
    return words


def overlap_section(summary):
    """How much of the rows the rules reach, and how much they share."""
    found = summary["overlap"]
    is_list = summary["decision"] == "first"
    is_partition = summary["decision"] == "partition"
    rows = []
    for card in summary["rules"]:
        holds = card["share"] if is_partition else card["holds"]
        line = [
            f"Rule {card['number']}",
            Cell(answer_badge(summary, card["number"] - 1, card["then"])),
            bar(holds, percent(holds), "second"),
        ]
        rows.append([*line, *([_answers(card)] if is_list else [])])
    header = ["Rule", "Says", "Holds in", *(["Answers"] if is_list else [])]
    words = "In each row exactly one rule holds."
    if not is_partition:
        words = (
            f"In {percent(found['coverage'])} of rows a rule before the last one "
            f"holds; on average {amount(found['mean'], 3)} of them hold in a row."
        )
    if is_list:
        words += (
            " A rule answers less than it holds in where an earlier one answered "
            "first: the later ones must be read with that in mind."
        )
    return section(
        "overlap",
        "Coverage and overlap",
        f"<p>{words}</p>",
        table(header, rows, "Where each rule holds, as a share of rows", kind="bars"),
        "" if is_partition else _holding(found),
    )


def _answers(card):
    return bar(card["share"], percent(card["share"]))


def _holding(found):
    """How many rules hold in how many rows."""
    rows = [
        [
            "none" if row["n_holding"] == 0 else plural(row["n_holding"], "rule"),
            count(row["n_rows"]),
            bar(row["share"], percent(row["share"])),
        ]
        for row in found["counts"]
    ]
    return table(
        ["Rules that hold, the last left out", "Rows", "Share"],
        rows,
        "How many rules hold in a row",
        numeric=(1,),
        kind="bars",
    )
