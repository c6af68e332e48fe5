"""Pipelines: the forest on raw columns answers what the pipeline answers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
)
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier

from defragtrees import read_forest
from defragtrees.errors import UnsupportedModelError

pytestmark = [
    pytest.mark.filterwarnings("ignore:Found unknown categories"),
    pytest.mark.filterwarnings("ignore:Feature . is constant"),
    pytest.mark.filterwarnings("ignore:Bins whose width are too small"),
]

NUMBERS = ["age", "income", "debt"]
CITIES = ["Bern", "Lima", "Oslo", "Rome", "Ulm"]


def make_frame(n_rows=140, seed=0):
    """Numbers, skewed numbers, text with gaps, whole numbers that are codes, truth."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows).astype(float),
            "income": np.exp(rng.normal(3, 1, n_rows)),
            "debt": rng.normal(0, 2, n_rows),
            "city": rng.choice(CITIES, n_rows, p=[0.4, 0.3, 0.2, 0.07, 0.03]),
            "colour": rng.choice(["red", "blue", "green"], n_rows),
            "grade": rng.choice([1, 2, 3, 7], n_rows),
            "member": rng.random(n_rows) < 0.5,
            "note": [f"row {i}" for i in range(n_rows)],
        }
    )
    frame["city"] = frame["city"].astype(object)
    frame["colour"] = frame["colour"].astype(object)
    return frame


def with_gaps(frame, columns, seed=1):
    rng = np.random.default_rng(seed)
    frame = frame.copy()
    for name in columns:
        frame.loc[rng.random(len(frame)) < 0.15, name] = np.nan
    return frame


def labels_of(frame):
    score = (
        (frame["age"].fillna(30) > 45).astype(float)
        + frame["city"].isin(["Bern", "Rome"])
        + (frame["income"].fillna(20) > 20)
        + (frame["grade"] == 3)
        + (frame["colour"] == "red")
        + frame["debt"].fillna(0) / 2
    )
    return np.where(score > 2, "yes", "no"), score.to_numpy()


def classifier(**settings):
    return RandomForestClassifier(5, max_depth=6, random_state=0, **settings)


def one_hot(**settings):
    return OneHotEncoder(**{"handle_unknown": "ignore"} | settings)


def numbers_by(*steps):
    """All numbers through some steps."""
    return ColumnTransformer([("numbers", make_pipeline(*steps), NUMBERS)])


def columns_by(rest="drop", **parts):
    """A part named `city_grade` takes the columns city and grade."""
    return ColumnTransformer(
        [(name, step, name.split("_")) for name, step in parts.items()], remainder=rest
    )


