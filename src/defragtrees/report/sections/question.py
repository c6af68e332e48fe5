"""What was asked: the ensemble, the rows, and the first few numbers."""

from defragtrees.report.markup import name, section, text
from defragtrees.report.sections.said import error_text
from defragtrees.report.wording import amount, percent, plural, sentence

__all__ = ["question_section", "tiles"]

TOO_GOOD = (
    "If the ensemble was trained on the rows shown here, its error here is too good."
)


def question_section(summary):
    """What ensemble, what rows, what was asked, in a few sentences."""
    asked = summary["question"]
    library = f" ({text(asked['library'])})" if asked["library"] else ""
    limits = asked["limits"]
    wish = (
        f"at most {plural(limits['max_rules'], 'rule')}"
        if "max_rules" in limits
        else "a few rules"
    )
    if "max_conditions" in limits:
        wish += f" of at most {plural(limits['max_conditions'], 'condition')}"
    if "max_depth" in limits:
        wish += f", at most {limits['max_depth']} splits deep"
    target = (
        "the ensemble’s own answers"
        if asked["target"] == "ensemble"
        else "the labels y, as the ensemble did"
    )
    truth = (
        "and their true answers, y, are known"
        if asked["has_y"]
        else "without their true answers, so only agreement with the ensemble is known"
    )
    missing = "; some values are missing" if asked["has_missing"] else ""
    each = f", with {asked['n_conditions']:.1f} conditions each on average"
    return section(
        "question",
        "The question",
        f"<p><strong>{name(sentence(asked['ensemble']))}</strong>{library} answers "
        f"with {plural(asked['n_trees'], 'tree')} that have "
        f"{plural(asked['n_leaves'], 'leaf')} together, too many to read. "
        f"<strong>{text(asked['method'])}</strong> was asked to say nearly the same in "
        f"{wish}, and imitates {target}. It found "
        f"<strong>{plural(asked['n_rules'], 'rule')}</strong>"
        f"{each if asked['n_rules'] > 1 else ''}.</p>",
        f"<p>Everything below is measured on {plural(asked['n_rows'], 'row')} of "
        f"{plural(asked['n_features'], 'feature')}{missing}, {truth}."
        f"{_by_weight(summary)}</p>",
    )


def _by_weight(summary):
    if not summary["is_weighted"]:
        return ""
    return " Shares and errors are by the weights of the rows; counts are of rows."


def tiles(summary):
    """The few numbers that one would say first."""
    scores = summary["scores"]
    is_classification = summary["task"] == "classification"
    fidelity = scores["fidelity"]
    found = [
        (plural(scores["n_rules"], "rule"), "instead of "
         f"{plural(summary['question']['n_leaves'], 'leaf')}"),
        (percent(fidelity), "agreement with the ensemble")
        if is_classification
        else (f"R² {amount(fidelity, 3)}", "of the ensemble’s answers (fidelity)"),
    ]  # fmt: skip
    if "error" in scores:
        kind = "wrong" if is_classification else "squared error"
        found += [
            (error_text(scores["error"], summary), f"{kind}, by the rules"),
            (error_text(scores["ensemble_error"], summary), f"{kind}, by the ensemble"),
        ]
    else:
        covered = summary["overlap"]["coverage"]
        found.append((percent(covered), "of rows have a rule before the last one"))
    parts = "".join(
        f"<div><dt>{text(label)}</dt><dd>{text(value)}</dd></div>"
        for value, label in found
    )
    caution = f'<p class="hint">{TOO_GOOD}</p>' if "error" in scores else ""
    return f'<dl class="tiles">{parts}</dl>{caution}'
