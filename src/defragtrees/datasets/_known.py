"""The paper's real data sets: what each must look like, and whence it comes."""

from dataclasses import dataclass

import numpy as np

from defragtrees.datasets._tables import DatasetFileError, digest

__all__ = ["KNOWN", "KnownSet", "check"]


@dataclass(frozen=True)
class KnownSet:
    """What is known of a data set before it is read.

    Parameters
    ----------
    name : str
        The file is `name.csv.gz`.
    task : {"classification", "regression"}
    feature_names : tuple of str
    n_original : int
        Rows as published.
    source : str
    origin : str
        Address of the publisher's page.
    sha256 : str, optional
        `digest` of the whole set; None where a file may hold a part.
    share : float, optional
        Share of class 1 in the whole set; None where y is a number.
    openml_id, openml_target, openml_rows : int, str, int, optional
        Number of the copy on OpenML, the name of its target, and its rows.
    """

    name: str
    task: str
    feature_names: tuple[str, ...]
    n_original: int
    source: str
    origin: str
    sha256: str | None = None
    share: float | None = None
    openml_id: int | None = None
    openml_target: str | None = None
    openml_rows: int | None = None


WORDS = (
    "make address all 3d our over remove internet order mail receive will people "
    "report addresses free business email you credit your font 000 money hp hpl george "
    "650 lab labs telnet 857 data 415 85 technology 1999 parts pm direct cs meeting "
    "original project re edu table conference"
)
KNOWN = {
    "spambase": KnownSet(
        name="spambase",
        task="classification",
        feature_names=(
            *(f"word_freq_{word}" for word in WORDS.split()),
            *(
                f"char_freq_{sign}"
                for sign in "semicolon paren bracket exclam dollar hash".split()
            ),
            *(f"capital_run_length_{kind}" for kind in ("average", "longest", "total")),
        ),
        n_original=4601,
        source="M. Hopkins, E. Reeber, G. Forman and J. Suermondt, Spambase, "
        "UCI data set 94, CC BY 4.0",
        origin="https://archive.ics.uci.edu/dataset/94",
        sha256="d68e267ef3454b1d7ceeb81e0410227822f49511476bb917e5c2b07ce11d5b47",
        share=1813 / 4601,
        openml_id=44,
        openml_target="class",
        openml_rows=4601,
    ),
    "miniboone": KnownSet(
        name="miniboone",
        task="classification",
        feature_names=tuple(f"pid_{number:02d}" for number in range(1, 51)),
        n_original=130_064,
        source="B. Roe, MiniBooNE particle identification, UCI data set 199, CC BY 4.0",
        origin="https://archive.ics.uci.edu/dataset/199",
        share=36_499 / 130_064,
        openml_id=41150,
        openml_target="signal",
        openml_rows=130_064,
    ),
    "higgs": KnownSet(
        name="higgs",
        task="classification",
        feature_names=(
            "lepton_pT",
            "lepton_eta",
            "lepton_phi",
            "missing_energy_magnitude",
            "missing_energy_phi",
            *(
                f"jet{number}_{kind}"
                for number in range(1, 5)
                for kind in ("pt", "eta", "phi", "btag")
            ),
            *(f"m_{of}" for of in ("jj", "jjj", "lv", "jlv", "bb", "wbb", "wwbb")),
        ),
        n_original=11_000_000,
        source="P. Baldi, P. Sadowski and D. Whiteson, HIGGS, UCI data set 280, "
        "CC BY 4.0",
        origin="https://archive.ics.uci.edu/dataset/280",
        share=0.53,
        openml_id=23512,
        openml_target="class",
        openml_rows=98_050,
    ),
    "energy": KnownSet(
        name="energy",
        task="regression",
        feature_names=(
            "relative_compactness",
            "surface_area",
            "wall_area",
            "roof_area",
            "overall_height",
            "orientation",
            "glazing_area",
            "glazing_area_distribution",
        ),
        n_original=768,
        source="A. Tsanas and A. Xifara, Energy Efficiency, heating load, "
        "UCI data set 242, CC BY 4.0",
        origin="https://archive.ics.uci.edu/dataset/242",
        sha256="234ae469b24f6a8b84d30a253d448632d1ee208afad258045864a143840e225b",
    ),
}


def check(known, names, table, where):
    """Raise unless the table can be this data set, whole or, if allowed, a part.

    The last of the names is the target's; `where` is what an error calls the table.
    """
    wanted = (*known.feature_names, "target")
    if len(names) != len(wanted):
        raise DatasetFileError(
            f"{where} must have {len(wanted)} columns, the {len(wanted) - 1} features "
            f"of {known.name!r} and 'target'; got {len(names)}."
        )
    for number, (name, want) in enumerate(zip(names, wanted, strict=True), start=1):
        if name != want:
            raise DatasetFileError(
                f"{where}: column {number} must be {want!r}; got {name!r}."
            )
    if known.sha256 is not None and len(table) != known.n_original:
        raise DatasetFileError(
            f"{where} must have all {known.n_original:,} rows of {known.name!r}; "
            f"got {len(table):,}."
        )
    _check_target(known, table[:, -1], where)
    if known.sha256 is not None and digest(table) != known.sha256:
        raise DatasetFileError(
            f"{where} must hold the published values of {known.name!r}; some differ "
            f"(SHA-256 {digest(table)}, not {known.sha256})."
        )


def _check_target(known, y, where):
    """Raise unless the target is finite and, for classes, 0 or 1 in the known share."""
    if known.share is None:
        if not np.isfinite(y).all():
            raise DatasetFileError(f"{where}: every 'target' must be a number.")
        return
    odd = np.unique(y[~np.isin(y, (0, 1))])
    if odd.size:
        raise DatasetFileError(
            f"{where}: 'target' must be 0 or 1; got {odd[:5].tolist()!r}."
        )
    # Room for another way of sampling, and for the chance in a small part.
    spread = 3 * np.sqrt(known.share * (1 - known.share) / len(y))
    if abs(y.mean() - known.share) > 0.03 + spread:
        raise DatasetFileError(
            f"{where}: about {known.share:.1%} of the rows of {known.name!r} are of "
            f"class 1; got {y.mean():.1%}. The classes may have been swapped."
        )