TEXT = ["city", "colour"]
# name: (pipeline without its last step, columns that may be missing, or unknown)
STEPS = {
    "scaled": (numbers_by(StandardScaler()), [], []),
    "not centred": (numbers_by(StandardScaler(with_mean=False)), [], []),
    "to a range": (numbers_by(MinMaxScaler((-1, 3))), [], []),
    "clipped to a range": (numbers_by(MinMaxScaler(clip=True)), [], []),
    "robust": (numbers_by(RobustScaler(unit_variance=True)), [], []),
    "by largest": (numbers_by(MaxAbsScaler()), [], []),
    "uniform": (numbers_by(QuantileTransformer(n_quantiles=20)), [], []),
    "normal": (
        numbers_by(QuantileTransformer(n_quantiles=30, output_distribution="normal")),
        [],
        [],
    ),
    "Yeo and Johnson": (numbers_by(PowerTransformer()), [], []),
    "Box and Cox": (columns_by(income=PowerTransformer("box-cox")), [], []),
    "log": (columns_by(income=FunctionTransformer(np.log1p)), [], []),
    "root, then scaled": (
        columns_by(
            income=make_pipeline(FunctionTransformer(np.sqrt), StandardScaler())
        ),
        [],
        [],
    ),
    "turned round": (numbers_by(FunctionTransformer(np.negative)), [], []),
    "size and square": (
        columns_by(
            debt=FunctionTransformer(np.abs), age_debt=FunctionTransformer(np.square)
        ),
        [],
        [],
    ),
    "rounded and cut": (
        columns_by(
            debt=FunctionTransformer(np.clip, kw_args={"a_min": -1, "a_max": 1}),
            income=FunctionTransformer(np.round, kw_args={"decimals": 1}),
        ),
        [],
        [],
    ),
    "yes or no": (
        columns_by(debt=Binarizer(threshold=0.3), age=StandardScaler()),
        [],
        [],
    ),
    "bins in order": (
        numbers_by(KBinsDiscretizer(5, encode="ordinal", strategy="uniform")),
        [],
        [],
    ),
    "bins one by one": (
        columns_by(
            age_income=KBinsDiscretizer(4, encode="onehot", strategy="uniform"),
            debt="passthrough",
        ),
        [],
        [],
    ),
    "mean for gaps": (numbers_by(SimpleImputer(), StandardScaler()), NUMBERS, []),
    "median and gaps": (
        numbers_by(SimpleImputer(strategy="median", add_indicator=True)),
        NUMBERS,
        [],
    ),
    "gaps alone": (
        columns_by(age_income=MissingIndicator(features="all"), debt=SimpleImputer()),
        NUMBERS,
        [],
    ),
    "minus one means missing": (
        columns_by(
            grade=SimpleImputer(missing_values=7, strategy="mean", add_indicator=True),
            debt="passthrough",
        ),
        [],
        [],
    ),
    "one-hot": (columns_by(city_colour=one_hot(), debt="passthrough"), TEXT, TEXT),
    "one-hot, dense": (
        columns_by(city_colour=one_hot(sparse_output=False), grade=one_hot()),
        TEXT,
        [*TEXT, "grade"],
    ),
    "without the first": (
        columns_by(city_colour=one_hot(drop="first"), age="passthrough"),
        TEXT,
        TEXT,
    ),
    "of two only one": (
        columns_by(member_city=one_hot(drop="if_binary"), age="passthrough"),
        ["city"],
        ["city"],
    ),
    "rare ones together": (
        columns_by(
            city=one_hot(handle_unknown="infrequent_if_exist", min_frequency=20),
            colour=one_hot(max_categories=2),
            age="passthrough",
        ),
        TEXT,
        TEXT,
    ),
    "unknown ones refused": (
        columns_by(city_colour=OneHotEncoder(), age="passthrough"),
        [],
        [],
    ),
    "frequent ones for gaps": (
        columns_by(
            city_colour=make_pipeline(
                SimpleImputer(strategy="most_frequent"), one_hot()
            ),
            age=SimpleImputer(),
        ),
        [*TEXT, "age"],
        TEXT,
    ),
    "a word for gaps": (
        columns_by(
            city_colour=make_pipeline(
                SimpleImputer(strategy="constant", fill_value="none"), one_hot()
            ),
            age="passthrough",
        ),
        TEXT,
        TEXT,
    ),
    "in order": (
        columns_by(
            city_colour=OrdinalEncoder(
                handle_unknown="use_encoded_value",
                unknown_value=-1,
                encoded_missing_value=-2,
            ),
            debt="passthrough",
        ),
        TEXT,
        TEXT,
    ),
    "in an order of one's own": (
        columns_by(
            colour=OrdinalEncoder(categories=[["red", "green", "blue"]]),
            grade=OrdinalEncoder(),
            debt="passthrough",
        ),
        [],
        [],
    ),
    "mean of the target": (
        columns_by(city_colour=TargetEncoder(cv=2), debt="passthrough"),
        TEXT,
        TEXT,
    ),
    "numbers as codes and as numbers": (
        FeatureUnion(
            [
                ("codes", columns_by(grade=one_hot())),
                ("number", columns_by(grade=StandardScaler(), debt="passthrough")),
            ]
        ),
        [],
        [],
    ),
    "weighed": (
        ColumnTransformer(
            [("a", StandardScaler(), ["age"]), ("b", "passthrough", ["debt"])],
            transformer_weights={"a": 0.3, "b": -2.0},
        ),
        [],
        [],
    ),
    "chosen by kind": (
        ColumnTransformer(
            [
                ("n", SimpleImputer(), make_column_selector(dtype_include="float64")),
                ("t", one_hot(), TEXT),
            ]
        ),
        [*NUMBERS, *TEXT],
        TEXT,
    ),
    "the rest as it is": (
        ColumnTransformer(
            [("no", "drop", ["note"]), ("t", one_hot(), TEXT)], remainder="passthrough"
        ),
        TEXT,
        TEXT,
    ),
    "best few": (
        make_pipeline(
            columns_by(city_colour=one_hot(), age_income_debt="passthrough"),
            SelectKBest(k=4),
        ),
        TEXT,
        TEXT,
    ),
    "what varies, then what counts": (
        make_pipeline(
            columns_by(city_colour=one_hot(), age_income_debt=StandardScaler()),
            VarianceThreshold(0.1),
            SelectPercentile(percentile=80),
            SelectFromModel(DecisionTreeClassifier(random_state=0), max_features=3),
        ),
        TEXT,
        TEXT,
    ),
    "left out one by one": (
        make_pipeline(
            columns_by(
                city=one_hot(sparse_output=False), age_income_debt="passthrough"
            ),
            RFE(DecisionTreeClassifier(random_state=0), n_features_to_select=4),
        ),
        ["city"],
        ["city"],
    ),
    "frames all the way": (
        make_pipeline(
            ColumnTransformer(
                [
                    ("n", StandardScaler(), NUMBERS),
                    ("t", one_hot(sparse_output=False), TEXT),
                ],
                verbose_feature_names_out=False,
            ).set_output(transform="pandas"),
            ColumnTransformer(
                [("z", MinMaxScaler(), ["debt"])], remainder="passthrough"
            ).set_output(transform="pandas"),
        ),
        TEXT,
        TEXT,
    ),
    "within one another": (
        make_pipeline(
            ColumnTransformer(
                [
                    (
                        "inner",
                        make_pipeline(
                            columns_by(age=SimpleImputer(), income="passthrough"),
                            FeatureUnion(
                                [
                                    ("log", FunctionTransformer(np.log1p)),
                                    ("bins", KBinsDiscretizer(3, encode="ordinal")),
                                    ("as it is", "passthrough"),
                                    ("not", "drop"),
                                ]
                            ),
                        ),
                        ["age", "income"],
                    ),
                    ("t", one_hot(), ["city"]),
                    ("nothing", StandardScaler(), []),
                ]
            ),
            "passthrough",
            MaxAbsScaler(),
        ),
        ["age", "city"],
        ["city"],
    ),
}


