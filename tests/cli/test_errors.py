"""Whatever is wrong is one line, exit code 2, and no half-written file."""

import errno
import gzip
import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from defragtrees import Condition, Rule, RuleList
from defragtrees.cli import _interrupts, main, simplify, watch

needs_proc = pytest.mark.skipif(not os.path.isdir("/proc"), reason="needs /proc")


@pytest.fixture
def model(files):
    return files / "xgboost.json"


@pytest.fixture
def iris(files):
    return files / "iris.csv"


@pytest.fixture
def rules(iris, tmp_path):
    table = pd.read_csv(iris)
    small = Rule((Condition(2, upper=2.5),), 0)
    wide = Rule((Condition(3, lower=1.7),), 1)
    names = tuple(HEADER.split(",")[:4])
    rules = RuleList((small, wide), Rule((), 1), names, "classification", (0, 1))
    path = tmp_path / "rules.json"
    rules.refit(table[list(names)], np.arange(len(table)) % 2).save(path)
    return path


def written(tmp_path, text):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    return path


HEADER = "sepal length,sepal width,petal length,petal width,class\n"


def test_a_model_that_is_not_there(refused, iris):
    assert "Path 'nowhere.json' does not exist" in refused(
        "simplify", "nowhere.json", iris
    )


def test_data_that_is_not_there(refused, model):
    assert "File 'nowhere.csv' does not exist" in refused(
        "simplify", model, "nowhere.csv"
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_cannot_be_read_twice(refused, model, iris, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "is no regular file" in refused("simplify", model, tmp_path / "pipe")
    assert "is no regular file" in refused("simplify", tmp_path / "pipe", iris)


def test_a_folder_without_trees(refused, iris, tmp_path):
    assert "No file in" in refused("simplify", tmp_path, iris)


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b'{"a": 1}', b"PK\x03\x04 no archive", b"a,b\n1,2\n", b"\x00\x01"],
)
def test_what_is_no_model(refused, iris, tmp_path, content):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    assert "'model.json' is" in refused("simplify", path, iris)


