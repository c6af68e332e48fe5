"""Rules as a fitted decision tree of scikit-learn, for tools that read trees.

A region is split at the bounds of its first undecided rule, until the predicting rule
or, if rules are averaged, the set of matching rules is known.
"""

import math
from dataclasses import dataclass

import numpy as np
from sklearn import tree
from sklearn.tree._tree import Tree

from defragtrees._utils.formatting import listed
from defragtrees._utils.warnings import warn
from defragtrees.export import portable
from defragtrees.rules.model import RuleModel

LEAVES = ("probabilities", "predictions")
NO_CHILD, NO_FEATURE = -1, -2  # as scikit-learn marks a leaf


def to_tree(
    rules: RuleModel, *, max_leaves: int = 1000, leaves: str = "probabilities"
) -> tree.BaseDecisionTree:
    """A fitted decision tree that predicts the same as the rules.

    scikit-learn rounds X to float32 before it compares. The tree agrees with the rules
    on all float32 data; on other data it may differ where a threshold lies between a
    value and its float32 rounding. The sample counts of the tree are numbers of leaves
    below a node.

    Parameters
    ----------
    rules : RuleModel
        With numeric features only.
    max_leaves : int, default=1000
        Maximum number of leaves; rules that need more are rejected.
    leaves : {"probabilities", "predictions"}, default="probabilities"
        Values of the leaves for classes. A tree of scikit-learn predicts the most
        probable class. Rules that predict another one, by threshold or costs, need
        "predictions": the leaf of such a rule gives its prediction the probability 1.
    """
    if leaves not in LEAVES:
        raise ValueError(f"leaves must be one of {LEAVES}; got {leaves!r}.")
    tests = portable.column_tests(rules)
    for test in (test for rule in tests for test in rule):
        if test.labels is not None:
            raise ValueError(
                "A tree of scikit-learn splits on numbers only; the rules use "
                f"categories of {test.name!r}. Encode them before the model is "
                "fitted, or choose another format."
            )
    if rules._form.is_exclusive:
        values, others = _list_values(rules, leaves)
        nodes = _grow(tests, lambda possible: values[possible[0]], max_leaves, values)
        differs = f"rule {listed(others)} predicts another one" if others else None
    else:
        nodes = _grow(
            tests, lambda found: _leaf_value(rules, found, leaves), max_leaves
        )
        differs = (
            "the rules decide by threshold or costs" if rules._form.has_costs else None
        )
    if differs and leaves == "probabilities":
        warn(
            "The tree has the probabilities of the rules and predicts the most "
            f"probable class; {differs}. Decide from predict_proba, or pass "
            "leaves='predictions'.",
        )
    return _estimator(rules, _in_order(_merged(nodes)))


@dataclass
class _Node:
    """A node; `children` are indices in the list of nodes, None for a leaf."""

    value: tuple[float, ...] | None = None
    feature: int = NO_FEATURE
    threshold: float = float(NO_FEATURE)
    missing_left: bool = False
    children: tuple[int, int] | None = None


@dataclass(frozen=True)
class _Span:
    """The values of a feature that reach a node."""

    lower: float = -math.inf
    upper: float = math.inf
    missing: bool = True

    @property
    def is_empty(self):
        return self.lower >= self.upper


@dataclass
class _Place:
    """A region, and the rules that may match in it."""

    node: int
    spans: dict[int, _Span]
    rules: tuple[int, ...]


def _grow(tests, leaf_value, max_leaves, values=None):
    """Grow the nodes; children come after their parent.

    With `values`, one per rule, only the first matching rule counts.
    """
    nodes = [_Node()]
    open_places = [_Place(0, {}, tuple(range(len(tests))))]
    n_leaves = 1
    while open_places:
        place = open_places.pop()
        node = nodes[place.node]
        split, possible = _next_split(place, tests, values)
        if split is None:
            node.value = leaf_value(possible)
            continue
        n_leaves += 1
        if n_leaves > max_leaves:
            raise ValueError(
                f"A tree of these rules has more than max_leaves={max_leaves!r} "
                "leaves. Raise it, or choose another format."
            )
        node.feature, node.threshold, node.missing_left = split
        node.children = (len(nodes), len(nodes) + 1)
        for child, spans in zip(
            node.children, _parted(place.spans, split), strict=True
        ):
            nodes.append(_Node())
            open_places.append(_Place(child, spans, possible))
    return nodes


def _next_split(place, tests, values):
    """The next split, or None at a leaf; and the rules that may still match."""
    is_first_only = values is not None
    split, possible = None, []
    for k in place.rules:
        status = _status(tests[k], place.spans)
        if status is False:
            continue
        possible.append(k)
        if status is not True and split is None:
            split = status
        if status is True and is_first_only:
            break
    if is_first_only and len({values[k] for k in possible}) == 1:
        split = None
    return split, tuple(possible)


def _status(tests, spans):
    """Whether a rule matches a region; if that is undecided, the next split."""
    split = None
    for test in tests:
        status = _condition_status(test, spans.get(test.feature, _Span()))
        if status is False:
            return False
        if status is not True and split is None:
            split = (test.feature, *status)
    return True if split is None else split


