"""The rules and how good they are, as text."""

from defragtrees import render

__all__ = ["summary_text"]


def summary_text(rules, found, where):
    """Rules, their size, and their errors beside the ensemble's.

    Parameters
    ----------
    rules : RuleSet
    found : dict
        What `evaluate` gave.
    where : str
        Which rows it was measured on.
    """
    kind = "error" if rules.task == "classification" else "squared error"
    lines = []
    for label, prefix in (
        ("rules as printed", ""),
        ("posterior behind them", "posterior_"),
        ("ensemble", "ensemble_"),
    ):
        cells = [found.get(f"{prefix}{name}") for name in ("error", "fidelity")]
        if any(cell is not None for cell in cells):
            texts = ["" if c is None else render.rounded(c) for c in cells]
            lines.append([label, *texts])
    table = render.text_table([f"on {where}", kind, "fidelity"], lines)
    size = f"{found['n_rules']} rules with {found['n_conditions']:.1f} conditions "
    return f"{rules}\n\n{size}{_cover_text(rules, found)}\n\n{table}"


def _cover_text(rules, found):
    if rules.decision == "partition":
        return "each; just one of them holds in a row."
    n_holding = f"{found['overlap']:.2f}"
    if rules.decision == "average":
        return (
            f"each; on average {n_holding} of them hold in a row, and the last "
            "one always does. Their mean by weight is the answer."
        )
    return (
        f"each; they cover {render.share(found['coverage'])} of the rows before "
        f"the otherwise, {n_holding} rules a row."
    )