def rows_at_thresholds(forest, frame):
    """Rows of the frame with one number on a threshold, or one ulp beside it."""
    parts = []
    for name, known, splits in zip(
        forest.feature_names, forest.categories, forest.splits(), strict=True
    ):
        if known is not None:
            continue
        finite = splits[np.isfinite(splits)]
        around = np.concatenate(
            [finite, np.nextafter(finite, -np.inf), np.nextafter(finite, np.inf)]
        )
        rows = frame.iloc[np.arange(len(around)) % len(frame)].copy()
        rows[name] = around
        parts.append(rows)
    return pd.concat(parts) if parts else frame[:0]


def check_rows(forest, pipeline, rows):
    if len(rows) == 0:
        return
    assert forest.predict(rows).tolist() == pipeline.predict(rows).tolist()
    if forest.classes is not None and hasattr(pipeline, "predict_proba"):
        np.testing.assert_allclose(
            forest.predict_proba(rows), pipeline.predict_proba(rows), atol=1e-12
        )


def check_pipeline(pipeline, frame, missing=(), unknown=()):
    """Equal on rows seen and new, beside thresholds, with gaps and new categories."""
    forest = read_forest(pipeline)
    new = with_gaps(make_frame(200, seed=5), missing, seed=6)
    odd = new.copy()
    for name in unknown:
        odd.loc[odd.index % 2 == 0, name] = 99 if name == "grade" else "Paris"
    for rows in (frame, new, odd, rows_at_thresholds(forest, new)):
        check_rows(forest, pipeline, rows)
    return forest


