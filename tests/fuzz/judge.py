"""What becomes of a file: a clean error, or something that is accepted and sound.

Anything else fails: an error of another kind, an answer that is no number, a fit or an
export that breaks on what was accepted. `main` judges in a process of its own, line by
line, so that one who hangs or swells can be ended.
"""

import io
import json
import resource
import shutil
import sys
import tempfile
import time
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import numpy as np

import defragtrees
from defragtrees import DefragRegressor, RuleModel, simplify
from defragtrees.cli import main as command_line
from defragtrees.ensembles.readers import read_forest
from defragtrees.errors import ModelFileError, UnsupportedModelError
from defragtrees.export import export
from defragtrees.export.tables import schema
from tests.fuzz.cases import SEEDS, kind_of, seed_files

__all__ = ["judge"]

ERROR, SOUND = "clean error", "accepted and sound"
N_ROWS = 30
MOST_FEATURES = 200  # with more only predictions are looked at
TRUSTED = ["sklearn.tree._tree.Tree"]
FORMATS = ("html", "json", "markdown", "python", "sql", "text")


def judge(kind, path):
    """What becomes of a file that pretends to be of this kind, and what is said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "rules":
            return _judge_rules(path)
        if kind == "table":
            return _judge_table(path)
        return _judge_model(kind, path)


def _checked(error):
    """A clean error: one that says something, on one line, of the kinds for files."""
    text = str(error)
    if "\n" in text or len(text) > 500 or not text.rstrip().endswith((".", "?")):
        raise AssertionError(f"no sentence: {text[:300]!r}") from error
    return ERROR, text


def _judge_model(kind, path):
    try:
        if kind == "r-tree":
            forest = _read_r(path)
        else:
            forest = read_forest(path, trusted_types=TRUSTED)
    except (ModelFileError, UnsupportedModelError) as error:
        return _checked(error)
    X = _rows_for(forest)
    answers = forest.predict(X)
    if forest.task == "regression" and not np.isfinite(answers).all():
        assert forest.link != "identity", "predictions are no numbers"
    if forest.classes is not None:
        shares = forest.predict_proba(X)
        assert np.isfinite(shares).all(), "probabilities are no numbers"
    if forest.n_features > MOST_FEATURES:
        return SOUND, "predictions"
    try:
        rules = simplify(forest, X, max_rules=3, random_state=0).rules_
    except ValueError as error:
        if "model" not in str(error).lower():
            raise AssertionError(f"fit: {error}") from error
        return _checked(error)
    _use(rules, X)
    return SOUND, "fit"


def _read_r(path):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, Path(folder, "tree1.txt"))
        return read_forest(folder, task="classification")


def _rows_for(forest):
    rng = np.random.default_rng(0)
    columns = []
    for labels in forest.categories:
        if labels is None:
            column = np.round(rng.normal(20, 20, N_ROWS), 2).astype(object)
        elif labels:
            column = np.array([labels[i % len(labels)] for i in range(N_ROWS)], object)
        else:
            column = np.full(N_ROWS, None, object)
        column[::7] = None
        columns.append(column)
    return np.column_stack(columns)


def _judge_rules(path):
    try:
        rules = defragtrees.load(path)
    except ModelFileError as error:
        return _checked(error)
    _check_schema(path)
    _use(rules, _rows_for(rules))
    return SOUND, "rules"


def _check_schema(path):
    from jsonschema import Draft202012Validator

    document = json.loads(path.read_text(encoding="utf-8"))
    wrong = next(Draft202012Validator(schema()).iter_errors(document), None)
    assert wrong is None, f"accepted against the schema: {str(wrong.message)[:200]}"


def _use(rules, X):
    """Whatever one does with rules, on rules that were accepted."""
    if len(rules.feature_names) > MOST_FEATURES:
        return
    answers = rules.predict(X)
    if rules.classes is None:
        assert np.isfinite(answers).all(), "rules answer what is no number"
    str(rules), repr(rules), rules._repr_html_()
    rules.explain(X[:2])
    document = json.loads(json.dumps(rules.to_dict()))
    again = RuleModel.from_dict(document)
    assert again.to_dict() == document
    assert again.predict(X).tolist() == answers.tolist()
    for format in FORMATS:
        try:
            export(rules, format)
        except ValueError as error:
            _checked(error)


def _judge_table(path):
    errors = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(errors):
        code = command_line(["predict", str(SEEDS / "rules-numbers.json"), str(path)])
    text = errors.getvalue()
    assert code in (0, 2), f"exit code {code}: {text[-300:]}"
    assert text.count("\n") <= 1, f"no sentence: {text[:300]!r}"
    if path.suffix == ".parquet":
        code = max(code, _fit_parquet(path))
    return (ERROR, text.strip()) if code else (SOUND, "table")


def _fit_parquet(path):
    forest = read_forest(SEEDS / "lightgbm-number.txt")
    try:
        DefragRegressor(forest, max_rules=2, random_state=0).fit(path)
    except ValueError as error:
        _checked(error)
        return 2
    return 0


def _kilobytes(entry):
    text = Path("/proc/self/status").read_text(encoding="ascii")
    if f"{entry}:" not in text:  # not every sandbox tells the peak there
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(text.split(f"{entry}:")[1].split()[0])


def _forget_peak():
    # "5" sets the peak to what is held now. Where that is not allowed, what a case
    # takes counts from the largest peak so far.
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _answer(kind, path):
    _forget_peak()
    before, start = _kilobytes("VmHWM"), time.process_time()
    try:
        outcome, text = judge(kind, Path(path))
    except BaseException as error:
        outcome, text = "failure", f"{type(error).__name__}: {error}"
    return {
        "outcome": outcome,
        "text": text[:500],
        "seconds": time.process_time() - start,
        "megabytes": (_kilobytes("VmHWM") - before) / 1024,
    }


def main():
    """Judge the files named on standard input, a line of JSON each, until it ends."""
    answers = sys.stdout
    for path in seed_files():
        # So that no case pays for what is imported first; and they must be sound.
        outcome, text = judge(kind_of(path), path)
        assert outcome == SOUND, f"{path.name}: {text}"
    # Libraries map a lot, and more for more processors; files may map this much more.
    limit = 1024 * (_kilobytes("VmSize") + int(sys.argv[1]))
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(*json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
