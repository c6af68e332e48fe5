"""Every table of the common suite: `python -m benchmarks.quality.tables`.

Methods are compared in pairs, on the same rows of the same split. Differences are
averaged over splits, rows and models of a set first, so that means and standard errors
are over sets. Above 0 a method is ahead. Tables go to a Markdown file beside the rows,
which the site shows, and to the README.
"""

from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "paper/paper.md")]
RESULTS = ROOT / "benchmarks" / "results" / "quality.csv"
MEASURES = {"auc": "AUC", "error": "error", "log_loss": "log loss"}
MEASURES["unexplained"] = "unexplained variance"
SIZE = 10
LIST, POINTS = "defragtrees, list", "defragtrees, points"
CARD = "defragtrees, integer points"
OURS = "defragtrees, "
TARGETS = (", model", ", labels")  # what rules may learn instead
# Of the same kind as our list, by which one rule predicts, and as our points, a sum.
SINGLE = ("CART", "distilled tree", "STreeD", "ConTree", "inTrees", "Born-Again tree")
SINGLE += ("TE2Rules",)
SUMS = ("FIGS", "RuleFit", "Node Harvest")
BOUNDS = ("logistic regression", "EBM", "model")
FEWEST_PAIRS = 3  # for a standard error within a set


def read(path=RESULTS):
    """The rows; failures have no measures."""
    rows = pd.read_csv(path, dtype={"failure": str})
    return rows[rows.failure != "not for this y"]


def differences(rows, base, size=SIZE):
    """How far each method is ahead of one, by each measure: a row for each pair.

    What has no size, and needs no model, is compared with every one of the other.
    """
    rows = rows[rows["size"].isin([size, 0])]
    keys = ["data", "split", "rows"]
    columns = [*keys, "model", "method", *MEASURES]
    ours = rows.loc[rows.method == base, columns].drop(columns="method")
    others = rows.loc[rows.method != base, columns]
    both = others.merge(ours, on=keys, suffixes=("", "_base"))
    is_free = (both.model == "none") | (both.model_base == "none")
    both = both[is_free | (both.model == both.model_base)].copy()
    for measure in MEASURES:
        sign = 1 if measure == "auc" else -1
        both[measure] = sign * (both[measure] - both[f"{measure}_base"])
    return both[columns]


def over_sets(pairs, measure):
    """Mean difference, its standard error, sets, and share of sets won, by method."""
    means = pairs.dropna(subset=[measure]).groupby(["method", "data"])[measure].mean()
    of_method = means.groupby("method")
    table = of_method.agg(["mean", "sem", "count"])
    table["won"] = of_method.agg(lambda one: np.mean(one > 0))
    return table


def losses(rows):
    """Where a method of the same kind is ahead of ours by two standard errors."""
    found = []
    for size in sorted(set(rows["size"].dropna()) - {0}):
        for base, peers in ((LIST, SINGLE), (POINTS, SUMS)):
            pairs = differences(rows, base, size)
            pairs = pairs[pairs.method.isin(peers)]
            for measure, name in MEASURES.items():
                part = pairs.dropna(subset=[measure]).groupby(["data", "method"])
                table = part[measure].agg(["mean", "sem", "count"]).reset_index()
                is_ahead = table["mean"] > np.maximum(2 * table["sem"], 1e-9)
                table = table[is_ahead & (table["count"] >= FEWEST_PAIRS)]
                found.append(table.assign(size=int(size), beside=base, measure=name))
    return pd.concat(found, ignore_index=True)


def means(rows, size=SIZE):
    """Rules, conditions and seconds by method: means over splits, then over sets."""
    columns = ["n_rules", "n_conditions", "seconds"]
    rows = rows[rows["size"].isin([size, 0])]
    by_set = rows.groupby(["method", "data"])[columns].mean()
    return by_set.groupby("method").mean()


def honesty(rows):
    """Of rules with 100 new rows the share that holds, and the mean gap, by method.

    The standard error of the share is that of a ratio, over sets.
    """
    rows = rows[rows.printed > 0]
    sums = {"printed": "sum", "held": "sum", "gap": "mean"}
    by_set = rows.groupby(["method", "data"]).agg(sums)
    table = by_set.groupby("method").agg(sums)
    table["share"] = table.held / table.printed
    apart = by_set.held - by_set.printed * table.share.reindex(by_set.index, level=0)
    n_sets = by_set.groupby("method").size()
    spread = (apart**2).groupby("method").sum() * n_sets / (n_sets - 1)
    table["sem"] = np.sqrt(spread) / table.printed
    columns = ["printed", "share", "sem", "gap"]
    return table[columns].sort_values("share", ascending=False)


def agreements(rows, size=SIZE):
    """Agreement of the two splits of a pair, by method."""
    rows = rows[rows["size"].isin([size, 0])].dropna(subset=["agreement"])
    by_set = rows.groupby(["method", "data"]).agreement.mean()
    table = by_set.groupby("method").agg(["mean", "sem", "count"])
    return table.sort_values("mean", ascending=False)


