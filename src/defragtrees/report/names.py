"""Names on the page: its title, what is predicted, and long names cut short."""

import dataclasses

from defragtrees._utils.formatting import plural
from defragtrees.report.text import sentence

# Names of y, and labels of its positive class, that say nothing about it.
EMPTY_NAMES = {"", "0", "class", "classes", "dependent", "label", "labels", "none"}
EMPTY_NAMES |= {"outcome", "output", "response", "result", "target", "targets", "value"}
EMPTY_NAMES |= {"y", "y test", "y true", "y train", "y val", "y valid", "ytrue"}
# Names that say something in a sentence, but nothing in a title.
GENERAL_NAMES = {"category", "group", "state", "status", "type"}
LONGEST = 200  # maximum number of characters of a name on the page
LONGEST_CONDITION = 2_000
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


def size_words(rules):
    """The number of rules or, with points, of questions.

    Examples
    --------
    >>> size_words(rules)
    '3 rules'
    """
    if rules._form.is_sum:
        return f"{plural(len(rules.rules), 'question')} with points"
    return plural(rules.n_rules, "rule")


def make_title(rules, target_name=None, data_name=None):
    """The title of a page: what is predicted, and the number of rules.

    Examples
    --------
    >>> make_title(rules, "go_outside"), make_title(rules.relabel(None, {"yes": "go"}))
    ('Go outside in 3 rules', 'Predicting “go” in 3 rules')
    """
    outcome, words = rules.outcome, target_words(target_name)
    labels = [outcome.view.prediction(label) for label in outcome.labels or ()]
    what = (
        f"Predicting one of {len(labels)} classes" if labels else "Predicting a number"
    )
    if outcome.is_binary:
        what = f"Predicting {' or '.join(labels)}"
    if data_name:
        what = f"Predictions for {data_name}"
    what = sentence(words) or what
    if outcome.is_binary and words.lower() in {"", *GENERAL_NAMES}:
        label = labels[outcome.positive_index]
        what = what if label.lower() in EMPTY_LABELS else f"Predicting “{label}”"
    link = ":" if rules._form.is_sum else " in"
    return f"{what}{link} {size_words(rules)}"


def cut(text, most=LONGEST):
    """A text without its middle if it has more characters than this.

    Examples
    --------
    >>> cut("abcdefgh", 5), cut("abc", 5)
    ('ab…gh', 'abc')
    """
    text = str(text)
    n_last = (most - 1) // 2
    if len(text) <= most:
        return text
    return f"{text[: most - 1 - n_last]}…{text[len(text) - n_last :]}"


def condition_parts(rules, condition):
    """The parts of a condition with the signs of print, the last one cut if long."""
    vocabulary = rules._vocabulary.styled(is_grouped=True, is_typeset=True)
    before, name, after = condition.parts(*vocabulary)
    return before, name, cut(after, LONGEST_CONDITION)


def shown_rules(rules):
    """Rules that predict the same, with long names of features and categories cut."""
    changes = {}
    if any(len(name) > LONGEST for name in rules._vocabulary.names):
        given = rules.feature_labels or (None,) * len(rules.feature_names)
        changes["feature_labels"] = tuple(
            cut(name) if len(name) > LONGEST else label
            for name, label in zip(rules._vocabulary.names, given, strict=True)
        )
    labels = [
        rules.outcome.view.prediction(label) for label in rules.outcome.labels or ()
    ]
    if any(len(label) > LONGEST for label in labels):
        changes["class_labels"] = _distinct(labels)
    categories = [
        known if known is None else _distinct(known) for known in rules.categories or ()
    ]
    if tuple(categories) != (rules.categories or ()):
        changes["categories"] = tuple(categories)
    return dataclasses.replace(rules, **changes) if changes else rules


def _distinct(labels):
    """Labels with the long texts among them cut; their number keeps them apart."""
    return tuple(
        label
        if not isinstance(label, str) or len(label) <= LONGEST
        else f"{cut(label, LONGEST - 10)} ({k + 1:,})"
        for k, label in enumerate(labels)
    )