@pytest.mark.parametrize("name", ["xgboost.json", "lightgbm.txt", "catboost.cbm"])
def test_half_a_model(refused, files, iris, tmp_path, name):
    whole = (files / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(whole[: len(whole) // 2])
    refused("simplify", path, iris)


def test_a_wrong_target_and_the_one_that_is_meant(refused, model, iris):
    line = refused("simplify", model, iris, "--target", "clas")
    assert line == (
        "defragtrees: --target names 'clas', but the data has no such column; "
        "did you mean 'class'?"
    )


def test_a_wrong_target_that_is_like_no_other(refused, model, iris):
    line = refused("simplify", model, iris, "--target", "xyzzy")
    assert line.endswith(
        "it has 'id', 'sepal length', 'sepal width', 'petal length', 'petal width', …."
    )


def test_wrong_weights_and_features(refused, model, iris):
    assert "did you mean 'weight'?" in refused(
        "simplify", model, iris, "--weights", "weigth"
    )
    assert "did you mean 'petal width'?" in refused(
        "simplify", model, iris, "--features", "petal_width"
    )


def test_a_column_that_the_model_needs(refused, model, tmp_path):
    data = written(tmp_path, "sepal length,sepal width,petal lenght,petal width\n")
    line = refused("simplify", model, data)
    assert "needs column 'petal length', which the data does not have" in line
    assert line.endswith("did you mean 'petal lenght'?")
    data = written(tmp_path, "a,b\n1,2\n")
    line = refused("simplify", model, data)
    assert "needs 4 columns that the data does not have: 'sepal length'" in line


def test_columns_that_the_model_cannot_name(refused, files, iris):
    line = refused("simplify", files / "unnamed.ubj", iris, "--target", "class")
    assert "no names for its 4 features" in line
    assert "--columns" in line


def test_the_target_is_no_feature(refused, files, iris):
    columns = "sepal length,sepal width,petal length,class"
    options = ["--target", "class", "--columns", columns]
    line = refused("simplify", files / "unnamed.ubj", iris, *options)
    assert "Column 'class' is a feature of the model" in line


def test_labels_that_the_model_does_not_know(refused, files, iris):
    line = refused("simplify", files / "lightgbm.txt", iris, "--target", "species")
    assert "holds 'setosa', 'versicolor', 'virginica'" in line
    assert "are 0, 1, 2." in line
    assert "--classes setosa,versicolor,virginica" in line


def test_too_few_names_for_classes(refused, model, iris):
    line = refused("simplify", model, iris, "--classes", "a,b")
    assert "must name 3 different classes; it names 2" in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n", "has no line with column names"),
        (HEADER, "has no rows"),
        (HEADER + "1,2,3,4,\n", "must hold a class in every row"),
        (HEADER + "1,2,3,4,0\n1,2,many,4,0\n", "row 2 has 'many'"),
        (HEADER + "1,2,1_000,4,0\n", "row 1 has '1_000'"),
        (HEADER + "1,2,inf,4,0\n" * 9, "'petal length' must hold finite numbers"),
        (HEADER.replace("class", "class,petal width"), "2 columns of this name"),
        ('{"a": 1}', "is no table"),
        ("\x00\x01", "is no table"),
    ],
)
def test_bad_csv(refused, files, tmp_path, text, message):
    data = written(tmp_path, text)
    options = ["--target", "class", "--test-size", "0"]
    assert message in refused("simplify", files / "xgboost.json", data, *options)


def test_text_that_is_not_utf_8(refused, model, tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes((HEADER + "1,2,3,4,h\xf6her\n").encode("latin-1"))
    line = refused("simplify", model, path, "--target", "class")
    assert "must be UTF-8 text; it has the byte 0xf6" in line


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_text_that_is_utf_16(refused, model, tmp_path, encoding):
    path = tmp_path / "data.csv"
    path.write_bytes(("\ufeff" + HEADER).encode(encoding))
    assert "is UTF-16 text; save it as UTF-8" in refused("simplify", model, path)


def test_a_single_row_cannot_be_held_out(call, refused, model, tmp_path):
    data = written(tmp_path, HEADER + "1,2,3,4,0\n")
    assert "1 row only" in refused("simplify", model, data)
    assert "Add --test-size 0" in refused("simplify", model, data)
    assert call("simplify", model, data, "--test-size", "0").code == 0


@pytest.mark.parametrize("weight", ["-1", "nan", "inf"])
def test_weights_that_cannot_be(refused, model, tmp_path, weight):
    text = HEADER.replace("class", "w") + "1,2,3,4,1\n" * 70_000
    data = written(tmp_path, f"{text}1,2,3,4,{weight}\n")
    assert refused("simplify", model, data, "--weights", "w").endswith(
        "Column 'w' must hold weights, which are numbers from 0; row 70001 has "
        f"{weight}."
    )


def test_half_a_gzip(refused, model, iris, tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(iris.read_bytes())[:300])
    assert "'data.csv.gz' cannot be read as CSV" in refused("simplify", model, path)


@pytest.mark.parametrize("name", ["iris.parquet", "iris.feather"])
def test_half_a_parquet_or_feather_file(refused, files, model, tmp_path, name):
    whole = (files / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(whole[: len(whole) // 2])
    assert f"{name!r} is no whole" in refused("simplify", model, path)


@pytest.mark.parametrize("name", ["a.parquet", "a.feather"])
def test_what_is_no_parquet_or_feather(refused, model, tmp_path, name):
    path = tmp_path / name
    path.write_text("a,b\n1,2\n")
    assert "or it is damaged" in refused("simplify", model, path)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["a", "b", "c"], "must hold numbers"),
        ([[1], [2], [3]], "must hold numbers"),
    ],
)
def test_parquet_columns_that_are_no_numbers(refused, model, tmp_path, column, message):
    table = pd.DataFrame(np.ones((3, 4)), columns=HEADER.strip().split(",")[:4])
    table["petal length"] = column
    table.to_parquet(tmp_path / "data.parquet")
    line = refused("simplify", model, tmp_path / "data.parquet")
    assert "Column 'petal length'" in line
    assert message in line


def test_dates_where_the_model_has_no_days(refused, model, tmp_path):
    table = pd.DataFrame(np.ones((9, 4)), columns=HEADER.strip().split(",")[:4])
    table["petal length"] = pd.date_range("2020-01-01", periods=9)
    table.to_parquet(tmp_path / "data.parquet")
    table.to_csv(tmp_path / "data.csv", index=False)
    for name in ("data.parquet", "data.csv"):
        line = refused("simplify", model, tmp_path / name)
        assert "'petal length' is read as a number of days" in line
    weights = ["--weights", "day"]
    table.assign(**{"petal length": 1.0}, day=table["petal length"]).to_parquet(
        tmp_path / "data.parquet"
    )
    line = refused("simplify", model, tmp_path / "data.parquet", *weights)
    assert "Column 'day' must hold numbers or categories; it holds dates or" in line


def test_a_feature_is_no_target(refused, model, iris):
    line = refused("simplify", model, iris, "--target", "petal length")
    assert "is a feature of the model" in line


def test_options_that_cannot_be(refused, model, iris):
    for options, message in (
        (["--max-rules", "0"], "--max-rules must be"),
        (["--max-rule", "3"], "Did you mean "),
        (["--method", "magic"], "'magic' is not"),
        (["--test-size", "1.5"], "neither a share nor a number of rows"),
        (["--test-size", "1000"], "test_size=1000 should be"),
        (["--target-is", "labels"], "needs --target"),
        (["--features", "a,,b"], "has an empty name"),
    ):
        assert message in refused("simplify", model, iris, *options)


def test_a_folder_that_is_not_there(refused, model, iris, tmp_path):
    out = tmp_path / "nowhere" / "rules.json"
    line = refused("simplify", model, iris, "--out", out)
    assert "There is no folder" in line
    assert not out.parent.exists()


def test_an_output_that_is_a_folder(refused, model, iris, tmp_path):
    assert "is a directory" in refused("simplify", model, iris, "--out", tmp_path)


def test_an_output_that_is_the_input(refused, model, iris):
    before = iris.read_bytes()
    assert "is read by this command" in refused("simplify", model, iris, "--out", iris)
    assert iris.read_bytes() == before


def test_a_model_is_not_overwritten_either(refused, model, iris, tmp_path):
    before = model.read_bytes()
    link = tmp_path / "rules.json"
    link.symlink_to(model)
    for out in (model, link, model.parent / "." / model.name):
        line = refused("simplify", model, iris, "--out", out)
        assert "is read by this command" in line
    assert model.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "other"), [("simplify", "--report"), ("path", "--plot")]
)
def test_two_outputs_in_one_file(refused, model, iris, tmp_path, name, other):
    (tmp_path / "link.svg").symlink_to(tmp_path / "a.svg")
    for second in ("a.svg", "link.svg"):
        options = ["--out", tmp_path / "a.svg", other, tmp_path / second]
        # Before any work, so that also a model that is none does not matter.
        line = refused(name, iris, iris, *options)
        assert f"--out and {other} name the same file" in line
    assert not (tmp_path / "a.svg").exists()


