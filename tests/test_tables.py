"""Tables of every kind as one float64 matrix."""

import datetime
import decimal
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from defragtrees._utils.formatting import listed
from defragtrees.tables import (
    category_lists,
    check_finite,
    column_kinds,
    column_names,
    feature_index,
    read_matrix,
    select_columns,
)

NAN = np.nan
ONE_DAY = datetime.date(2024, 5, 17)


def rows(matrix):
    """Rows as lists, with None for NaN, so that they can be compared."""
    assert matrix.dtype == np.float64
    return [[None if np.isnan(v) else v for v in row] for row in matrix.tolist()]


def column(matrix):
    return [row[0] for row in rows(matrix)]


@pytest.fixture
def pandas():
    return pytest.importorskip("pandas")


@pytest.fixture
def polars():
    return pytest.importorskip("polars")


class TestArrays:
    @pytest.mark.parametrize("dtype", ["bool", "u1", "i8", "f2", "f4", "f8", "O"])
    def test_numbers_of_any_type_become_float64(self, dtype):
        X = np.array([[0, 1], [1, 0]]).astype(dtype)
        assert rows(read_matrix(X)) == [[0.0, 1.0], [1.0, 0.0]]

    @pytest.mark.parametrize("order", ["C", "F"])
    def test_the_matrix_is_a_new_array_in_row_order(self, order):
        X = np.ones((3, 2), order=order)
        matrix = read_matrix(X)
        matrix[0, 0] = 5.0
        assert X[0, 0] == 1.0
        assert matrix.flags.c_contiguous

    def test_lists_are_read(self):
        assert rows(read_matrix([[1, 2.5], [True, NAN]])) == [[1.0, 2.5], [1.0, None]]

    def test_missing_objects_become_nan(self):
        X = [[1, None], [decimal.Decimal("1.5"), NAN], [np.float32(2), np.int8(3)]]
        found = read_matrix(np.array(X, dtype=object))
        assert rows(found) == [[1.0, None], [1.5, None], [2.0, 3.0]]

    def test_no_rows_and_no_columns_are_allowed(self):
        assert read_matrix(np.empty((0, 3))).shape == (0, 3)
        assert read_matrix(np.empty((0, 3), dtype=object)).shape == (0, 3)
        assert read_matrix(np.empty((2, 0))).shape == (2, 0)

    def test_masked_values_are_missing(self):
        X = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
        assert rows(read_matrix(X)) == [[1.0, None], [3.0, 4.0]]

    @pytest.mark.parametrize("X", [3, [1, 2], np.zeros(4), {"a": [1]}])
    def test_a_table_needs_rows_and_columns(self, X):
        with pytest.raises(
            ValueError, match=r"must have rows and columns.*Reshape your"
        ):
            read_matrix(X)

    def test_a_cube_is_not_told_to_reshape_into_a_column(self):
        with pytest.raises(ValueError, match=r"\(2, 3, 4\). Reshape your data"):
            read_matrix(np.zeros((2, 3, 4)))

    def test_rows_of_different_lengths_are_refused(self):
        with pytest.raises(ValueError, match="must have rows of one length; got list"):
            read_matrix([[1, 2], [3]])

    @pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.coo_array])
    def test_sparse_tables_have_their_zeros(self, kind):
        assert rows(read_matrix(kind([[0.0, 2.0], [3.0, 0.0]]))) == [[0, 2], [3, 0]]

    def test_huge_sparse_tables_are_refused(self):
        with pytest.raises(ValueError, match="got 100000 rows and 100000 columns"):
            read_matrix(sparse.csr_matrix((100_000, 100_000)))

    def test_complex_numbers_are_refused(self):
        with pytest.raises(ValueError, match="Complex data not supported"):
            read_matrix(np.array([[1 + 2j]]))

    def test_structured_arrays_are_refused(self):
        X = np.array([(1, 2.0)], dtype=[("a", int), ("b", float)])
        with pytest.raises(
            ValueError, match="structured array with the fields 'a', 'b'"
        ):
            read_matrix(X)

    @pytest.mark.parametrize("dtype", ["M8[D]", "m8[s]"])
    def test_dates_are_refused(self, dtype):
        with pytest.raises(TypeError, match=r"Column 1 must hold .*dates or times"):
            read_matrix(np.zeros((2, 1), dtype=dtype))

    @pytest.mark.parametrize("X", [[["1.5"]], [["a"]], [[b"a"]], [[1.0, "a"]]])
    def test_text_is_refused_even_if_it_looks_like_a_number(self, X):
        for table in (X, np.array(X), np.array(X, dtype=object)):
            with pytest.raises(
                ValueError, match="must hold numbers; it holds categories or text"
            ):
                read_matrix(table)

    @pytest.mark.parametrize("value", [{}, [1, 2], ONE_DAY, 1j, object()])
    def test_objects_that_are_not_numbers_are_refused_by_column(self, value):
        X = np.zeros((2, 2), dtype=object)
        X[1, 1] = value
        with pytest.raises(TypeError, match="Column 'b' must hold numbers: "):
            read_matrix(X, names=("a", "b"))

    def test_the_number_of_columns_is_checked(self):
        with pytest.raises(ValueError, match="X has 2 features, but the rules saw 3"):
            read_matrix(np.zeros((1, 2)), names=("a", "b", "c"), what="the rules")
        with pytest.raises(ValueError, match="X has 2 features, but the model saw 1"):
            read_matrix(np.zeros((1, 2)), categories=(None,))

    def test_arrays_have_no_names_and_no_categories(self):
        assert column_names(np.zeros((1, 2))) is None
        assert category_lists([["a"]]) is None


