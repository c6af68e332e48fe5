"""Files of tables as sources of rows, in Python as on the command line."""

import gzip

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from defragtrees import simplify
from defragtrees.data import files, sources
from defragtrees.data.files import ANY, AS_IS, NUMBER, FileSource
from defragtrees.data.sources import open_source
from defragtrees.errors import TableFileError

SUFFIXES = ["csv", "csv.gz", "jsonl", "jsonl.gz", "parquet", "feather"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(18, 80, 600), "size": rng.normal(size=600)}
    )
    frame.loc[::7, "size"] = np.nan
    noise = rng.random(600) < 0.1
    frame["paid"] = np.where((frame["age"] > 40) ^ noise, "yes", "NA")
    frame["worth"] = rng.integers(1, 3, 600)
    return frame


@pytest.fixture(scope="module")
def forest(table):
    model = RandomForestClassifier(10, max_depth=4, random_state=0)
    X = table[["age", "size"]].fillna(-9.0)
    return model.fit(X, table["paid"])


def write(table, path):
    if "jsonl" in path.name:
        table.to_json(path, orient="records", lines=True, double_precision=15)
    elif "csv" in path.name:
        table.to_csv(path, index=False)
    else:
        getattr(table, f"to_{path.suffix[1:]}")(path)
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("is_large", [False, True])
def test_rules_of_a_file_are_those_of_its_table(
    table, forest, tmp_path, monkeypatch, suffix, is_large
):
    table = table.assign(size=table["size"].fillna(-9.0).round(9))
    path = write(table, tmp_path / f"rows.{suffix}")
    settings = {"max_rules": 3, "random_state": 0}
    if is_large:
        monkeypatch.setattr(sources, "MANY_ROWS", 200)
        monkeypatch.setattr(sources, "PART_ROWS", 64)
    X, y, weight = table[["age", "size"]], table["paid"], table["worth"]
    expected = simplify(forest, X, y, sample_weight=weight, **settings)
    found = simplify(forest, path, "paid", sample_weight="worth", **settings)
    assert str(found.rules_) == str(expected.rules_)
    assert found.predict(path).tolist() == expected.predict(X).tolist()
    rules = found.rules_
    assert rules.evaluate(path, "paid") == pytest.approx(rules.evaluate(X, y))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_caller_says_what_a_column_is(tmp_path, suffix):
    frame = pd.DataFrame(
        {
            "code": [1, 2, 1],
            "word": ["NA", "x", None],
            "when": ["2024-03-01 06:00", None, "2024-03-02 00:00"],
            "id": ["01", "02", "NA"],
        }
    )
    source = FileSource(write(frame, tmp_path / f"rows.{suffix}"))
    if suffix in ("parquet", "feather"):
        source.names.remove("when")
    source.expected = {"code": ("1",), "word": ("NA", "y"), "when": ANY, "id": AS_IS}
    X = source.load().X
    assert X["code"].astype(str).tolist() == ["1", "2", "1"]
    assert X["code"][0] == "1"
    assert X["word"].tolist()[:2] == ["NA", "x"]
    assert X["word"].isna().tolist() == [False, False, True]
    assert X["id"].tolist()[:2] == ["01", "02"]
    if "when" in X:
        assert X["when"][0] == pd.Timestamp("2024-03-01 06:00")
        assert X["when"].isna().tolist() == [False, True, False]


def test_text_that_is_true_or_false_is_a_number(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\ntrue,FALSE\n,1\n")
    source = FileSource(path)
    source.expected = {"a": NUMBER, "b": NUMBER}
    found = source.load().X
    np.testing.assert_array_equal(found, [[1.0, 0.0], [np.nan, 1.0]])


def test_rows_are_read_in_blocks_of_one_type(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PART_ROWS", 2)
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,x\n2,y\n3,4\n5,NA\n")
    parts = [part.X for part in FileSource(path).parts()]
    assert [part["a"].tolist() for part in parts] == [[1, 2], [3, 5]]
    assert [part["b"].tolist()[0] for part in parts] == ["x", "4"]
    path.write_text("a\n1\n2\n3\nx\n")
    with pytest.raises(ValueError, match="row 4 has 'x'"):
        list(FileSource(path).parts())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_rows(tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    frame = pd.DataFrame({"a": [1.0], "b": ["x"]})[:0]
    write(frame, path)
    if "jsonl" in suffix:
        with pytest.raises(TableFileError, match="no line with columns"):
            FileSource(path)
        return
    source = open_source(path)
    assert source.load().X.shape == (0, 2)
    assert source.n_rows() == 0


def test_weights_are_numbers_from_0(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,w\n1,1\n1,-2\n")
    with pytest.raises(ValueError, match="row 2 has -2"):
        FileSource(path, sample_weight="w").load()


def test_limits_hold_in_python(tmp_path, forest):
    path = tmp_path / "rows.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"age,size\n")
        file.write(b"1,2\n" * 5_000_000)
    with pytest.raises(TableFileError, match="unpacks to more than 16 MiB"):
        simplify(forest, path)


@pytest.mark.parametrize("compression", ["zstd", "lz4", "uncompressed"])
def test_sizes_that_a_feather_file_states(tmp_path, compression):
    feather = pytest.importorskip("pyarrow.feather")
    path = tmp_path / "rows.feather"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": np.zeros(100_000), "b": rng.normal(size=100_000)})
    frame["c"] = "x" * 100
    feather.write_feather(frame, path, compression=compression)
    sizes = sum(files._zstd_sizes(path))
    if compression == "zstd":
        assert sizes > frame.memory_usage(index=False).sum() / 2
        assert sizes < 2 * (1_600_000 + 100 * 100_000 + 8 * 100_000)
    else:
        assert sizes == 0
    assert FileSource(path).load().X["b"].tolist() == frame["b"].tolist()


@pytest.mark.parametrize("lacking", [0, 1])
def test_a_shard_without_a_column_is_named(tmp_path, table, forest, lacking):
    table = table.fillna(-9.0)
    for k in range(2):
        shard = table[300 * k : 300 * k + 300]
        shard = shard.drop(columns="age") if k == lacking else shard.assign(more=1)
        shard.to_parquet(tmp_path / f"part{k}.parquet")
    with pytest.raises(TableFileError, match=f"'part{lacking}.parquet' .* 'age'"):
        simplify(forest, tmp_path, "paid", max_rules=2)
    # A column that nobody asks for may be in some files only.
    table[:300].to_parquet(tmp_path / "part0.parquet")
    table[300:].assign(more=1).to_parquet(tmp_path / "part1.parquet")
    assert simplify(forest, tmp_path, "paid", max_rules=2).rules_.n_rules == 2


def test_checksums_of_pages_are_verified(tmp_path, table, forest):
    arrow = pytest.importorskip("pyarrow", reason="it writes checksums")
    path = tmp_path / "rows.parquet"
    options = {"write_page_checksum": True, "use_dictionary": False}
    rows = arrow.Table.from_pandas(table.fillna(-9.0)[["size", "age", "paid"]])
    pytest.importorskip("pyarrow.parquet").write_table(
        rows, path, compression="none", **options
    )
    content = bytearray(path.read_bytes())
    content[500:600] = bytes(100)
    path.write_bytes(content)
    with pytest.raises(TableFileError, match="is no whole Parquet file"):
        simplify(forest, path, "paid", max_rules=2)