def minutes(rows):
    """Of the processor, for all fits; a fit of several sizes has the same seconds."""
    keys = ["data", "split", "rows", "model", "method", "seconds"]
    return rows.drop_duplicates(keys).seconds.sum() / 60


def failures(rows):
    """Fits by method that failed, and with what."""
    failed = rows.dropna(subset=["failure"]).groupby(["method", "failure"]).size()
    return failed.rename("fits").reset_index()


def spread(mean, sem):
    """A difference in thousandths with its standard error."""
    error = "" if pd.isna(sem) else f" ({1000 * sem:.0f})"
    return "" if pd.isna(mean) else f"{1000 * mean:+.0f}{error}"


def number(value):
    return "" if pd.isna(value) else f"{value:.1f}"


def bold(name):
    return f"**{name}**" if name.startswith(OURS) else name


def markdown(header, lines):
    """A table; what is not in the first column is to the right."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(
        f"| {' | '.join(map(str, line))} |" for line in (header, rule, *lines)
    )


def what_was_run(rows):
    """A sentence on sets, methods, splits and models, by number of training rows."""
    parts = [
        f"{size_text(n)} training rows, {model if model != 'none' else 'no'} model: "
        f"{part.data.nunique()} sets, {part.method.nunique()} methods"
        for (n, model), part in rows.groupby(["rows", "model"])
    ]
    n_splits = rows.groupby(["data", "rows"]).split.nunique()
    most = f" to {n_splits.max()}" if n_splits.max() > n_splits.min() else ""
    sizes = rows[rows["size"] > 0].groupby("method")["size"].unique()
    only = [name for name, some in sizes.items() if [*some] == [SIZE]]
    rest = f" Of one size only: {', '.join(only)}." if only else ""
    return f"{'; '.join(parts)}. {n_splits.min()}{most} splits of each.{rest}"


def size_text(n_rows):
    return f"{n_rows:,}" if n_rows else "All"


def beside(rows, base, size=SIZE):
    """The table of differences to one method, the best first."""
    pairs, sizes = differences(rows, base, size), means(rows, size)
    parts = {measure: over_sets(pairs, measure) for measure in MEASURES}
    table = pd.DataFrame(
        {
            name: part.apply(lambda row: spread(row["mean"], row["sem"]), axis=1)
            for name, part in parts.items()
        }
    ).fillna("")
    order = parts["unexplained"].sort_values("mean", ascending=False)
    lines = [
        [bold(name), number(sizes.n_conditions[name]), *table.loc[name], row["count"]]
        for name, row in order.astype({"count": "Int64"}).iterrows()
    ]
    return markdown(["method", "conditions", *MEASURES.values(), "sets"], lines)


def wins(rows, base, size=SIZE):
    """The table of shares of sets on which each method is ahead of one."""
    pairs = differences(rows, base, size)
    parts = {measure: over_sets(pairs, measure).won for measure in MEASURES}
    table = pd.DataFrame(parts).sort_values("unexplained")
    lines = [
        [bold(name), *("" if pd.isna(one) else f"{one:.0%}" for one in line)]
        for name, *line in table.itertuples()
    ]
    return markdown(["ahead of it", *MEASURES.values()], lines)


def loss_table(rows):
    """The best other method of each set, size and measure where we lose."""
    table = losses(rows).sort_values("mean", ascending=False)
    table = table.drop_duplicates(["data", "size", "beside", "measure"])
    table = table.sort_values(["beside", "data", "size", "measure"])
    table["by"] = [spread(*row) for row in table[["mean", "sem"]].to_numpy()]
    table["why"] = [reason(rows, row) for _, row in table.iterrows()]
    table["beside"] = table.beside.str.removeprefix(OURS)
    columns = ["data", "size", "beside", "measure", "method", "by", "count", "why"]
    header = ["set", "size", "ours", "measure", "ahead", "by", "pairs", "why"]
    return markdown(header, table[columns].to_numpy())


def reason(rows, loss):
    """What the rows know of a loss: the model that is imitated, and lengths."""
    part = rows[rows.data == loss.data]
    measure = next(key for key, name in MEASURES.items() if name == loss.measure)
    to_model = over_sets(differences(part, "model", loss["size"]), measure)["mean"]
    if to_model[loss.method] > 0:
        return "the model, which ours imitate, is behind it too"
    n_conditions = means(part, loss["size"]).n_conditions
    theirs, ours = n_conditions[loss.method], n_conditions[loss.beside]
    return f"{theirs:.0f} conditions, ours {ours:.0f}" if theirs > ours else ""


def report(rows):
    """All tables as Markdown."""
    sized = f"of at most {SIZE} rules"
    honest, halves = honesty(rows), agreements(rows)
    held = [
        [bold(name), f"{share:.1%}", f"{sem:.1%}", f"{gap:.3f}", f"{n:,.0f}"]
        for name, n, share, sem, gap in honest.itertuples()
    ]
    agreed = [
        [bold(name), f"{mean:.3f}", f"{sem:.3f}", n]
        for name, mean, sem, n in halves.itertuples()
    ]
    slow = means(rows).seconds.sort_values().map("{:.2f}".format)
    parts = [
        "<!-- written by `python -m benchmarks.quality.tables` -->",
        f"What was run: {what_was_run(rows)}",
    ]
    for base in ("model", LIST, POINTS):
        parts += [
            f"## Beside {'the model' if base == 'model' else base}",
            f"Mean differences over sets (standard errors), in thousandths, {sized}; "
            "above 0 a method is ahead. AUC is of two classes; error and log loss are "
            "of all classes; the variance is that of numbers, or of all indicators.",
            beside(rows, base),
            "Share of sets on which a method is ahead:",
            wins(rows, base),
        ]
    parts += [
        "## Where ours lose",
        "Every set and size where a method of the same kind (one rule predicts, or a "
        "sum) is ahead by more than two standard errors of at least three paired "
        "differences: the one that is most ahead, in thousandths.",
        loss_table(rows),
        "## Does what is printed hold?",
        "Two classes; rules, leaves or bands of totals that match at least 100 new "
        "rows: the share whose rate on these lies in the 95% interval (Wilson's, from "
        "their own counts, where a method prints none); and the mean "
        "gap between printed and new rate. New rows vary too, so that even a perfect "
        "interval has fewer than 95%.",
        markdown(["method", "held", "standard error", "gap", "rules"], held),
        "## Do two halves agree?",
        f"Model and rules {sized}, or the method alone, fitted to two halves of the "
        "rows: share of new rows with equal classes, or correlation of numbers.",
        markdown(["method", "agreement", "standard error", "sets"], agreed),
        "## What failed, and seconds",
        "Fits that ended with an error, that ended their process, or that took more "
        "than two minutes:",
        markdown(["method", "failure", "fits"], failures(rows).to_numpy()),
        "Seconds of the processor for one fit (ours: for all sizes), means over sets; "
        f"{minutes(rows):.0f} minutes for all rows:",
        markdown(["method", "seconds"], slow.items()),
    ]
    return "\n\n".join(parts) + "\n"


def page_parts(rows):
    """What pages say, by the name of its place."""
    rows, run = rows[rows.kind == "two classes"], what_was_run(rows)
    pairs, sizes = differences(rows, "model"), means(rows)
    errors, aucs = over_sets(pairs, "error"), over_sets(pairs, "auc")
    more = {name: f"{-100 * errors['mean'][name]:.1f}" for name in (LIST, CARD)}
    learnt = " or ".join(map(size_text, sorted({*rows.rows})))
    headline = (
        f"On {errors['count'][LIST]} public data sets, with {learnt} rows to learn "
        f"from, a list of at most ten rules\nmakes {more[LIST]} more errors per "
        f"hundred rows than its model, a scorecard {more[CARD]}"
    )
    lines = [
        [
            *(
                bold(name),
                number(sizes.n_rules[name]),
                number(sizes.n_conditions[name]),
            ),
            *(spread(t["mean"][name], t["sem"][name]) for t in (errors, aucs)),
            n_sets,
        ]
        for name, n_sets in aucs.sort_values("mean", ascending=False)["count"].items()
        if not name.endswith(TARGETS)
    ]
    header = ["method", "rules", "total conditions", "error", "AUC", "sets"]
    benchmark = f"""At most {SIZE} rules per method (TE2Rules and the default tree have
no limit), measured on held-out rows by `make quality`.
{run}

<details>
<summary>The same results as a table, with errors</summary>

Differences to the model in thousandths (standard errors), means over the sets with two
classes; above 0 a method is ahead of the model.

{markdown(header, lines)}

</details>"""
    link = " ([the benchmark](docs/benchmark.md))"
    parts = {"headline": f"{headline}{link}.", "benchmark": benchmark}
    return parts | {"first number": f"{headline}."}


def with_part(page, name, text):
    """A page with the text between two marks replaced, where it has them."""
    before, begin, rest = page.partition(f"<!-- {name}: begin -->")
    _, end, after = rest.partition(f"<!-- {name}: end -->")
    return f"{before}{begin}\n{text}\n{end}{after}" if end else page


def write(path=RESULTS):
    """Write the tables of a file of rows beside it; those kept also to the README."""
    rows = read(path)
    text = report(rows)
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    if path == RESULTS:
        for page in PAGES:
            new = page.read_text(encoding="utf-8")
            for name, part in page_parts(rows).items():
                new = with_part(new, name, part)
            page.write_text(new, encoding="utf-8")
    return text


if __name__ == "__main__":
    print(write())
