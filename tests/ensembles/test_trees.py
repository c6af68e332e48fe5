"""Trees, and thresholds that decide as a library does."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from defragtrees.ensembles.forest import Forest, Tree, exact_threshold
from defragtrees.errors import UnsupportedModelError

LARGEST = float(np.finfo(np.float32).max)
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)
ROUNDED = st.floats(width=32, allow_nan=False).map(float)
ANY = st.floats(allow_nan=False) | ROUNDED


def goes_left(x, threshold, dtype, strict):
    """What a library does that rounds x first."""
    with np.errstate(over="ignore"):
        rounded = float(np.float64(x).astype(dtype))
    return rounded < threshold if strict else rounded <= threshold


def beside(x):
    """The number, and the two next to it."""
    with np.errstate(over="ignore"):
        return [x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf)]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@given(threshold=ANY.filter(lambda t: t != -np.inf), other=ANY)
@example(threshold=0.0, other=0.0)
@example(threshold=-0.0, other=-SMALLEST)
@example(threshold=SMALLEST, other=SMALLEST / 2)
@example(threshold=-SMALLEST, other=-SMALLEST / 2)
@example(threshold=1e-50, other=SMALLEST / 2)
@example(threshold=5e-324, other=0.0)
@example(threshold=0.1, other=float(np.float32(0.1)))
@example(threshold=-0.1, other=float(np.float32(-0.1)))
@example(threshold=2.0**24 + 1, other=2.0**24)
@example(threshold=LARGEST, other=LARGEST * (1 + 2.0**-26))
@example(threshold=-LARGEST, other=-LARGEST * (1 + 2.0**-26))
@example(threshold=1e39, other=LARGEST)
@example(threshold=-1e39, other=-LARGEST)
@example(threshold=1e308, other=1e308)
@example(threshold=np.inf, other=1e308)
def test_exact_threshold_decides_as_the_smaller_type_does(
    dtype, strict, threshold, other
):
    exact = float(exact_threshold(threshold, dtype, strict))
    with np.errstate(over="ignore"):
        rounded = np.float64(threshold).astype(dtype)
        near = [float(x) for x in (rounded, *map(dtype, beside(rounded)))]
    for middle in (exact, threshold, other, *near):
        for x in beside(middle):
            expected = goes_left(x, threshold, dtype, strict)
            assert (x <= exact) == expected, (x, exact)


def test_exact_threshold_takes_arrays():
    # Below 0.5 the float32 numbers are 2**-25 apart, above it 2**-24.
    found = exact_threshold([0.5, 3.0], np.float32, strict=True)
    assert found.tolist() == [
        np.nextafter(0.5 - 2.0**-26, 0),
        np.nextafter(3 - 2.0**-23, 0),
    ]
    found = exact_threshold([0.5, 3.0], np.float32)
    assert found.tolist() == [0.5 + 2.0**-25, 3 + 2.0**-23]


def make_tree(**changes):
    """A root on feature 0, its right child on feature 1."""
    parts = {
        "feature": [0, -1, 1, -1, -1],
        "threshold": [0.5, 0, 2.0, 0, 0],
        "left": [1, -1, 3, -1, -1],
        "right": [2, -1, 4, -1, -1],
        "missing_left": [True, False, False, False, False],
        "value": [0.0, 1.0, 0.0, 2.0, 3.0],
        **changes,
    }
    return Tree(**parts)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"left": [5, -1, 3, -1, -1]}, "another node"),
        ({"left": [0, -1, 3, -1, -1]}, "not its root"),
        ({"left": [-1, -1, 3, -1, -1]}, "another node"),
        ({"right": [2, -1, 2, -1, -1]}, "must not form a cycle"),
        ({"threshold": [0.5, 0.0]}, "threshold must"),
        ({"value": [1.0]}, "value must"),
        ({"cover": np.ones(6)}, "cover must"),
    ],
)
def test_a_tree_that_cannot_be_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        make_tree(**changes)


def test_an_empty_tree_is_refused():
    with pytest.raises(ValueError, match="at least one node"):
        Tree([], [], [], [], [], np.empty((0, 1)))


def test_the_depth_is_the_longest_way():
    assert make_tree().depth == 2
    assert Tree([-1], [0.0], [-1], [-1], [False], [1.0]).depth == 0


def test_two_parents_may_share_a_child():
    shared = make_tree(left=[1, -1, 1, -1, -1])
    assert shared.depth == 2


def test_trees_are_compared_by_value():
    assert make_tree() == make_tree()
    assert make_tree() != make_tree(threshold=[0.4, 0, 2.0, 0, 0])
    assert make_tree() != make_tree(cover=np.ones(5))
    assert make_tree() != "tree"


def test_a_pickled_tree_is_equal():
    tree = make_tree(cover=np.arange(5.0))
    assert pickle.loads(pickle.dumps(tree)) == tree


def test_arrays_inside_are_read_only():
    tree = make_tree()
    with pytest.raises(ValueError, match="read-only"):
        tree.threshold[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.threshold = np.zeros(5)


def test_a_forest_of_too_many_classes_is_rejected():
    leaf = Tree([-1], [0], [-1], [-1], [True], np.zeros((1, 10_001)))
    with pytest.raises(UnsupportedModelError, match="at most 10,000 classes"):
        Forest((leaf,), ("a",), "classification", tuple(range(10_001)), "mean")
