"""Names on the page: its title and what is predicted, as people say it."""

from defragtrees._utils.formatting import plural
from defragtrees.report.text import sentence

# Names of y, and labels of its positive class, that say nothing about it.
EMPTY_NAMES = {"", "0", "class", "classes", "dependent", "label", "labels", "none"}
EMPTY_NAMES |= {"outcome", "output", "response", "result", "target", "targets", "value"}
EMPTY_NAMES |= {"y", "y test", "y true", "y train", "y val", "y valid", "ytrue"}
# Names that say something in a sentence, but nothing in a title.
GENERAL_NAMES = {"category", "group", "state", "status", "type"}
EMPTY_LABELS = {"0", "1", "1.0", "true", "yes", "y", "t", "positive", "pos"}


def target_words(name):
    """The name of y in words; empty if it says nothing.

    Examples
    --------
    >>> target_words("heart_disease"), target_words("y_test")
    ('heart disease', '')
    """
    words = " ".join(str(name).replace("_", " ").split())
    return "" if words.lower() in EMPTY_NAMES else words


def make_title(rules, target_name=None, data_name=None, model=None):
    """The title of a page: what is predicted, and the number of rules.

    Examples
    --------
    >>> make_title(rules, "go_outside"), make_title(rules.relabel(None, {"yes": "go"}))
    ('Go outside in 3 rules', 'Predicting “go” in 3 rules')
    """
    size, outcome = plural(rules.n_rules, "rule"), rules.outcome
    words = target_words(target_name)
    if words and words.lower() not in GENERAL_NAMES:
        return f"{sentence(words)} in {size}"
    if outcome.is_binary:
        label = outcome.answer_text(outcome.positive_class)
        if label.lower() not in EMPTY_LABELS:
            return f"Predicting “{label}” in {size}"
    if words:
        return f"{sentence(words)} in {size}"
    if data_name:
        return f"Predictions for {data_name} in {size}"
    return size if model is None else f"{sentence(model.name)} in {size}"