@needs_proc
def test_a_folder_that_cannot_be_written_to(refused, model, iris):
    line = refused("simplify", model, iris, "--max-rules", 3, "--out", "/proc/a.json")
    assert "/proc" in line
    assert ".defragtrees" not in line


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_behind_the_screen(command, files):
    with open("/dev/full", "w") as full:
        done = command("--help", stdout=full, capture_output=False, stderr=-1)
    assert done.returncode == 2
    assert done.stderr == "defragtrees: No space left on device.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits")
def test_a_disk_that_is_full_leaves_the_old_file(call, command, model, iris, tmp_path):
    import resource

    # Compiled loops are kept in files too; by now they must be there.
    assert call("simplify", model, iris, "--max-rules", 3).code == 0
    out = tmp_path / "rules.json"
    out.write_text("old")

    def few_bytes():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

    done = command(
        *("simplify", model, iris, "--max-rules", 3, "--out", out),
        preexec_fn=few_bytes,
    )
    assert done.returncode == 2
    assert done.stderr == f"defragtrees: File too large: {str(out)!r}.\n"
    assert done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["rules.json"]
    assert out.read_text() == "old"


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "defragtrees: Interrupted."),
        (
            OSError(errno.EIO, "Input/output error"),
            2,
            "defragtrees: Input/output error: {out!r}.",
        ),
        (MemoryError(), 2, "defragtrees: There is not enough memory."),
    ],
)
def test_nothing_is_left_of_a_file_that_was_not_finished(
    call, model, iris, tmp_path, monkeypatch, error, code, line
):
    def write_half(path, content):
        path.write_text("half")
        raise error

    monkeypatch.setattr(Path, "write_bytes", write_half)
    monkeypatch.setattr(_interrupts, "ignore", lambda: None)
    out = tmp_path / "rules.json"
    done = call("simplify", model, iris, "--max-rules", 3, "--out", out)
    assert done.code == code
    assert done.lines == [line.format(out=str(out))]
    assert list(tmp_path.iterdir()) == []