class TestCategories:
    def test_positions_unknown_and_missing(self):
        X = [["b"], ["a"], ["z"], [None], [NAN]]
        assert column(read_matrix(X, categories=(("a", "b"),))) == [1, 0, 2, None, None]

    def test_mixed_lists_keep_numbers_as_numbers(self):
        found = read_matrix([["b", 7], ["a", 8]], categories=(("a", "b"), (8, 7)))
        assert rows(found) == [[1.0, 1.0], [0.0, 0.0]]

    def test_numbers_that_numpy_made_text_are_read(self):
        X = np.array([["b", 1.5], ["a", NAN]])
        assert X.dtype.kind == "U"
        found = read_matrix(X, categories=(("a", "b"), None))
        assert rows(found) == [[1.0, 1.5], [0.0, None]]
        with pytest.raises(
            ValueError, match="Column 2 must hold numbers; it holds categories or text"
        ):
            read_matrix(np.array([["b", "c"]]), categories=(("a", "b"), None))

    @pytest.mark.parametrize(
        "values",
        [
            [3, 1, 2],
            [3.0, 1.0, 2.0],
            [np.int8(3), np.float32(1), np.uint64(2)],
            np.array([3.0, 1.0, 2.0], dtype=np.float16),
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("known", [(1, 2), (1.0, 2.0), (np.int64(1), np.int64(2))])
    def test_whole_numbers_match_whatever_their_type(self, values, known):
        for dtype in (None, object):
            X = np.array(list(values), dtype=dtype).reshape(-1, 1)
            assert column(read_matrix(X, categories=(known,))) == [2.0, 0.0, 1.0]

    @pytest.mark.parametrize("known", [(False, True), (0, 1), (np.False_, np.True_)])
    @pytest.mark.parametrize("values", [[True, False], [1.0, 0.0], [np.True_, 0]])
    def test_truth_values_match_zero_and_one(self, known, values):
        for dtype in (None, object):
            X = np.array(values, dtype=dtype).reshape(-1, 1)
            assert column(read_matrix(X, categories=(known,))) == [1.0, 0.0]

    def test_text_is_not_the_number_it_spells(self):
        assert column(read_matrix([["1"], [1]], categories=((1,),))) == [1.0, 0.0]

    def test_no_categories_make_everything_unknown(self):
        assert column(read_matrix([["a"], [None]], categories=((),))) == [0.0, None]

    def test_values_that_cannot_be_categories_are_refused(self):
        with pytest.raises(TypeError, match="Column 1 must hold numbers or categories"):
            read_matrix(np.array([[{}]], dtype=object), categories=(("a",),))

    @given(st.lists(st.sampled_from(["a", "b", "c", 1, 2.0, True, None]), min_size=1))
    @settings(max_examples=60, deadline=None)
    def test_positions_are_those_of_a_plain_search(self, values):
        known = ("c", 2, "a")
        expected = [
            None if v is None else known.index(v) if v in known else 3 for v in values
        ]
        X = np.array(values, dtype=object).reshape(-1, 1)
        assert column(read_matrix(X, categories=(known,))) == expected


class TestNames:
    def test_names_are_text(self, pandas):
        frame = pandas.DataFrame([[1, 2]], columns=["a", 7])
        assert column_names(frame) == ("a", "7")

    def test_repeated_names_are_refused(self, pandas):
        frame = pandas.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
        with pytest.raises(ValueError, match="'a' occurs more than once"):
            read_matrix(frame)
        frame.columns = [1, "1", "c"]
        with pytest.raises(ValueError, match="'1' occurs more than once"):
            column_names(frame)

    def test_columns_are_taken_by_name(self, pandas):
        frame = pandas.DataFrame([[1, 2, "text"]], columns=["b", "a", "c"])
        assert rows(read_matrix(frame, names=("a", "b"))) == [[2.0, 1.0]]
        numbered = frame[["b", "a"]].set_axis([1, 0], axis=1)
        assert rows(read_matrix(numbered, names=("0", "1"))) == [[2.0, 1.0]]
        assert rows(read_matrix(frame, ("c", "a"), (("x", "text"), None))) == [[1, 2]]

    def test_columns_that_are_not_needed_may_be_missing(self, pandas):
        frame = pandas.DataFrame([[1, 2]], columns=["b", "z"])
        matrix = read_matrix(frame, names=("a", "b"), needed={1})
        assert np.isnan(matrix[0, 0])
        assert matrix[0, 1] == 1.0
        with pytest.raises(ValueError, match="missing 'a' and unexpected 'z'"):
            read_matrix(frame, names=("a", "b"), needed={0})

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (("a", "c"), "the rules saw: missing 'c' and unexpected 'b'"),
            (("a", "b", "c"), "missing 'c'. Rename"),
        ],
    )
    def test_other_names_are_refused(self, names, message, pandas):
        frame = pandas.DataFrame([[1, 2]], columns=["a", "b"])
        with pytest.raises(ValueError, match=message):
            read_matrix(frame, names=names, what="the rules")

    def test_columns_are_selected_by_name(self, pandas, polars):
        for frame in (
            pandas.DataFrame({"a": [1], "b": [2], "c": [3]}),
            polars.DataFrame({"a": [1], "b": [2], "c": [3]}),
        ):
            assert list(select_columns(frame, ("c", "a")).columns) == ["c", "a"]
            assert select_columns(frame, ("c", "z")) is frame
            assert select_columns(frame, ("a", "b", "c")) is frame
            assert select_columns(frame, ()) is frame

    def test_long_lists_of_names_are_cut_after_five(self, pandas):
        frame = pandas.DataFrame([[0]], columns=["z"])
        with pytest.raises(ValueError, match="'a', 'b', 'c', 'd', 'e', … and unexp"):
            read_matrix(frame, names=tuple("abcdefg"))

    def test_an_model_without_names_takes_columns_by_position(self, pandas):
        frame = pandas.DataFrame([[1, 2]], columns=["size", "age"])
        assert rows(read_matrix(frame, names=("x1", "x2"))) == [[1.0, 2.0]]
        with pytest.raises(ValueError, match="X has 2 features"):
            read_matrix(frame, names=("x1", "x2", "x3"))
        turned = frame.set_axis(["x2", "x1"], axis=1)
        assert rows(read_matrix(turned, names=("x1", "x2"))) == [[2.0, 1.0]]

    def test_a_frame_without_names_is_taken_by_position(self, pandas):
        frame = pandas.DataFrame([[1, 2]])
        assert rows(read_matrix(frame, names=("size", "age"))) == [[1.0, 2.0]]
        with pytest.raises(ValueError, match="X has 2 features"):
            read_matrix(frame, names=("size",))


