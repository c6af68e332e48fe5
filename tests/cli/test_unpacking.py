"""Small files that unpack to gigabytes are rejected early; honest ones are read."""

import gzip
import re

import numpy as np
import pytest

from defragtrees import Condition, Rule, RuleList
from defragtrees.data import files
from defragtrees.data.files import NUMBER, FileSource
from defragtrees.errors import TableFileError
from tests.cli.test_memory import MEGABYTE, PEAK, printed_numbers

TOO_MUCH = "unpacks to more than 16 MiB and 256 times its size, the limit."
ROWS = 20_000_000  # of Feather and Parquet


def packed(path, start, repeated, times):
    """A gzipped file of a text and then another many times."""
    block = repeated * max(1, 2**20 // len(repeated))
    with gzip.open(path, "wb", 6) as file:
        file.write(start)
        for _ in range(times * len(repeated) // len(block)):
            file.write(block)


def zeros(path):
    """As many zeros as no machine should hold, in one batch."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": pa.array(np.zeros(ROWS))})
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        feather = pytest.importorskip("pyarrow.feather")
        feather.write_feather(table, path, compression="zstd", chunksize=ROWS)


def text(path):
    """One row with a long text."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": [0.0], "b": ["x" * 200_000_000]})
    feather = pytest.importorskip("pyarrow.feather")
    feather.write_feather(table, path, compression="zstd")


def categories(path):
    """One row with one of a category whose name is long."""
    pa = pytest.importorskip("pyarrow")
    names = pa.array(["x" * 200_000_000]).dictionary_encode()
    feather = pytest.importorskip("pyarrow.feather")
    table = pa.table({"a": [0.0], "b": names})
    feather.write_feather(table, path, compression="zstd")


def missing(path):
    """Missing values, which take no bytes at all."""
    pa = pytest.importorskip("pyarrow")
    schema = pa.schema([("a", pa.null())])
    rows = pa.record_batch([pa.nulls(2**31 - 1)], schema=schema)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        writer.write_batch(rows)


def gzipped(start, repeated, times=30_000_000):
    return lambda path: packed(path, start, repeated, times)