def test_a_fault_of_the_program_is_one_line_too(call, model, iris, monkeypatch):
    def break_down(*given):
        raise KeyError("lost")

    monkeypatch.setattr(simplify, "fit", break_down)
    done = call("simplify", model, iris)
    assert done.code == 2
    assert len(done.lines) == 1
    assert "a fault of defragtrees: KeyError: 'lost'" in done.err
    done = call("--debug", "simplify", model, iris)
    assert done.code == 2
    assert "Traceback" in done.err
    assert "break_down" in done.err


@pytest.mark.parametrize("error", [KeyError("lost"), SystemExit(1), RecursionError()])
def test_a_crash_does_not_look_like_drift(call, rules, iris, monkeypatch, error):
    def break_down(*given):
        raise error

    monkeypatch.setattr(watch, "check_encoded", break_down)
    done = call("watch", rules, iris)
    assert done.code == 2
    assert len(done.lines) == 1
    assert call("watch", rules, iris, "--no-such-option").code == 2


def test_a_package_that_cannot_be_imported_is_no_drift(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "defragtrees.cli.group", None)
    assert main(["watch", "rules.json", "data.csv"]) == 2
    assert capsys.readouterr().err.startswith("defragtrees: It cannot be imported: ")


def test_a_number_of_many_digits(refused, rules, tmp_path):
    digits = "1" * 400
    rows = "1,2,3,4,0\n" + f"1,2,{digits},{digits},0\n"
    data = written(tmp_path, HEADER + rows)
    for command in ("predict", "explain", "watch"):
        assert "must hold finite numbers" in refused(command, rules, data)


def test_a_profile_of_no_rows(refused, rules, iris, tmp_path):
    data = json.loads(rules.read_text())
    data["training"]["n_rows"] = 0.0
    altered = tmp_path / "altered.json"
    altered.write_text(json.dumps(data))
    assert "training.n_rows must be above 0" in refused("watch", altered, iris)


def test_a_warning_is_one_line(call, files, tmp_path):
    table = pd.read_csv(files / "iris.csv")
    table["petal width"] = np.nan
    table.to_csv(tmp_path / "gap.csv", index=False)
    done = call("simplify", files / "xgboost.json", tmp_path / "gap.csv")
    assert done.code == 0
    assert done.lines == [
        "warning: Column 'petal width' has only missing values, so no rule can use it."
    ]


def test_of_two_files_both_are_written_or_none(
    call, model, iris, tmp_path, monkeypatch
):
    def fail(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("defragtrees.cli.report.write_report", fail)
    out, report = tmp_path / "rules.json", tmp_path / "report.html"
    line = "simplify", model, iris, "--max-rules", 3, "--out", out, "--report", report
    assert call(*line).code == 2
    assert list(tmp_path.iterdir()) == []