class TestPandas:
    @pytest.mark.parametrize(
        "dtype",
        ["bool", "int8", "uint16", "float32", "Int64", "UInt8", "Float32", "boolean"],
    )
    def test_numeric_types(self, dtype, pandas):
        frame = pandas.DataFrame({"a": [0, 1]}).astype(dtype)
        assert column(read_matrix(frame)) == [0.0, 1.0]
        assert category_lists(frame) == (None,)

    @pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "object"])
    def test_nullable_types_with_gaps(self, dtype, pandas):
        values = pandas.array([1, None, 0], dtype=dtype)
        frame = pandas.DataFrame({"a": values})
        assert column(read_matrix(frame)) == [1.0, None, 0.0]
        assert column(read_matrix(frame, categories=((0, 1),))) == [1.0, None, 0.0]
        assert category_lists(frame) == (None,)

    @pytest.mark.parametrize(
        "dtype",
        # Before pandas 3 "str" makes words of gaps.
        ["string", pytest.param("str", marks=pytest.mark.printed), "category"],
    )
    def test_text_with_gaps(self, dtype, pandas):
        frame = pandas.DataFrame({"a": pandas.array(["x", None, "y"], dtype="string")})
        frame = frame.astype(dtype)
        assert category_lists(frame) == (("x", "y"),)
        assert column(read_matrix(frame, categories=(("x", "y"),))) == [0, None, 1]
        assert column_kinds(frame) == (None,)

    def test_missing_values_of_every_kind(self, pandas):
        values = [1, None, NAN, pandas.NA, pandas.NaT, decimal.Decimal("NaN")]
        frame = pandas.DataFrame({"a": pandas.Series(values, dtype=object)})
        assert column(read_matrix(frame)) == [1.0] + [None] * 5
        assert column(read_matrix(frame, categories=((1,),))) == [0.0] + [None] * 5

    def test_sparse_columns(self, pandas):
        frame = pandas.DataFrame({"a": pandas.arrays.SparseArray([0.0, 2.0, NAN])})
        assert column(read_matrix(frame)) == [0.0, 2.0, None]

    @pytest.mark.parametrize(
        ("name", "values", "expected"),
        [
            ("int64", [1, None], [1.0, None]),
            ("float64", [1.5, None], [1.5, None]),
            ("bool_", [True, None], [1.0, None]),
        ],
    )
    def test_arrow_numbers(self, name, values, expected, pandas):
        pyarrow = pytest.importorskip("pyarrow")
        dtype = pandas.ArrowDtype(getattr(pyarrow, name)())
        frame = pandas.DataFrame({"a": pandas.Series(values, dtype=dtype)})
        assert column(read_matrix(frame)) == expected
        assert category_lists(frame) == (None,)

    def test_arrow_decimals_and_text(self, pandas):
        pyarrow = pytest.importorskip("pyarrow")
        money = pandas.ArrowDtype(pyarrow.decimal128(5, 2))
        frame = pandas.DataFrame(
            {"a": pandas.Series([decimal.Decimal("1.25"), None], dtype=money)}
        )
        assert column(read_matrix(frame)) == [1.25, None]
        for kind in (
            pyarrow.string(),
            pyarrow.large_string(),
            pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
        ):
            text = pandas.Series(["b", "a", None], dtype=pandas.ArrowDtype(kind))
            frame = pandas.DataFrame({"a": text})
            assert category_lists(frame) == (("a", "b"),)
            assert column(read_matrix(frame, categories=(("a", "b"),))) == [1, 0, None]

    @pytest.mark.parametrize("dtype", ["object", "string", "str"])
    def test_text_is_categorical(self, dtype, pandas):
        frame = pandas.DataFrame(
            {"a": pandas.Series(["b", None, "a", "b"], dtype=dtype)}
        )
        assert category_lists(frame) == (("a", "b"),)
        assert column(read_matrix(frame, categories=(("b",),))) == [0, None, 1, 0]
        with pytest.raises(
            ValueError, match="Column 'a' must hold numbers; it holds categories or"
        ):
            read_matrix(frame)

    def test_text_beside_numbers_in_one_column(self, pandas):
        frame = pandas.DataFrame({"a": pandas.Series(["b", 10, 9, None], dtype=object)})
        assert category_lists(frame) == ((9, 10, "b"),)

    @pytest.mark.parametrize("ordered", [False, True])
    def test_declared_categories_keep_their_order(self, ordered, pandas):
        values = pandas.Categorical(
            ["lo", "hi", None], categories=["lo", "mid", "hi"], ordered=ordered
        )
        frame = pandas.DataFrame({"a": values})
        assert category_lists(frame) == (("lo", "mid", "hi"),)
        assert column(read_matrix(frame, categories=(("hi", "lo"),))) == [1, 0, None]
        with pytest.raises(
            ValueError, match="Column 'a' must hold numbers; it holds categories or"
        ):
            read_matrix(frame)

    def test_categories_that_are_numbers_may_be_read_as_numbers(self, pandas):
        frame = pandas.DataFrame({"a": pandas.Categorical([20, 10, None, 20])})
        assert category_lists(frame) == ((10, 20),)
        assert column(read_matrix(frame)) == [20.0, 10.0, None, 20.0]
        assert column(read_matrix(frame, categories=((20.0,),))) == [0, 1, None, 0]

    def test_more_categories_than_a_small_code_can_hold(self, pandas):
        labels = [f"c{j:04d}" for j in range(300)]
        frame = pandas.DataFrame({"a": pandas.Categorical(labels)})
        assert column(read_matrix(frame, categories=(tuple(labels),))) == list(
            range(300)
        )

    def test_dates_are_refused_by_name(self, pandas):
        day = pandas.Timestamp("2024-05-17")
        for values in (
            [day],
            [day.tz_localize("UTC")],
            [day - day],
            pandas.array([day.to_period("D")]),
            pandas.Series([day], dtype=object),
            pandas.Series([ONE_DAY], dtype=object),
            pandas.Series([np.datetime64("2024-05-17")], dtype=object),
        ):
            frame = pandas.DataFrame({"n": [1.0], "when": values})
            with pytest.raises(TypeError, match="Column 'when' must hold numbers"):
                read_matrix(frame)

    def test_complex_columns_are_refused_by_name(self, pandas):
        frame = pandas.DataFrame({"a": [1 + 2j]})
        with pytest.raises(ValueError, match="not supported; column 'a' holds complex"):
            read_matrix(frame)

    def test_no_rows(self, pandas):
        frame = pandas.DataFrame({"a": [1.0], "b": ["x"], "c": ["y"]}).iloc[:0]
        frame["c"] = frame["c"].astype("category")
        assert category_lists(frame) == (None, None, ())
        found = read_matrix(frame, categories=(None, ("x",), ("y",)))
        assert found.shape == (0, 3)

    def test_the_index_is_of_no_matter(self, pandas):
        frame = pandas.DataFrame({"a": [1.0, 2.0]}, index=[7, 3])
        assert column(read_matrix(frame)) == [1.0, 2.0]

    def test_the_frame_is_left_as_it_was(self, pandas):
        frame = pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", None]})
        before = frame.copy()
        matrix = read_matrix(frame, categories=(None, ("x",)))
        matrix[:] = 9.0
        pandas.testing.assert_frame_equal(frame, before)