@pytest.mark.parametrize("name", STEPS)
def test_pipeline_is_read_exactly(name):
    steps, missing, unknown = STEPS[name]
    frame = with_gaps(make_frame(), missing)
    y = labels_of(frame)[0]
    pipeline = Pipeline([("before", steps), ("forest", classifier())]).fit(frame, y)
    forest = check_pipeline(pipeline, frame, missing, unknown)
    assert "note" not in forest.feature_names
    assert sum(len(splits) for splits in forest.splits()) > 3


def boosted(library):
    if library == "hist":
        return HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5)
    if library == "gradient":
        return GradientBoostingClassifier(n_estimators=5, random_state=0)
    if library == "xgboost":
        kind = pytest.importorskip("xgboost").XGBClassifier
        return kind(n_estimators=5, max_depth=4, n_jobs=1)
    kind = pytest.importorskip("lightgbm").LGBMClassifier
    return kind(n_estimators=5, min_child_samples=5, verbose=-1, n_jobs=1)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("library", ["hist", "gradient", "xgboost", "lightgbm"])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_last_step_of_any_library(library, sparse):
    if sparse and library == "hist":
        pytest.skip("takes no sparse matrices")
    missing = [*TEXT, *([] if library == "gradient" else ["age", "debt"])]
    frame = with_gaps(make_frame(), missing)
    y = (labels_of(frame)[0] == "yes").astype(int)
    # XGBoost takes a zero of a sparse matrix for a missing value; none of a dense one.
    steps = ColumnTransformer(
        [("t", one_hot(), TEXT), ("n", StandardScaler(), NUMBERS)],
        sparse_threshold=1.0 if sparse else 0.0,
    )
    pipeline = make_pipeline(steps, boosted(library)).fit(frame, y)
    forest = read_forest(pipeline)
    new = with_gaps(make_frame(200, seed=5), missing, seed=6)
    for rows in (frame, new, rows_at_thresholds(forest, new)):
        expected = pipeline.predict_proba(rows)
        np.testing.assert_allclose(forest.predict_proba(rows), expected, atol=1e-6)
        assert (forest.predict(rows) == pipeline.predict(rows)).all()


def test_codes_that_the_last_step_takes_for_categories():
    frame = with_gaps(make_frame(), TEXT)
    steps = columns_by(
        city_colour=OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=np.nan
        ),
        debt="passthrough",
    )
    last = HistGradientBoostingClassifier(
        max_iter=8, min_samples_leaf=5, categorical_features=[0, 1]
    )
    pipeline = make_pipeline(steps, last).fit(frame, labels_of(frame)[0])
    forest = check_pipeline(pipeline, frame, TEXT, TEXT)
    assert set(forest.categories[forest.feature_names.index("city")]) == set(CITIES)


def test_numbers_and_arrays_without_names():
    X = make_frame()[NUMBERS].to_numpy()
    y = labels_of(make_frame())[1]
    steps = ColumnTransformer([("a", StandardScaler(), [2]), ("b", "passthrough", [0])])
    pipeline = make_pipeline(steps, ExtraTreesRegressor(4, random_state=0)).fit(X, y)
    forest = read_forest(pipeline)
    assert forest.feature_names == ("x1", "x2", "x3")
    np.testing.assert_allclose(forest.predict(X), pipeline.predict(X), rtol=1e-12)
    # What the pipeline does not look at may be anything.
    mixed = X.astype(object)
    mixed[:, 1] = "text"
    assert (forest.predict(mixed) == forest.predict(X)).all()


