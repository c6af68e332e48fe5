"""Tables and plots of kept results, made when the site is built.

``{quality-table}``, ``{quality-means}``, ``{quality-plot}``, ``{quality-ahead}`` and
``{quality-losses}`` show `benchmarks/results/quality.csv`; ``{beside-table}`` shows
`ten_rules.csv`. Tables can be sorted where scripts run (`_static/tables.js`), and read
without.
"""

import html
import io
from pathlib import Path

import pandas as pd
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

__all__ = ["setup"]

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
AS_SHORT = "ours, conditions of"
NAMES = {
    "ours": "defragtrees",
    "ours, probability": 'defragtrees, criterion="probability"',
    "ours, error": 'defragtrees, criterion="error"',
    "ours, points": "defragtrees, points",
}
BOUNDS = ("base rate", "model")
RARE = "_rare"
MANY_ROWS = 100
MEASURES = {"error": "error", "auc": "AUC", "log_loss": "log loss"}
PLOTTED = ("ours", "tree on y", "tree on probabilities", "optimal tree", "FIGS")


def read_quality():
    """Means over seeds by set, model, method and number of rules."""
    results = pd.read_csv(RESULTS / "quality.csv")
    results = results[(results.budget > 0) | results.method.isin(BOUNDS)]
    # Lists as short as a tree have no number of rules to keep to.
    results = results[~results.method.str.startswith(AS_SHORT)]
    results["in_all"] = results.n_conditions.where(results.budget > 0)
    keys = ["data", "model", "method", "budget"]
    columns = ["error", "auc", "log_loss", "n_rules", "in_all"]
    means = results.groupby(keys, sort=False)[columns].mean().reset_index()
    means["method"] = means.method.replace(NAMES)
    return means


def two_class_means():
    """By method and number of rules, over the sets with two classes."""
    means = read_quality()
    has_both = means.log_loss.notna() & ~means.data.str.endswith(RARE)
    part = means[has_both & (means.budget > 0)]
    columns = ["error", "auc", "log_loss", "n_rules", "in_all"]
    return part.groupby(["method", "budget"], sort=False)[columns].mean().reset_index()


def behind():
    """Where another method is ahead of our list: a row for each, with the difference.

    One for each set, model, number of rules, measure and method, of all that there
    are; `gap` is above 0 where the other is ahead.
    """
    means = read_quality()
    means = means[means.budget > 0]
    keys = ["data", "model", "budget"]
    is_ours = means.method.isin(NAMES.values())
    parts = []
    for measure in MEASURES:
        ours = means[means.method == NAMES["ours"]].set_index(keys)[measure]
        others = means[~is_ours].dropna(subset=[measure])
        part = others[[*keys, "method", measure]].rename(columns={measure: "other"})
        part = part.join(ours.rename("ours"), on=keys)
        sign = 1 if measure == "auc" else -1
        gap = sign * (part.other - part.ours)
        parts.append(part.assign(measure=MEASURES[measure], gap=gap))
    return pd.concat(parts, ignore_index=True)


def number(value, digits):
    """A number with so many digits after the point; nothing where there is none."""
    return "" if pd.isna(value) else f"{value:.{digits}f}"