class TestPolars:
    def test_numeric_types(self, polars):
        frame = polars.DataFrame(
            {
                "a": polars.Series([1, None, 3], dtype=polars.Int8),
                "b": polars.Series([1.5, None, NAN]),
                "c": polars.Series([True, None, False]),
                "d": polars.Series([decimal.Decimal("1.5"), None, None]),
                "e": polars.Series([None, None, None]),
            }
        )
        assert column_names(frame) == ("a", "b", "c", "d", "e")
        assert category_lists(frame) == (None,) * 5
        assert rows(read_matrix(frame)) == [
            [1.0, 1.5, 1.0, 1.5, None],
            [None] * 5,
            [3.0, None, 0.0, None, None],
        ]
        known = ((3, 1), (1.5,), (False, True), (1.5,), ())
        assert rows(read_matrix(frame, categories=known)) == [
            [1.0, 0.0, 1.0, 0.0, None],
            [None] * 5,
            [0.0, None, 0.0, None, None],
        ]

    def test_numbers_that_numpy_does_not_have(self, polars):
        frame = polars.DataFrame({"a": polars.Series([7, None], dtype=polars.Int128)})
        assert column(read_matrix(frame)) == [7.0, None]

    def test_text_and_categorical(self, polars):
        values = ["b", None, "a", "b"]
        # Categories are shared between columns; other columns must not show.
        other = polars.Series("other", ["z", "b", "y", "c"], dtype=polars.Categorical)
        for dtype in (polars.String, polars.Categorical):
            frame = polars.DataFrame([other, polars.Series("a", values, dtype=dtype)])
            assert category_lists(frame) == (("b", "c", "y", "z"), ("a", "b"))
            found = read_matrix(frame, categories=(("y",), ("q", "b")))
            assert rows(found) == [[1, 1], [1, None], [0, 2], [1, 1]]
            with pytest.raises(
                ValueError,
                match="Column 'other' must hold numbers; it holds categories",
            ):
                read_matrix(frame)

    def test_enum_keeps_its_order(self, polars):
        sizes = polars.Enum(["lo", "mid", "hi"])
        frame = polars.DataFrame({"a": polars.Series(["hi", None, "lo"], dtype=sizes)})
        assert category_lists(frame) == (("lo", "mid", "hi"),)
        assert column(read_matrix(frame, categories=(("hi", "mid"),))) == [0, None, 2]

    def test_only_missing_categories(self, polars):
        dtype = polars.Categorical
        frame = polars.DataFrame({"a": polars.Series([None, None], dtype=dtype)})
        assert column(read_matrix(frame, categories=(("a",),))) == [None, None]

    @pytest.mark.parametrize(
        "value",
        [
            ONE_DAY,
            datetime.datetime(2024, 5, 17),
            datetime.timedelta(1),
            datetime.time(1),
        ],
        ids=repr,
    )
    def test_dates_are_refused_by_name(self, value, polars):
        frame = polars.DataFrame({"n": [1.0], "when": [value]})
        with pytest.raises(TypeError, match=r"Column 'when' must .* dates or times"):
            read_matrix(frame)

    @pytest.mark.parametrize("value", [[1, 2], {"a": 1}], ids=repr)
    def test_nested_columns_are_refused_by_name(self, value, polars):
        frame = polars.DataFrame({"n": [1.0], "many": [value]})
        with pytest.raises(TypeError, match="Column 'many' must hold numbers: "):
            read_matrix(frame)
        with pytest.raises(TypeError, match="Column 'many' must hold numbers or cat"):
            category_lists(frame)

    def test_no_rows(self, polars):
        schema = {"a": polars.Float64, "b": polars.Categorical, "c": polars.String}
        frame = polars.DataFrame(schema=schema)
        known = (None, ("x",), ("y",))
        assert read_matrix(frame, categories=known).shape == (0, 3)

    def test_lazy_frames_are_told_to_collect(self, polars):
        frame = polars.DataFrame({"a": [1]}).lazy()
        for function in (read_matrix, column_names, category_lists):
            with pytest.raises(
                TypeError, match=r"polars.LazyFrame. Pass X.collect\(\)"
            ):
                function(frame)


