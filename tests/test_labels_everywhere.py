"""Labels and units are in every output, and answers stay what they are."""

import json
import re

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import defragtrees
from defragtrees import DefragClassifier, metrics
from defragtrees.cli.group import run
from defragtrees.export import export

NAMES = ("rawdur", "rawamt", "rawflag")
NEW_ROWS = 10_000  # of a search, as users have
FEATURES = {
    "rawdur": "Duration [months]",
    "rawamt": "Amount [EUR]",
    "rawflag": "Member",
}
SHOWN = ("Duration", "Amount", "Member")
CLASSES = {0: "creditworthy", 1: "risky"}


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(0)
    n = 500
    X = np.column_stack(
        [
            rng.integers(4, 72, n),
            np.round(rng.lognormal(8, 1, n), 2),
            rng.integers(0, 2, n),
        ]
    )
    y = ((X[:, 0] > 36) & (X[:, 1] > 2000) | (X[:, 2] == 1) & (X[:, 0] < 12)).astype(
        int
    )
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=NAMES)
    forest = RandomForestClassifier(30, random_state=0).fit(frame, y)
    model = DefragClassifier(
        forest,
        max_rules=4,
        random_state=0,
        feature_labels=FEATURES,
        class_labels=CLASSES,
    )
    return model.fit(frame, y), frame, y


def check_words(text, has_all=True):
    for name in NAMES:
        assert name not in text
    if has_all:
        assert "creditworthy" in text
        assert "risky" in text
        assert all(word in text for word in SHOWN)


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_exports_for_readers_have_labels(labelled, form):
    text = export(labelled[0].rules_, form)
    check_words(text)
    assert "months" in text


def test_exports_for_machines_ask_the_columns_and_answer_the_classes(labelled):
    model, frame, _ = labelled
    source = export(model.rules_, "python")
    assert "Duration" in source  # in the comments
    made = {}
    exec(source, made)
    rows = frame.to_dict("records")
    assert [made["predict"](row) for row in rows] == model.predict(frame).tolist()
    sql = export(model.rules_, "sql", table="t")
    assert '"rawdur"' in sql
    assert "-- 1. if" in sql
    assert "months" in sql


def test_sql_with_comments_answers_as_predict_does(labelled):
    duckdb = pytest.importorskip("duckdb")
    model, frame, _ = labelled
    rules = model.rules_.relabel({"rawdur": "Dura\ntion */ [months]"})
    sql = export(rules, "sql", table="frame")
    answers = duckdb.sql(sql).df()["prediction"].tolist()
    assert answers == model.predict(frame).tolist()


def test_summary_and_explanations_have_labels(labelled):
    model, frame, y = labelled
    check_words(str(model.summary(frame, y)))
    check_words(" ".join(model.explain(frame.iloc[:60])))
    check_words(model.rules_._repr_html_())
    told = metrics.calibration(model.rules_, frame, y)
    assert {row["class"] for row in told} == {1}


def test_report_has_labels(labelled, tmp_path):
    pytest.importorskip("jinja2")
    from defragtrees.report.page import write_report

    model, frame, y = labelled
    write_report(tmp_path / "report.html", model, frame, y)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    # The settings of the fit are shown as they were given.
    shown = re.sub(r"\{&#x27;raw.*?\}", "", text)
    # What the page saves as a rule file or copies as SQL has the names of the columns.
    block = re.search(r'id="report-data">(.*?)</script>', shown, re.S)
    data = json.loads(block[1])
    assert data.pop("edit")
    assert data["copies"].pop("SQL")
    shown = shown.replace(block[1], json.dumps(data))
    check_words(shown, has_all=False)
    assert all(word in shown for word in (*SHOWN, "creditworthy", "risky"))


def texts_of(ax):
    from matplotlib.text import Text

    ax.figure.canvas.draw()
    return " ".join(text.get_text() for text in ax.figure.findobj(Text))


def test_pictures_have_labels(labelled):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    from defragtrees import plots

    rules = labelled[0].rules_
    ax = plots.risks(rules)
    text = texts_of(ax)
    check_words(text, has_all=False)
    assert any(word in text for word in SHOWN)
    pyplot.close(ax.figure)


@pytest.fixture(scope="module")
def saved(labelled, tmp_path_factory):
    model, frame, y = labelled
    folder = tmp_path_factory.mktemp("labels")
    model.rules_.relabel(dict.fromkeys(NAMES), {0: None, 1: None}).save(
        folder / "rules.json"
    )
    frame.assign(y=y).to_csv(folder / "data.csv", index=False)
    import joblib

    joblib.dump(model.model_, folder / "model.joblib")
    return folder


OPTIONS = [
    "--feature-labels",
    ",".join(f'"{name}={label}"' for name, label in FEATURES.items()),
    "--class-labels",
    "creditworthy,risky",
]


def test_saved_rules_are_relabelled_on_the_command_line(saved, capsys):
    rules, data = str(saved / "rules.json"), str(saved / "data.csv")
    assert run(["explain", rules, data, "--rows", "1-40"]) == 0
    assert "rawdur" in capsys.readouterr().out
    new = str(saved / "new.json")
    assert run(["edit", rules, *OPTIONS, "--out", new]) == 0
    assert run(["export", new, "--format", "markdown"]) == 0
    check_words(capsys.readouterr().out)
    assert run(["explain", new, data, "--rows", "1-40"]) == 0
    check_words(capsys.readouterr().out)


def test_simplify_takes_labels_and_saves_them(saved, capsys):
    out, settings = saved / "made.json", saved / "settings.toml"
    labels = "\n".join(f"{name} = {label!r}" for name, label in FEATURES.items())
    settings.write_text(
        'class_labels = ["creditworthy", "risky"]\n[feature_labels]\n' + labels,
        encoding="utf-8",
    )
    command = ["simplify", saved / "model.joblib", saved / "data.csv"]
    command += ["--trust", "pickle", "--target", "y", "--out", out, "--max-rules", "4"]
    command += ["--settings", settings]
    assert run([str(part) for part in command]) == 0
    captured = capsys.readouterr().out
    assert "P(risky)" in captured
    assert "rawdur" not in captured
    rules = defragtrees.load(out)
    assert rules.class_labels == ("creditworthy", "risky")
    assert rules.feature_labels == tuple(FEATURES.values())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--feature-labels", "age=Age"], "feature_labels must name some of"),
        (["--feature-labels", "age"], "must be written as in"),
        (["--class-labels", "a,b,c"], "class_labels must have one entry for each of"),
        (["--class-labels", "a,a"], "class_labels must be unique"),
    ],
)
def test_labels_that_fit_nothing_are_refused(saved, capsys, given, message):
    assert run(["edit", str(saved / "rules.json"), *given]) == 2
    assert message in capsys.readouterr().err