def as_table(header, rows, caption, filters=(), first=""):
    """HTML of a table that can be sorted, and filtered by some of its columns.

    Of the last of these the value `first` is chosen to begin with.
    """
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>"
        for row in rows
    )
    chosen = html.escape(",".join(filters))
    tall = " tall" if len(rows) > MANY_ROWS else ""
    return (
        f'<div class="pst-scrollable-table-container{tall}">'
        f'<table class="table sortable" data-filters="{chosen}" data-first="{first}">'
        f"<caption>{html.escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


class Generated(SphinxDirective):
    """A part of a page that `write` makes as HTML from a file of results."""

    file = "quality.csv"

    def run(self):
        """The HTML as a node; the page is built again when the file changes."""
        self.env.note_dependency(str(RESULTS / self.file))
        return [nodes.raw("", self.write(), format="html")]


class QualityTable(Generated):
    """All methods on all sets."""

    def write(self):
        """Write a row for each set, model, method and number of rules."""
        header = ["set", "model", "method", "at most", "rules", "conditions"]
        header += ["error", "AUC", "log loss"]
        rows = [
            [
                *(row.data, row.model, row.method, row.budget or ""),
                *(number(row.n_rules, 1) if row.budget else "", number(row.in_all, 1)),
                *(number(row[name], 4) for name in ("error", "auc", "log_loss")),
            ]
            for _, row in read_quality().iterrows()
        ]
        caption = "Every method on every set, means over seeds, on rows left out"
        filters = "set", "model", "method", "at most"
        return as_table(header, rows, caption, filters, "10")


class QualityMeans(Generated):
    """Means over the sets with two classes."""

    def write(self):
        """Write a row for each method and number of rules."""
        header = [
            "method",
            "at most",
            "rules",
            "conditions",
            "error",
            "AUC",
            "log loss",
        ]
        rows = [
            [
                *(row.method, row.budget, number(row.n_rules, 1)),
                number(row.in_all, 1),
                *(number(row[name], 4) for name in ("error", "auc", "log_loss")),
            ]
            for _, row in two_class_means().iterrows()
        ]
        caption = "Means over the sets with two classes and over both models"
        return as_table(header, rows, caption, ("method", "at most"), "10")


class QualityAhead(Generated):
    """On how many pairs each other method is ahead of our list."""

    def write(self):
        """Write a row for each method and measure."""
        rows = []
        for (method, measure), part in behind().groupby(["method", "measure"]):
            ahead = part[part.gap > 0]
            share = f"{100 * len(ahead) / len(part):.0f}%"
            counts = len(ahead), len(part), share
            rows.append([method, measure, *counts, number(ahead.gap.mean(), 4)])
        rows.sort(key=lambda row: -row[2] / row[3])
        header = [
            "method",
            "measure",
            "ahead on",
            "of pairs",
            "share",
            "by, on average",
        ]
        caption = "Where others are ahead of our list; a pair is a set, a model and "
        caption += "a number of rules, mean of seeds"
        return as_table(header, rows, caption, ("method", "measure"))


class QualityLosses(Generated):
    """Every pair on which another method is ahead of our list."""

    def write(self):
        """Write a row for each pair and measure, with the method that is best."""
        keys = ["data", "model", "budget", "measure"]
        ahead = behind().query("gap > 0").sort_values("gap", ascending=False)
        rows = [
            [
                *(row.data, row.model, row.budget, row.measure, row.method),
                *(number(value, 4) for value in (row.other, row.ours, row.gap)),
            ]
            for _, row in ahead.drop_duplicates(keys).iterrows()
        ]
        header = ["set", "model", "at most", "measure", "best other method"]
        header += ["its", "ours", "behind by"]
        caption = "Where our list is behind, the largest differences first"
        filters = "set", "model", "measure", "at most"
        return as_table(header, rows, caption, filters, "10")


class QualityPlot(Generated):
    """Error and AUC against the number of conditions."""

    def write(self):
        """Write a drawing that takes the colour of the page's text."""
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as plt

        from defragtrees import plots

        means = two_class_means()
        shown = [NAMES.get(name, name) for name in PLOTTED]
        figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
        for place, name in enumerate(name for name in shown if name in {*means.method}):
            part = means[means.method == name].sort_values("budget")
            style = {"marker": plots.MARKERS[place], "color": plots.COLOURS[place]}
            for ax, measure in zip(axes, ("error", "auc"), strict=True):
                ax.plot(part.in_all, part[measure], label=name, **style)
        for ax, label in zip(axes, ("error", "AUC"), strict=True):
            ax.set(xlabel="conditions in all", ylabel=label)
            ax.spines[["top", "right"]].set_visible(False)
            ax.patch.set_visible(False)
        axes[0].legend(frameon=False)
        figure.patch.set_visible(False)
        text = (
            "Error, and AUC, against the number of conditions in all, with at most 4, "
        )
        return as_drawing(figure, f"{text}6, 8 and 10 rules, for {', '.join(shown)}.")


class BesideTable(Generated):
    """Ten rules by every method on data that everybody has."""

    file = "ten_rules.csv"

    def write(self):
        """Write a row for each method: means over sets and splits."""
        results = pd.read_csv(RESULTS / self.file)
        columns = ["error", "auc", "fidelity", "n_rules", "n_conditions", "seconds"]
        means = results.groupby("method", sort=False)[columns].mean()
        rows = [
            [
                *(name, number(row.n_rules, 1), number(row.n_conditions, 1)),
                *(number(row[column], 3) for column in ("error", "auc", "fidelity")),
                number(row.seconds, 1),
            ]
            for name, row in means.iterrows()
        ]
        header = ["method", "rules", "conditions", "error", "AUC", "as the forest"]
        n_sets, n_seeds = results.data.nunique(), results.seed.nunique()
        caption = f"Means over {n_sets} sets and {n_seeds} splits of each"
        return as_table([*header, "seconds"], rows, caption)


def as_drawing(figure, text):
    """A figure as SVG inside the page, with a text for those who do not see it."""
    from matplotlib import pyplot as plt
    from matplotlib import rc_context

    buffer = io.StringIO()
    with rc_context({"svg.hashsalt": "site", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    drawing = buffer.getvalue()
    drawing = drawing[drawing.index("<svg") :].replace("#000000", "currentColor")
    label = html.escape(text, quote=True)
    opening = f'<svg role="img" aria-label="{label}" class="drawing"'
    drawing = drawing.replace("<svg", opening, 1)
    return f'<div class="scrolls">{drawing}</div>'


def setup(app):
    """Register the directives with Sphinx."""
    app.add_directive("quality-table", QualityTable)
    app.add_directive("quality-means", QualityMeans)
    app.add_directive("quality-plot", QualityPlot)
    app.add_directive("quality-ahead", QualityAhead)
    app.add_directive("quality-losses", QualityLosses)
    app.add_directive("beside-table", BesideTable)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
