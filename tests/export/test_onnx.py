"""The ONNX model answers as the rules do, in onnxruntime."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from defragtrees._utils import optional as _optional
from defragtrees.errors import MissingPackageError
from defragtrees.export import export
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule
from tests.export import cases

onnx = pytest.importorskip("onnx", reason="the ONNX export needs it")
runtime = pytest.importorskip("onnxruntime", reason="ONNX models are run in it")


def session(model):
    onnx.checker.check_model(model, full_check=True)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def feeds(rules, model, rows):
    found = {}
    for column in model.graph.input:
        j = rules.feature_names.index(column.name)
        is_text = rules.categories[j] is not None and isinstance(
            rules.categories[j][0], str
        )
        missing = "" if is_text else math.nan
        values = [missing if row[j] is None else row[j] for row in rows]
        dtype = object if is_text else np.float64
        found[column.name] = np.array(values, dtype=dtype)[:, None]
    return found


def check(rules, rows):
    model = export(rules, "onnx")
    answers, *shares = session(model).run(None, feeds(rules, model, rows))
    X = cases.array(rows)
    assert answers.tolist() == rules.predict(X).tolist()
    if rules.task == "classification":
        assert (shares[0] == rules.predict_proba(X)).all()
    return model


@pytest.mark.parametrize("form", ["list", "tree", "average", "standalone"])
@pytest.mark.parametrize(("task", "kind"), cases.TASKS)
def test_model_agrees_on_a_thousand_rows(form, task, kind):
    rng = np.random.default_rng(0)
    rules = cases.make_rules(rng, form, cases.LABELS.get(kind))
    model = check(rules, cases.make_rows(rng))
    names = [output.name for output in model.graph.output]
    assert names == (["prediction"] if kind is None else ["label", "probabilities"])


@given(cases.rules_and_rows())
@settings(max_examples=40)
def test_model_agrees_on_any_rules(made):
    check(*made)


@pytest.mark.parametrize("labels", [None, ("a", "b")])
def test_a_default_without_weight_answers_alone(labels):
    check(cases.waiting_default(labels), cases.WAITING_ROWS)


def test_one_matrix_instead_of_columns():
    rng = np.random.default_rng(0)
    rules = cases.make_rules(rng, "list", None, n_features=2)
    rows = cases.make_rows(rng, n_features=2)
    X = np.array(rows, dtype=np.float64)
    run = session(export(rules, "onnx", single_input=True)).run
    assert run(None, {"X": X})[0].tolist() == rules.predict(X).tolist()
    categorical = cases.make_rules(rng, "list", None)
    with pytest.raises(ValueError, match="single_input needs numeric features only"):
        export(categorical, "onnx", single_input=True)


def test_file_is_the_model_and_says_the_rules(tmp_path):
    rules = RuleList((), Rule((), 2.0), ("a",), "regression")
    export(rules, "onnx", tmp_path / "rules.onnx")
    model = onnx.load(tmp_path / "rules.onnx")
    assert model.doc_string == "1. otherwise 2"
    assert session(model).run(None, {"a": np.zeros((3, 1))})[0].tolist() == [2.0] * 3


def test_a_feature_called_label_keeps_its_name():
    warm = Rule((Condition(0, lower=20.0),), "b")
    rules = RuleList((warm,), Rule((), "a"), ("label",), "classification", ("a", "b"))
    model = export(rules, "onnx")
    assert [output.name for output in model.graph.output] == ["label_"]
    answers = session(model).run(None, {"label": np.array([[21.0], [20.0]])})[0]
    assert answers.tolist() == ["b", "a"]


def test_what_onnx_cannot_say_is_refused():
    def rules(known):
        asks = Rule((Condition(0, categories=(0,)),), 1.0)
        return RuleList((asks,), Rule((), 0.0), ("a",), "regression", None, (known,))

    with pytest.raises(ValueError, match="empty text is a missing value"):
        export(rules(("", "x")), "onnx")
    with pytest.raises(ValueError, match="needs numeric categories as doubles"):
        export(rules((2**53 + 1, 2)), "onnx")


def test_without_onnx_the_extra_is_named(monkeypatch):
    def refuse(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(_optional, "import_module", refuse)
    rules = RuleList((), Rule((), 2.0), ("a",), "regression")
    with pytest.raises(MissingPackageError, match=r"defragtrees\[onnx\]"):
        export(rules, "onnx")


def test_half_a_surrogate_pair_is_no_name():
    rule = Rule((Condition(0, categories=(0,)),), "a")
    fields = {"classes": ("a", "b"), "categories": (("\ud800", "x"),)}
    rules = RuleList((rule,), Rule((), "b"), ("c",), "classification", **fields)
    with pytest.raises(ValueError, match="must be valid UTF-8"):
        export(rules, "onnx")
