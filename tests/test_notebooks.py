"""The notebooks run from the first cell to the last, and give what they keep."""

from itertools import count, groupby
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def texts_of(notebook):
    """What each cell of code prints or answers, as text; pictures by their name."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield [
                "".join(
                    output.get("text") or output["data"]["text/plain"] for output in own
                )
                for _, own in groupby(cell.outputs, key=stream_or_place())
            ]


def stream_or_place():
    """A key by which what is printed to one stream in a row is one text.

    A kernel sends what a cell prints in pieces, as many as it has time for.
    """
    places = count()
    return lambda output: (
        output.get("name"),
        None if "text" in output else next(places),
    )


@pytest.mark.printed
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_notebook_gives_what_it_keeps(path, tmp_path, monkeypatch):
    for name in ("nbclient", "ipykernel", "matplotlib", "onnxruntime", "skops"):
        pytest.importorskip(name, reason="notebooks are run with it")
    import nbformat
    from nbclient import NotebookClient

    # Nothing of the user's folders, which need not be there.
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.delenv("MPLBACKEND", raising=False)  # a kernel shows pictures itself
    kept = nbformat.read(path, as_version=4)
    expected = list(texts_of(kept))
    assert sum(map(len, expected)) > 5
    resources = {"metadata": {"path": str(tmp_path)}}
    patience = {"timeout": 600, "startup_timeout": 600}  # a busy machine is slow
    NotebookClient(kept, resources=resources, **patience).execute()
    assert list(texts_of(kept)) == expected


def test_there_are_two_notebooks_and_no_kept_error():
    assert len(NOTEBOOKS) >= 2
    for path in NOTEBOOKS:
        assert '"output_type": "error"' not in path.read_text(encoding="utf-8")
