"""How good rules are, as a sentence and a table."""

from defragtrees import render

__all__ = ["scores_text"]


def scores_text(rules, scores, where, is_short=False):
    """The size of the rules, and their errors beside the ensemble's.

    Parameters
    ----------
    rules : RuleSet
    scores : dict
        What `evaluate` gave.
    where : str
        Which rows it was measured on.
    is_short : bool, default=False
        Leave out the posterior and how many rules hold in a row.
    """
    sources = [("rules as printed", ""), ("posterior behind them", "posterior_")]
    if is_short:
        sources = [("rules", "")]
    lines = []
    for label, prefix in (*sources, ("ensemble", "ensemble_")):
        cells = [scores.get(f"{prefix}{name}") for name in ("error", "fidelity")]
        if any(cell is not None for cell in cells):
            texts = ["" if cell is None else render.rounded(cell) for cell in cells]
            lines.append([label, *texts])
    header = [f"on {where}", rules.outcome.error_name, "fidelity"]
    return f"{_size(rules, scores, is_short)}\n\n{render.text_table(header, lines)}"


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
    return (
        f"{size}each; on average {scores['overlap']:.2f} of them hold in a row, and "
        "the last one always does. Their mean by weight is the answer."
    )
