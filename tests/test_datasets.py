"""Data sets: drawn, from files, from a server on this machine that speaks OpenML."""

import dataclasses
import gzip
import hashlib
import json
import math
import os
import pickle
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import _openml

from defragtrees.datasets import _places, load, load_sample
from defragtrees.datasets._dataset import Dataset
from defragtrees.datasets._frames import load_table
from defragtrees.datasets._known import KNOWN
from defragtrees.datasets._places import DatasetNotFoundError
from defragtrees.datasets._tables import DatasetFileError, pack, unpack

REAL = os.environ.get("DEFRAGTREES_DATA")
needs_real_data = pytest.mark.skipif(
    not REAL, reason="DEFRAGTREES_DATA does not name the folder of the real data sets"
)


def point_openml_at(monkeypatch, base):
    """Let scikit-learn ask this address; releases differ in how they keep theirs."""
    if hasattr(_openml, "_OPENML_PREFIX"):
        monkeypatch.setattr(_openml, "_OPENML_PREFIX", f"{base}/")
    for key in ("_DATA_INFO", "_DATA_FEATURES", "_DATA_QUALITIES"):
        kept = getattr(_openml, key)
        if "://" in kept:
            path = kept.split("://")[1].split("/", 1)[1]
            monkeypatch.setattr(_openml, key, f"{base}/{path}")


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    """A cache of the test's own; no folder of the user's, no network, no waiting."""
    monkeypatch.setenv("DEFRAGTREES_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DEFRAGTREES_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(_openml, "time", SimpleNamespace(sleep=lambda seconds: None))
    # Nobody listens at this port, nor can another process while the test has it.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        point_openml_at(monkeypatch, f"http://127.0.0.1:{taken.getsockname()[1]}")
        yield tmp_path / "cache"


def rows_of(name, n_rows, share_percent):
    """Numbers in the shape of a set, the first rows of class 1."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(n_rows, len(KNOWN[name].feature_names) + 1)).round(5)
    table[:, -1] = np.arange(n_rows) < n_rows * share_percent / 100
    return table


def write(folder, name, table, names=None):
    names = names or (*KNOWN[name].feature_names, "target")
    lines = [",".join(names)]
    for row in table.tolist():
        lines.append(",".join("" if math.isnan(cell) else repr(cell) for cell in row))
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.csv.gz"
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    return path


# Drawn sets


def test_synthetic1_is_a_chessboard_with_a_tenth_of_the_labels_flipped():
    data = load("synthetic1", n_samples=20_000, random_state=3)
    agree = 0
    for (first, second), label in zip(data.X.tolist(), data.y.tolist(), strict=True):
        agree += ((first > 0.5) != (second > 0.5)) == label
    assert 0.89 < agree / 20_000 < 0.91
    assert data.X.min() >= 0
    assert data.X.max() < 1
    assert data.feature_names == ("x1", "x2")
    assert data.n_original is None


def test_synthetic2_has_a_curved_border_and_a_tenth_of_the_labels_flipped():
    data = load("synthetic2", n_samples=20_000, random_state=3)
    agree = 0
    for (first, second), label in zip(data.X.tolist(), data.y.tolist(), strict=True):
        step = 0.25 + 0.5 / (1 + math.exp(-20 * (first - 0.5)))
        agree += (second > step + 0.05 * math.cos(2 * math.pi * first)) == label
    assert 0.89 < agree / 20_000 < 0.91


def test_the_same_seed_draws_the_same_rows():
    one = load("synthetic2", n_samples=50, random_state=1)
    assert one == load("synthetic2", n_samples=50, random_state=1)
    rng = np.random.default_rng(1)
    assert one == load("synthetic2", n_samples=50, random_state=rng)
    assert one != load("synthetic2", n_samples=50, random_state=2)
    assert len(load("synthetic1").X) == 2000


@pytest.mark.parametrize("n_samples", [0, -1, 2.5])
def test_a_number_of_rows_that_cannot_be_is_refused(n_samples):
    with pytest.raises(ValueError, match="n_samples must be an integer above 0; got"):
        load("synthetic1", n_samples=n_samples)


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"one of .*'energy'\); got 'iris'"):
        load("iris")
    with pytest.raises(ValueError, match=r"\('energy', 'spambase'\); got 'higgs'"):
        load_sample("higgs")


# What a Dataset is


def test_a_dataset_is_read_only_says_its_size_and_survives_a_pickle():
    data = load_sample("spambase")
    assert repr(data) == "<Dataset spambase: 2,000 rows, 57 features, classification>"
    assert not data.X.flags.writeable
    assert not data.y.flags.writeable
    assert data.n_original == 4601
    assert data.source.endswith("UCI data set 94, CC BY 4.0")
    assert pickle.loads(pickle.dumps(data)) == data


def test_a_dataset_needs_matching_shapes():
    with pytest.raises(ValueError, match=r"got \(2, 1\), \(3,\) and \(1,\)"):
        Dataset(np.zeros((2, 1)), np.zeros(3), ("a",), "regression")


def test_energy_comes_with_the_package():
    data = load("energy", download=False)
    assert data == load_sample("energy")
    assert data.task == "regression"
    assert data.y[:3].tolist() == [15.55, 15.55, 15.55]


def test_folders_are_searched_in_the_promised_order(monkeypatch, tmp_path):
    folders = [tmp_path / "given", tmp_path / "named"]
    for number, folder in enumerate(folders):
        table = rows_of("higgs", 60, 53)
        table[0, 0] = number
        write(folder, "higgs", table)
    monkeypatch.setenv("DEFRAGTREES_DATA", str(folders[1]))
    assert load("higgs", data_home=folders[0]).X[0, 0] == 0
    assert load("higgs").X[0, 0] == 1
    (folders[0] / "higgs.csv.gz").unlink()
    assert load("higgs", data_home=str(folders[0])).X[0, 0] == 1


def test_a_file_is_read_to_the_last_bit_and_empty_cells_are_missing(tmp_path):
    table = rows_of("higgs", 60, 53)
    table[:, 1] = np.random.default_rng(1).normal(size=60) * 1e-7
    for row, columns in [(0, [0, 1, 2, 27]), (1, range(28)), (2, [3])]:
        table[row, columns] = np.nan
    write(tmp_path, "higgs", table)
    data = load("higgs", data_home=tmp_path)
    np.testing.assert_array_equal(data.X, table[:, :-1])
    assert data.y.tolist() == table[:, -1].tolist()
    assert data.y.dtype.kind == "i"
    assert data.n_original == 11_000_000


def test_lines_may_end_as_on_windows_and_headers_may_be_quoted():
    packed = gzip.compress(b'\xef\xbb\xbf"a","target"\r\n,2\r\n1,\r\n\r\n')
    names, table = unpack(packed, "file")
    assert names == ("a", "target")
    np.testing.assert_array_equal(table, [[np.nan, 2], [1, np.nan]])


def test_a_packed_table_is_unpacked_as_it_was():
    table = np.array([[0.1, np.nan, 1.0], [1 / 3, -1e-300, 0.0]])
    names = ("nancy", "b", "target")
    again = unpack(pack(names, table), "file")
    assert gzip.decompress(pack(names, table)).startswith(b"nancy,b,target\n0.1,,1.0")
    assert again[0] == names
    np.testing.assert_array_equal(again[1], table)
    assert pack(names, table) == pack(*again)


def test_failed_reconstructions_of_miniboone_are_left_out(tmp_path):
    table = rows_of("miniboone", 200, 28)
    table[[50, 199], :-1] = -999
    table[60, :-2] = -999
    write(tmp_path, "miniboone", table)
    data = load("miniboone", data_home=tmp_path)
    kept = np.delete(table, [50, 199], axis=0)
    np.testing.assert_array_equal(data.X, kept[:, :-1])
    assert data.y.tolist() == kept[:, -1].tolist()
    assert data.n_original == 130_064


def test_a_part_of_spambase_does_not_pass_for_the_whole(tmp_path):
    sample = load_sample("spambase")
    write(tmp_path, "spambase", np.column_stack([sample.X, sample.y]))
    with pytest.raises(
        DatasetFileError, match=r"spambase\.csv\.gz.* must have all 4,601 .*got 2,000"
    ):
        load("spambase", data_home=tmp_path)


def test_an_altered_value_of_energy_is_noticed_and_another_order_is_not(tmp_path):
    energy = load_sample("energy")
    table = np.column_stack([energy.X, energy.y])[::-1]
    write(tmp_path, "energy", table)
    assert load("energy", data_home=tmp_path).y[0] == energy.y[-1]
    table[5, 5] += 1e-12
    write(tmp_path, "energy", table)
    with pytest.raises(DatasetFileError, match="published values of 'energy'; some"):
        load("energy", data_home=tmp_path)
    table[5, -1] = np.inf
    write(tmp_path, "energy", table)
    with pytest.raises(DatasetFileError, match="every 'target' must be a number"):
        load("energy", data_home=tmp_path)


HEADER = ",".join((*KNOWN["higgs"].feature_names, "target"))
ROW = "0.5," * 28 + "1"
BROKEN = {
    "not gzip": (b"a,b,target\n1,2,0\n", "must be a gzip file"),
    "truncated": (gzip.compress(HEADER.encode() * 99)[:-12], "is cut short or altered"),
    "flipped bits": (
        gzip.compress(bytes(range(256)))[:20] + b"\x07" * 300,
        "is cut short or altered|must be a gzip file",
    ),
    "not text": (gzip.compress(b"\xff\xfe\x80"), "must hold UTF-8 text"),
    "empty": (gzip.compress(b""), "last column of the header must be 'target'; got ''"),
    "no target": (
        gzip.compress(b"a,b\n1,2\n"),
        "last column of the header must be 'target'; got 'b'",
    ),
    "no rows": (gzip.compress(HEADER.encode()), "has a header and no rows"),
    "few columns": (gzip.compress(b"a,target\n1,0\n"), "must have 29 columns.*got 2"),
    "other names": (
        gzip.compress(f"{HEADER}\n{ROW}\n".replace("m_bb", "m_cc").encode()),
        "column 26 must be 'm_bb'; got 'm_cc'",
    ),
    "ragged": (
        gzip.compress(f"{HEADER}\n{ROW}\n{ROW},7\n".encode()),
        "line 3: must have 29 cells; got 30",
    ),
    "all lines too long": (
        gzip.compress(f"{HEADER}\n{ROW},7\n{ROW},7\n".encode()),
        "line 2: must have 29 cells; got 30",
    ),
    "words": (
        gzip.compress(f"{HEADER}\n{ROW}\n{ROW[:-1]}signal\n".encode()),
        "line 3: 'target' must be a number; got 'signal'",
    ),
    "underscores": (
        gzip.compress(f"{HEADER}\n{'1_0,' * 28}1\n".encode()),
        "plain numbers",
    ),
    "other labels": (
        gzip.compress(f"{HEADER}\n{ROW}\n{ROW[:-1]}2\n{ROW[:-1]}\n".encode()),
        r"'target' must be 0 or 1; got \[2.0, nan\]",
    ),
    "one class": (
        gzip.compress(f"{HEADER}\n{f'{ROW}{chr(10)}' * 99}".encode()),
        r"about 53.0% of the rows of 'higgs' are of class 1; got 100.0%",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_named_with_its_fault(kind, tmp_path):
    content, fault = BROKEN[kind]
    (tmp_path / "higgs.csv.gz").write_bytes(content)
    with pytest.raises(DatasetFileError, match=fault) as caught:
        load("higgs", data_home=tmp_path)
    assert str(tmp_path / "higgs.csv.gz") in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_swapped_classes_of_miniboone_are_noticed(tmp_path):
    write(tmp_path, "miniboone", rows_of("miniboone", 200, 72))
    with pytest.raises(DatasetFileError, match="The classes may have been swapped"):
        load("miniboone", data_home=tmp_path)


def test_without_file_and_download_the_error_says_what_where_and_whence(
    monkeypatch, tmp_path, cache
):
    monkeypatch.setenv("DEFRAGTREES_DATA", str(tmp_path / "named"))
    with pytest.raises(FileNotFoundError) as caught:
        load("miniboone", data_home=tmp_path, download=False)
    message = str(caught.value)
    for part in (
        "needs the file miniboone.csv.gz",
        f"{str(tmp_path)!r}, {str(tmp_path / 'named')!r}, {str(cache)!r}",
        "download=False",
        "data_home",
        "DEFRAGTREES_DATA",
        "https://archive.ics.uci.edu/dataset/199",
        "https://www.openml.org/d/41150",
    ):
        assert part in message
    assert not cache.exists()


def test_without_network_the_error_says_so():
    with pytest.raises(DatasetNotFoundError, match="OpenML could not be reached"):
        load("spambase")


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DatasetNotFoundError, match="data_home must be a folder"):
        load("energy", data_home=tmp_path / "nowhere")


# Download


class FakeOpenML:
    """The answers of OpenML's server to the few questions of `fetch_openml`."""

    def __init__(self):
        self.asked = []
        self.sets = {}
        self.status = 200
        self.cut = 0
        self.may_speak = threading.Event()
        self.may_speak.set()

    def offer(self, name, table, labels, names=None, first=False, md5=None):
        """Serve a table under the set's number; `first` puts the target in front."""
        known = KNOWN[name]
        names = names or [f"f{i}" for i in range(table.shape[1] - 1)]
        classes = ",".join(dict.fromkeys(labels.values()))
        columns = [(column, "REAL", "numeric") for column in names]
        target = (known.openml_target, "{" + classes + "}", "nominal")
        columns.insert(0 if first else len(columns), target)
        lines = ["@RELATION r", *(f"@ATTRIBUTE {c} {kind}" for c, kind, _ in columns)]
        lines.append("@DATA")
        for row in table.tolist():
            cells = ["?" if math.isnan(cell) else repr(cell) for cell in row[:-1]]
            cells.insert(0 if first else len(cells), labels[row[-1]])
            lines.append(",".join(cells))
        arff = "\n".join(lines).encode()
        features = [
            {
                "index": str(index),
                "name": column,
                "data_type": kind,
                "is_target": str(column == known.openml_target).lower(),
                "is_ignore": "false",
                "is_row_identifier": "false",
                "number_of_missing_values": "0",
            }
            for index, (column, _, kind) in enumerate(columns)
        ]
        number = str(known.openml_id)
        description = {
            "id": number,
            "name": name,
            "version": "1",
            "description": "made for a test",
            "format": "ARFF",
            "status": "active",
            "file_id": number,
            "url": f"{self.base}/data/v1/download/{number}",
            "md5_checksum": md5 or hashlib.md5(arff).hexdigest(),
        }
        rows = {"name": "NumberOfInstances", "value": f"{len(table)}.0"}
        self.sets |= {
            f"/api/v1/json/data/{number}": {"data_set_description": description},
            f"/api/v1/json/data/features/{number}": {
                "data_features": {"feature": features}
            },
            f"/api/v1/json/data/qualities/{number}": {
                "data_qualities": {"quality": [rows]}
            },
            f"/data/v1/download/{number}": arff,
        }

    def answer(self, handler):
        self.asked.append(handler.path)
        self.may_speak.wait(10)
        content = self.sets.get(handler.path)
        if content is None or self.status != 200:
            handler.send_error(404 if content is None else self.status)
            return
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        content = gzip.compress(content)
        handler.send_response(200)
        handler.send_header("Content-Encoding", "gzip")
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[: len(content) - self.cut])


