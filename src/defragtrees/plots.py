"""Pictures, one function each; they take an Axes or make one, and return it."""

from defragtrees._optional import require

__all__ = ["trade_off"]


def trade_off(path, ax=None):
    """Held-out error of the lists of a path against their number of rules.

    Parameters
    ----------
    path : RulePath
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    if ax is None:
        ax = require("matplotlib.pyplot", "A plot").subplots()[1]
    rows = path.rows()
    n_rules = [row["n_rules"] for row in rows]
    errors = [row["error"] for row in rows]
    spread = [row["standard_error"] for row in rows]
    ax.errorbar(n_rules, errors, spread, fmt="o-", color="#0072B2", label="rules")
    at = path.chosen
    ax.plot(
        n_rules[at],
        errors[at],
        "o",
        ms=13,
        mfc="none",
        mec="#D55E00",
        mew=2,
        label="chosen",
    )
    ax.axhline(path.ensemble_error, color="0.4", ls="--", lw=1, label="ensemble")
    ax.set(xlabel="number of rules", ylabel="error on rows held out")
    ax.set_xticks(n_rules)
    ax.legend()
    return ax