def test_one_hot_columns_are_one_feature_with_the_labels_of_the_table():
    frame = make_frame()
    steps = columns_by(city_colour=one_hot(), age=StandardScaler())
    pipeline = make_pipeline(steps, classifier()).fit(frame, labels_of(frame)[0])
    forest = read_forest(pipeline)
    assert forest.feature_names == ("age", "city", "colour")
    assert forest.categories == (
        None,
        ("Bern", "Lima", "Oslo", "Rome", "Ulm"),
        ("blue", "green", "red"),
    )
    [ages, _, _] = forest.splits()
    # Ages are whole numbers, and scaled thresholds lie halfway between two of them.
    assert np.allclose(2 * ages, np.rint(2 * ages), atol=1e-4)


LEVELS = ["red", "green", "blue"]


def test_categories_that_the_user_lists_have_an_order():
    frame = with_gaps(make_frame(), ["colour"])
    encoders = {
        "given": OrdinalEncoder(categories=[LEVELS]),
        "sorted": OrdinalEncoder(),
        "one-hot": OneHotEncoder(categories=[LEVELS], handle_unknown="ignore"),
    }
    kinds = {}
    for name, encoder in encoders.items():
        encoder = make_pipeline(SimpleImputer(strategy="most_frequent"), encoder)
        pipeline = make_pipeline(columns_by(colour=encoder), classifier())
        forest = read_forest(pipeline.fit(frame, labels_of(frame)[0]))
        kinds[name] = forest.feature_kinds
    assert kinds == {"given": ("ordered",), "sorted": None, "one-hot": None}


@pytest.mark.parametrize(
    ("other", "kinds"),
    [
        (OneHotEncoder(), ("ordered",)),
        (OrdinalEncoder(categories=[LEVELS]), ("ordered",)),
        (OrdinalEncoder(categories=[LEVELS[::-1]]), None),
        (OneHotEncoder(categories=[["blue", "green", "pink", "red"]]), None),
    ],
)
def test_an_order_holds_where_all_that_have_one_agree(other, kinds):
    frame = make_frame()
    own = OrdinalEncoder(categories=[LEVELS])
    steps = ColumnTransformer([("a", other, ["colour"]), ("b", own, ["colour"])])
    pipeline = make_pipeline(steps, classifier()).fit(frame, labels_of(frame)[0])
    forest = check_pipeline(pipeline, frame)
    assert forest.feature_kinds == kinds
    if kinds:
        assert forest.categories == (tuple(LEVELS),)


def test_members_on_the_same_columns_keep_an_order():
    frame = make_frame()
    steps = columns_by(colour=OrdinalEncoder(categories=[LEVELS]), city=one_hot())
    pipeline = make_pipeline(steps, classifier())
    voting = VotingClassifier([("a", pipeline), ("b", pipeline)], voting="soft")
    forest = read_forest(voting.fit(frame, labels_of(frame)[0]))
    kinds = dict(zip(forest.feature_names, forest.feature_kinds, strict=True))
    assert kinds == {"colour": "ordered", "city": None}


def test_a_label_for_gaps_alone_stands_beside_the_others():
    frame = with_gaps(make_frame(), ["city"])
    fill = SimpleImputer(strategy="constant", fill_value="none")
    steps = columns_by(city=make_pipeline(fill, one_hot()), age="passthrough")
    pipeline = make_pipeline(steps, classifier()).fit(frame, labels_of(frame)[0])
    forest = read_forest(pipeline)
    named = frame.assign(city=frame["city"].fillna("none"))
    assert (forest.predict(named) == forest.predict(frame)).all()