def _condition_status(test, span):
    if span.is_empty:
        return test.missing
    is_inside = test.lower <= span.lower and span.upper <= test.upper
    is_apart = test.upper <= span.lower or test.lower >= span.upper
    if is_inside or is_apart or test.matches_none:
        if not span.missing or test.missing == is_inside:
            return is_inside
        # A split at infinity separates missing values from all numbers.
        return math.inf, False
    if test.upper < span.upper:
        return test.upper, test.missing
    return test.lower, not test.missing


def _parted(spans, split):
    feature, threshold, missing_left = split
    span = spans.get(feature, _Span())
    left = _Span(span.lower, min(span.upper, threshold), span.missing and missing_left)
    right = _Span(
        max(span.lower, threshold), span.upper, span.missing and not missing_left
    )
    return {**spans, feature: left}, {**spans, feature: right}


def _list_values(rules, leaves):
    """Leaf values, and the rules that do not predict the most probable class."""
    if not rules.outcome.has_probabilities:
        return portable.outputs(rules), []
    labels, values, others = portable.class_labels(rules), [], []
    pairs = zip(rules, portable.predictions(rules), strict=True)
    for k, (rule, prediction) in enumerate(pairs, start=1):
        shares, position = rule.distribution, labels.index(prediction)
        is_other = shares is not None and int(np.argmax(shares)) != position
        if is_other:
            others.append(k)
        if shares is None or (is_other and leaves == "predictions"):
            shares = [float(place == position) for place in range(len(labels))]
        values.append(tuple(float(share) for share in shares))
    return values, others


def _leaf_value(rules, possible, leaves):
    """The combined prediction of matching rules."""
    matches = np.zeros((1, rules.n_rules), dtype=bool)
    matches[0, list(possible)] = True
    [prediction] = rules._form.predict(matches).tolist()
    if not rules.outcome.has_probabilities:
        return (float(prediction),)
    shares = rules._form.probabilities(matches)[0]
    position = np.asarray(rules.outcome.labels).tolist().index(prediction)
    if leaves == "predictions" and int(shares.argmax()) != position:
        shares = np.eye(len(shares))[position]
    return tuple(shares.tolist())


def _merged(nodes):
    """Merge sibling leaves with the same value."""
    for node in reversed(nodes):
        if node.children is not None:
            left, right = (nodes[child] for child in node.children)
            if left.children is right.children is None and left.value == right.value:
                node.value, node.children = left.value, None
                node.feature, node.threshold = NO_FEATURE, float(NO_FEATURE)
                node.missing_left = False
    return nodes


def _in_order(nodes):
    """The remaining nodes in depth-first order, left branch first."""
    order, waiting = [], [0]
    while waiting:
        place = waiting.pop()
        order.append(place)
        if nodes[place].children is not None:
            waiting.extend(reversed(nodes[place].children))
    position = {place: k for k, place in enumerate(order)}
    kept = [nodes[place] for place in order]
    for node in kept:
        if node.children is not None:
            node.children = tuple(position[child] for child in node.children)
    return kept


def _estimator(rules, nodes):
    n_features = len(rules.feature_names)
    outcome = rules.outcome
    estimator, n_outputs = tree.DecisionTreeRegressor(), len(outcome.output_names)
    if outcome.has_probabilities:
        estimator = tree.DecisionTreeClassifier()
        estimator.classes_ = np.asarray(outcome.labels)
        estimator.n_classes_ = n_outputs
    fitted = Tree(n_features, np.array([n_outputs], dtype=np.intp), 1)
    fitted.__setstate__({**fitted.__getstate__(), **_state(fitted, nodes)})
    estimator.tree_ = fitted
    estimator.n_features_in_ = estimator.max_features_ = n_features
    estimator.n_outputs_ = 1
    # Default names of columns without names.
    if rules.feature_names != tuple(f"x{j + 1}" for j in range(n_features)):
        estimator.feature_names_in_ = np.array(rules.feature_names, dtype=object)
    return estimator


def _state(fitted, nodes):
    """The state for `Tree.__setstate__`."""
    table = np.zeros(len(nodes), dtype=fitted.__getstate__()["nodes"].dtype)
    n_outputs = max(len(node.value) for node in nodes if node.value is not None)
    values = np.zeros((len(nodes), 1, n_outputs))
    counts = np.ones(len(nodes))
    depths = np.zeros(len(nodes), dtype=int)
    for k, node in enumerate(nodes):
        table["feature"][k], table["threshold"][k] = node.feature, node.threshold
        table["missing_go_to_left"][k] = node.missing_left
        table["left_child"][k], table["right_child"][k] = node.children or (
            NO_CHILD,
            NO_CHILD,
        )
        depths[list(node.children or ())] = depths[k] + 1
    for k in reversed(range(len(nodes))):
        if nodes[k].children is None:
            values[k, 0] = nodes[k].value
            continue
        below = list(nodes[k].children)
        counts[k] = counts[below].sum()
        values[k] = np.average(values[below], axis=0, weights=counts[below])
    table["n_node_samples"] = table["weighted_n_node_samples"] = counts
    return {
        "max_depth": int(depths.max()),
        "node_count": len(nodes),
        "nodes": table,
        "values": values,
    }