def test_tables_that_are_not_in_memory_are_told_to_compute():
    frame = type("DataFrame", (), {"__module__": "dask.dataframe"})()
    with pytest.raises(TypeError, match=r"got dask.DataFrame. Pass X.compute\(\)"):
        read_matrix(frame)


def test_arrow_tables_are_told_to_become_frames():
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match=r"Pass X.to_pandas\(\)"):
        read_matrix(pyarrow.table({"a": [1]}))


@pytest.mark.parametrize("kind", ["object", "str", "category", "float", "polars"])
def test_no_function_is_called_for_each_row(kind, pandas, polars):
    n_rows, n_calls = 20_000, 0
    codes = np.random.default_rng(0).integers(50, size=n_rows)
    labels = np.array([f"label {j}" for j in range(50)])
    known = tuple(labels[10:40].tolist())
    if kind == "polars":
        series = polars.Series(labels[codes], dtype=polars.Categorical)
        frame = polars.DataFrame({"a": series})
    elif kind == "float":
        frame = pandas.DataFrame({"a": codes + 0.0})
        known = tuple(range(10, 40))
    else:
        frame = pandas.DataFrame({"a": labels[codes]}).astype(kind)

    def count(frame, event, argument):
        nonlocal n_calls
        n_calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        matrix = read_matrix(frame, categories=(known,))
    finally:
        sys.setprofile(before)
    assert 0 < n_calls < n_rows / 2
    expected = np.where((codes >= 10) & (codes < 40), codes - 10, 30)
    assert (matrix[:, 0] == expected).all()