BOMBS = {
    "names.csv.gz": (gzipped(b"a", b","), TOO_MUCH),
    "columns.csv.gz": (gzipped(b"a", b",", 14_000_000), "it has 13,631,489"),
    "wide.csv.gz": (
        gzipped(b"a" + b",b" * 9_999 + b"\n", b"1" + b",2" * 9_999 + b"\n", 1_500),
        TOO_MUCH,
    ),
    "field.csv.gz": (gzipped(b'a,b\n1,"', b"x"), TOO_MUCH),
    "quote.csv.gz": (gzipped(b'a,b\n1,"', b"x\n"), "line 2 has over 1,000,000 lines"),
    "blank.csv.gz": (gzipped(b"a,b\n", b"\n"), "1,000,000 more blank lines than rows"),
    "rows.csv.gz": (gzipped(b"a\n", b"0" * 15 + b"\n", 6_000_000), TOO_MUCH),
    "zeros.feather": (zeros, TOO_MUCH),
    "zeros.parquet": (zeros, TOO_MUCH),
    "text.feather": (text, TOO_MUCH),
    "categories.feather": (categories, TOO_MUCH),
    "missing.feather": (missing, TOO_MUCH),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bombs")
    small = Rule((Condition(0, upper=0.5),), 0)
    rules = RuleList((small,), Rule((), 1), ("a",), "classification", (0, 1))
    rules.save(folder / "rules.json")
    for name, (make, _) in BOMBS.items():
        make(folder / name)
        assert (folder / name).stat().st_size < 1_000_000
    return folder


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_in_a_sentence(folder, tmp_path, refused, name):
    out = tmp_path / "out.csv"
    line = refused("predict", folder / "rules.json", folder / name, "--out", out)
    assert BOMBS[name][1] in line
    assert not out.exists()
    # As a model is queried that cannot be read.
    with pytest.raises(TableFileError, match=re.escape(BOMBS[name][1])):
        FileSource(folder / name).load()


def test_bombs_take_little_memory(folder):
    code = "from defragtrees.cli import main\n"
    for name in BOMBS:
        arguments = ["predict", str(folder / "rules.json"), str(folder / name)]
        arguments += ["--out", str(folder / "out.csv")]
        code += f"assert main({arguments!r}) == 2\n"
    [peak] = printed_numbers(f"{code}{PEAK}")
    assert peak < 800 * MEGABYTE


def test_honest_files_are_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    feather = pytest.importorskip("pyarrow.feather")
    parquet = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    n = 150_000
    columns = {
        "a": rng.normal(size=n).round(2),
        "flag": rng.random(n) < 0.001,
        "always": np.ones(n),
        "word": rng.choice(["x", "longer"], n),
    }
    table = pa.table(columns)
    feather.write_feather(table, tmp_path / "a.feather", compression="zstd")
    # As polars writes it: one batch.
    whole = {"compression": "uncompressed", "chunksize": n}
    feather.write_feather(table, tmp_path / "b.feather", **whole)
    parquet.write_table(table, tmp_path / "c.parquet", compression="zstd")
    with gzip.open(tmp_path / "d.csv.gz", "wb") as file:
        pytest.importorskip("pyarrow.csv").write_csv(table, file)
    expected = {"a": NUMBER, "flag": NUMBER, "always": NUMBER, "word": ("longer",)}
    for path in sorted(tmp_path.iterdir()):
        source = FileSource(path)
        source.expected = expected
        parts = [part.X for part in source.parts()]
        assert len(parts) > 1 or path.name.startswith("b.")
        for name in expected:
            found = np.concatenate([part[name].to_numpy() for part in parts])
            assert (found == columns[name]).all(), (path, name)
        frame = FileSource(path).load().X
        assert frame["word"].dtype == object
        assert (frame["word"] == columns["word"]).all(), path


def test_blank_lines_between_rows_are_no_bomb(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BLANK_LINES", 10)
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "1,2\n\n" * 1_000)
    assert sum(len(part.X) for part in FileSource(path).parts()) == 1_000


def test_wide_rows_come_in_small_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "CELLS_AT_ONCE", 1_000)
    path = tmp_path / "data.csv"
    names = ",".join(f"a{j}" for j in range(100))
    path.write_text(f"{names}\n" + ("1," * 99 + "1\n") * 25)
    source = FileSource(path)
    source.select(["a7"])
    assert [part.X.shape for part in source.parts()] == [(10, 1), (10, 1), (5, 1)]


def test_a_long_text_of_many_rows_is_held_once(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    long = pa.DictionaryArray.from_arrays([0] * 20_000, ["x" * 1_000_000])
    data = tmp_path / "data.parquet"
    table = pa.table({"a": [0.0] * 20_000, "b": long}).replace_schema_metadata({})
    parquet.write_table(table, data, store_schema=False)
    source = FileSource(data)
    source.expected["b"] = ("y",)
    [part] = source.parts()
    assert pa.default_memory_pool().max_memory() < 1000 * MEGABYTE
    assert len(set(map(id, part.X["b"]))) == 1


@pytest.mark.parametrize("n_bytes", range(1, 400, 7))
def test_a_feather_file_that_is_cut_or_altered(tmp_path, n_bytes):
    feather = pytest.importorskip("pyarrow.feather")
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "data.feather"
    feather.write_feather(pa.table({"a": [1.0, 2.0]}), path, compression="lz4")
    whole = path.read_bytes()
    for altered in (
        whole[:-n_bytes],
        whole[:-n_bytes] + b"\xff" + whole[len(whole) - n_bytes + 1 :],
    ):
        path.write_bytes(altered)
        try:
            list(FileSource(path).parts())
        except ValueError:
            pass