class QuietServer(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Clients that hang up are part of the tests."""


@pytest.fixture
def openml(monkeypatch):
    fake = FakeOpenML()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            fake.answer(self)

        def log_message(self, *args):
            pass

    with QuietServer(("127.0.0.1", 0), Handler) as server:
        fake.base = f"http://127.0.0.1:{server.server_port}"
        point_openml_at(monkeypatch, fake.base)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield fake
        fake.may_speak.set()
        server.shutdown()
        thread.join()


def expect(monkeypatch, name, **changes):
    """Let a set be one of other size, so that a test need not serve it whole."""
    monkeypatch.setitem(KNOWN, name, dataclasses.replace(KNOWN[name], **changes))


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_higgs_is_downloaded_once_and_then_read_from_the_cache(
    monkeypatch, openml, cache
):
    table = rows_of("higgs", 61, 53)
    table[-1, 19:28] = np.nan
    openml.offer("higgs", table, {1.0: "1", 0.0: "0"})
    expect(monkeypatch, "higgs", openml_rows=61)
    data = load("higgs")
    np.testing.assert_array_equal(data.X, table[:-1, :-1])
    assert data.y.tolist() == table[:-1, -1].tolist()
    assert data.feature_names == KNOWN["higgs"].feature_names
    assert files_in(cache) == ["higgs.csv.gz", "higgs.json"]
    assert "/data/v1/download/23512" in openml.asked
    note = json.loads((cache / "higgs.json").read_text())
    content = (cache / "higgs.csv.gz").read_bytes()
    assert note["sha256"] == hashlib.sha256(content).hexdigest()
    openml.asked.clear()
    assert load("higgs", download=False) == data
    assert openml.asked == []


def test_true_of_openml_is_signal_and_pandas_is_not_needed(monkeypatch, openml, cache):
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = rows_of("miniboone", 100, 28)
    table[99, :-1] = -999
    openml.offer("miniboone", table, {1.0: "True", 0.0: "False"}, first=True)
    expect(monkeypatch, "miniboone", openml_rows=100)
    data = load("miniboone")
    np.testing.assert_array_equal(data.X, table[:99, :-1])
    assert data.y.tolist() == [1] * 28 + [0] * 71
    # The cache has what was published; rows are left out on loading.
    assert len(unpack((cache / "miniboone.csv.gz").read_bytes(), "")[1]) == 100
    assert load("miniboone", download=False) == data


def test_a_download_of_wrong_checksum_is_refused_and_not_kept(
    monkeypatch, openml, cache
):
    labels = {1.0: "1", 0.0: "0"}
    openml.offer("higgs", rows_of("higgs", 60, 53), labels, md5="0" * 32)
    expect(monkeypatch, "higgs", openml_rows=60)
    with pytest.raises(DatasetFileError, match=r"(?s)'higgs' from OpenML.*md5"):
        load("higgs")
    assert files_in(cache) == []


def test_a_download_of_other_contents_is_refused_and_not_kept(
    monkeypatch, openml, cache
):
    openml.offer("spambase", rows_of("spambase", 100, 39), {1.0: "1", 0.0: "0"})
    expect(monkeypatch, "spambase", n_original=100, openml_rows=100)
    with pytest.raises(DatasetFileError, match="must hold the published values"):
        load("spambase")
    assert files_in(cache) == []


@pytest.mark.parametrize(
    ("n_rows", "share", "labels", "fault"),
    [
        (59, 53, ("1", "0"), "must have 60 rows; got 59"),
        (60, 99, ("1", "0"), "class 1; got 100.0%"),
        (60, 53, ("yes", "no"), r"classes must be among .*got \['no', 'yes'\]"),
    ],
)
def test_a_download_of_wrong_shape_is_refused_and_not_kept(
    monkeypatch, openml, cache, n_rows, share, labels, fault
):
    offered = dict(zip((1.0, 0.0), labels, strict=True))
    openml.offer("higgs", rows_of("higgs", n_rows, share), offered)
    expect(monkeypatch, "higgs", openml_rows=60)
    with pytest.raises(DatasetFileError, match=fault):
        load("higgs")
    assert files_in(cache) == []


def test_a_download_with_too_few_features_is_refused(monkeypatch, openml, cache):
    openml.offer("higgs", rows_of("higgs", 60, 53)[:, 1:], {1.0: "1", 0.0: "0"})
    expect(monkeypatch, "higgs", openml_rows=60)
    with pytest.raises(DatasetFileError, match="must have 28 features; got 27"):
        load("higgs")
    assert files_in(cache) == []


def test_a_connection_that_breaks_off_keeps_nothing(monkeypatch, openml, cache):
    openml.offer("higgs", rows_of("higgs", 60, 53), {1.0: "1", 0.0: "0"})
    expect(monkeypatch, "higgs", openml_rows=60)
    openml.cut = 30
    with pytest.raises((DatasetFileError, DatasetNotFoundError), match="higgs"):
        load("higgs")
    assert files_in(cache) == []
    openml.cut = 0
    assert len(load("higgs").X) == 60


# scikit-learn leaves the answers of refused tries open, which Python 3.14 says.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_server_in_trouble_counts_as_out_of_reach(openml, cache):
    openml.offer("higgs", rows_of("higgs", 60, 53), {1.0: "1", 0.0: "0"})
    openml.status = 503
    with pytest.raises(DatasetNotFoundError, match=r"could not be reached .*503"):
        load("higgs")
    assert files_in(cache) == []


def test_a_silent_server_is_given_up(monkeypatch, openml, cache):
    monkeypatch.setattr(_places, "TIMEOUT", 0.05)
    openml.may_speak.clear()
    with pytest.raises(DatasetNotFoundError, match=r"could not be reached .*timed out"):
        load("higgs")
    assert socket.getdefaulttimeout() is None
    assert files_in(cache) == []


def test_a_page_in_place_of_an_answer_is_refused(openml, cache):
    openml.sets["/api/v1/json/data/23512"] = b"<html>Please log in</html>"
    with pytest.raises(DatasetFileError, match=r"from OpenML .* is not usable"):
        load("higgs")
    assert files_in(cache) == []


def test_a_cache_that_cannot_be_written_is_named_before_the_download(
    monkeypatch, openml, tmp_path
):
    (tmp_path / "occupied").write_text("a file, not a folder")
    monkeypatch.setenv("DEFRAGTREES_CACHE", str(tmp_path / "occupied"))
    with pytest.raises(OSError, match="Set DEFRAGTREES_CACHE to another"):
        load("higgs")
    assert openml.asked == []


def test_a_crash_while_writing_leaves_no_half_file(monkeypatch, openml, cache):
    openml.offer("higgs", rows_of("higgs", 60, 53), {1.0: "1", 0.0: "0"})
    expect(monkeypatch, "higgs", openml_rows=60)

    def full_disk(source, target):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(_places.os, "replace", full_disk)
        with pytest.raises(OSError, match="No space left on device"):
            load("higgs")
    assert files_in(cache) == []
    assert len(load("higgs").X) == 60


def test_an_altered_file_in_the_cache_is_noticed(monkeypatch, openml, cache):
    openml.offer("higgs", rows_of("higgs", 60, 53), {1.0: "1", 0.0: "0"})
    expect(monkeypatch, "higgs", openml_rows=60)
    load("higgs")
    openml.asked.clear()
    other = rows_of("higgs", 60, 53) + 0.0
    other[0, 0] += 1
    write(cache, "higgs", other)
    with pytest.raises(DatasetFileError, match=r"higgs\.csv\.gz was altered since"):
        load("higgs")
    (cache / "higgs.json").write_text("{")
    with pytest.raises(DatasetFileError, match=r"higgs\.json, which is missing or br"):
        load("higgs")
    assert openml.asked == []
    (cache / "higgs.csv.gz").unlink()
    assert len(load("higgs").X) == 60


def test_a_stray_file_in_the_cache_is_not_trusted(cache):
    write(cache, "higgs", rows_of("higgs", 60, 53))
    with pytest.raises(DatasetFileError, match="files of your own belong in data_home"):
        load("higgs")


# The real sets


@needs_real_data
@pytest.mark.parametrize(
    ("name", "n_features"),
    [("spambase", 57), ("miniboone", 50), ("higgs", 28), ("energy", 8)],
)
def test_real_files_load(name, n_features):
    try:
        data = load(name, data_home=REAL, download=False)
    except DatasetNotFoundError:
        pytest.skip(f"{name}.csv.gz is not in the folder DEFRAGTREES_DATA")
    assert data.X.shape[1] == n_features
    assert not np.isnan(data.X).any()
    assert len(data.X) <= data.n_original


@needs_real_data
def test_the_whole_of_spambase_holds_the_bundled_sample():
    try:
        whole = load("spambase", data_home=REAL, download=False)
    except DatasetNotFoundError:
        pytest.skip("spambase.csv.gz is not in the folder DEFRAGTREES_DATA")
    sample = load_sample("spambase")
    rows = set(map(tuple, np.column_stack([whole.X, whole.y]).tolist()))
    assert rows >= set(map(tuple, np.column_stack([sample.X, sample.y]).tolist()))
    assert whole.y.sum() == 1813


@needs_real_data
def test_the_whole_of_spambase_passes_as_a_download(openml):
    try:
        whole = load("spambase", data_home=REAL, download=False)
    except DatasetNotFoundError:
        pytest.skip("spambase.csv.gz is not in the folder DEFRAGTREES_DATA")
    openml.offer("spambase", np.column_stack([whole.X, whole.y]), {1.0: "1", 0.0: "0"})
    assert load("spambase") == whole


@pytest.mark.parametrize(
    ("name", "shape", "first", "n_missing"),
    [
        ("credit", (4454, 13), "paid", 455),
        ("energy", (768, 8), 15.55, 0),
        ("heart", (303, 13), "healthy", 6),
        ("homes", (932, 8), 59222, 0),
        ("spambase", (2000, 57), "spam", 0),
    ],
)
def test_tables_come_with_words_gaps_and_named_classes(name, shape, first, n_missing):
    pytest.importorskip("pandas")
    X, y = load_table(name)
    assert X.shape == shape
    assert y.iloc[0] == first
    assert X.isna().sum().sum() == n_missing
    assert "target" not in X
    assert y.notna().all()


def test_another_table_is_refused_with_the_names_that_there_are():
    with pytest.raises(ValueError, match=r"'heart', 'homes'.*got 'titanic'"):
        load_table("titanic")