number_steps = st.sampled_from(
    [
        "passthrough",
        StandardScaler(),
        MinMaxScaler(clip=True),
        RobustScaler(),
        MaxAbsScaler(),
        QuantileTransformer(n_quantiles=15),
        PowerTransformer(),
        KBinsDiscretizer(3, encode="ordinal", strategy="uniform"),
        KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"),
        FunctionTransformer(np.cbrt),
        FunctionTransformer(np.abs),
        Binarizer(threshold=1.0),
    ]
)
text_steps = st.sampled_from(
    [
        one_hot(),
        one_hot(drop="first", sparse_output=False),
        one_hot(max_categories=3, handle_unknown="infrequent_if_exist"),
        OrdinalEncoder(
            handle_unknown="use_encoded_value",
            unknown_value=-3,
            encoded_missing_value=-2,
        ),
        TargetEncoder(cv=2),
        make_pipeline(SimpleImputer(strategy="most_frequent"), one_hot()),
    ]
)


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    # To shrink an example would take minutes.
    phases=(Phase.explicit, Phase.generate),
)
@given(
    chains=st.lists(st.tuples(number_steps, number_steps), min_size=3, max_size=3),
    fills=st.lists(st.booleans(), min_size=3, max_size=3),
    texts=st.tuples(text_steps, text_steps),
    sparse=st.sampled_from([0.0, 1.0]),
    is_number=st.booleans(),
)
def test_any_column_transformer_is_read_exactly(
    chains, fills, texts, sparse, is_number
):
    missing = [
        name for name, fills_gaps in zip(NUMBERS, fills, strict=True) if fills_gaps
    ]
    frame = with_gaps(make_frame(80), [*missing, *TEXT])
    parts = [(name, step, [name]) for name, step in zip(TEXT, texts, strict=True)]
    for name, chain in zip(NUMBERS, chains, strict=True):
        start = [SimpleImputer(add_indicator=True)] if name in missing else []
        parts.append((name, make_pipeline(*start, *chain), [name]))
    steps = ColumnTransformer(parts, sparse_threshold=sparse)
    last = RandomForestRegressor if is_number else RandomForestClassifier
    pipeline = make_pipeline(steps, last(3, max_depth=5, random_state=0))
    pipeline.fit(frame, labels_of(frame)[int(is_number)])
    check_pipeline(pipeline, frame, [*missing, *TEXT], TEXT)


class Doubler(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return 2 * X


class OddScaler(StandardScaler):
    def transform(self, X):
        return super().transform(X) ** 2


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (PCA(2), "transformers that work"),
        (KNNImputer(), "KNNImputer in a pipeline"),
        (Doubler(), "begins with Doubler"),
        (OddScaler(), "overrides transform"),
        (
            FunctionTransformer(lambda X: X % 7),
            "whether <lambda>",
        ),
        (FunctionTransformer(np.sin), "whether sin"),
    ],
)
def test_a_step_that_cannot_be_read_is_named(step, why):
    frame = make_frame()[NUMBERS]
    pipeline = make_pipeline(step, classifier()).fit(frame, labels_of(make_frame())[0])
    with pytest.raises(UnsupportedModelError, match=why):
        read_forest(pipeline)


def test_a_pipeline_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError, match="is not fitted"):
        read_forest(make_pipeline(StandardScaler(), classifier()))


def test_text_and_numbers_of_one_column_are_refused():
    frame = with_gaps(make_frame(), ["city"]).assign(
        mixed=lambda f: np.where(f["age"] > 50, "old", f["age"])
    )
    steps = FeatureUnion(
        [
            ("as text", columns_by(city=one_hot(), mixed=one_hot())),
            ("as number", ColumnTransformer([("n", SimpleImputer(), ["age"])])),
        ]
    )
    pipeline = make_pipeline(steps, classifier()).fit(frame, labels_of(frame)[0])
    check_rows(read_forest(pipeline), pipeline, frame)


def test_reading_leaves_the_pipeline_as_it_was():
    steps, missing, _ = STEPS["frames all the way"]
    frame = with_gaps(make_frame(), missing)
    pipeline = Pipeline([("before", steps), ("forest", classifier())])
    pipeline.fit(frame, labels_of(frame)[0])
    names = pipeline[:-1].get_feature_names_out().tolist()
    before = pipeline[:-1].transform(frame)
    read_forest(pipeline)
    assert pipeline[:-1].get_feature_names_out().tolist() == names
    pd.testing.assert_frame_equal(pipeline[:-1].transform(frame), before)