def test_infinite_columns_are_named():
    names = tuple("abcdefgh")
    matrix = np.zeros((3, 8))
    matrix[1, 2] = NAN
    assert check_finite(matrix, names) is None
    matrix[1, 1] = np.inf
    matrix[2, 7] = -np.inf
    message = (
        r"Input X contains infinity or a value too large for dtype\('float64'\); "
        r"'b', 'h' must hold finite numbers or NaN\. Replace or drop these values\."
    )
    with pytest.raises(ValueError, match=message):
        check_finite(matrix, names)
    with pytest.raises(ValueError, match="'a', 'b', 'c', 'd', 'e', … must"):
        check_finite(np.full((1, 8), np.inf), names)


def test_lists_in_messages_are_cut_after_five():
    assert listed([]) == ""
    assert listed(["a", 1]) == "'a', 1"
    assert listed(range(5)) == "0, 1, 2, 3, 4"
    assert listed(range(6)) == "0, 1, 2, 3, 4, …"


@pytest.mark.parametrize(
    ("which", "expected"), [("age", 1), (0, 0), (-1, 1), (np.int64(1), 1)]
)
def test_a_feature_is_looked_up_by_name_or_number(which, expected):
    assert feature_index(which, ("size", "age")) == expected


@pytest.mark.parametrize("which", ["weight", 2, -3, True, 1.0, None])
def test_what_is_no_feature_is_refused(which):
    with pytest.raises(ValueError, match=r"not a feature of X. .* such as 'size'"):
        feature_index(which, ("size", "age"))


def test_a_misspelt_feature_is_guessed():
    with pytest.raises(ValueError, match=r"not a feature of X; did you mean 'Age'\?"):
        feature_index("age", ("Income", "Age"))
    with pytest.raises(ValueError, match="such as 'Income', 'Age'"):
        feature_index("opened", ("Income", "Age"))
    with pytest.raises(ValueError, match="such as 'Income', 'Age'"):
        feature_index(7, ("Income", "Age"))
