"""History of drift checks: a text file with one JSON line per check.

A line is written at once to the end of the file, which is locked meanwhile, so that
checks that run at the same time neither mix their lines nor read half of one. A file is
read as a whole before anything is written to it.
"""

import contextlib
import errno
import importlib
import json
import operator
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from defragtrees._utils import formatting as render
from defragtrees._utils import schema
from defragtrees._utils.files import to_json
from defragtrees._utils.values import shown
from defragtrees.errors import HistoryFileError
from defragtrees.monitoring.check import Check, Finding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = "defragtrees-check-1"
MOST_SHOWN = 3  # findings in a line of the printed history


def _read_time(value: str, place: str) -> datetime:
    time = datetime.fromisoformat(value)
    if time.tzinfo is None:
        raise ValueError(f"{place} must have a zone; got {value!r}")
    return time.astimezone(UTC)


TIME = replace(schema.TEXT, read=_read_time)


@dataclass(frozen=True, eq=False)
class Record(schema.Stored):
    """A check in a history.

    Parameters
    ----------
    check : Check
    time : datetime
        When it was made, in UTC.
    label : str
        What the rows were called; may be empty, as may the others.
    rules, data : str
        Names of the rules and of the rows.

    Examples
    --------
    >>> finding = Finding("coverage", "rule 1", 0.5, 0.9, "50.0%", "90.0%", 0.001)
    >>> Record(Check((finding,), 100, 50), datetime(2026, 5, 4, tzinfo=UTC)).name
    '2026-05-04'
    """

    check: Check
    time: Annotated[datetime, TIME]
    label: Annotated[str, schema.TEXT, "required"] = ""
    rules: Annotated[str, schema.TEXT, "required"] = ""
    data: Annotated[str, schema.TEXT, "required"] = ""

    @property
    def name(self) -> str:
        """The label, or else the name of the rows, or else the date."""
        return self.label or self.data or f"{self.time:%Y-%m-%d}"

    def to_dict(self) -> dict[str, Any]:
        """The line of the history, in plain numbers, texts and lists.

        Examples
        --------
        >>> record = Record(Check((), 100, 50), datetime(2026, 5, 4, tzinfo=UTC))
        >>> record.to_dict()["time"]
        '2026-05-04T00:00:00Z'
        """
        time = f"{self.time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
        about = {"format": FORMAT} | super().to_dict() | {"time": time}
        return about | self.check.to_dict()

    @classmethod
    def from_dict(cls, data: Any, place: str = "") -> Self:  # type: ignore[override]
        """The record that `to_dict` wrote down; ValueError for anything else.

        Examples
        --------
        >>> record = Record(Check((), 100, 50), datetime(2026, 5, 4, tzinfo=UTC))
        >>> Record.from_dict(record.to_dict()).time == record.time
        True
        """
        form = data.get("format") if isinstance(data, dict) else data
        if form != FORMAT:
            raise ValueError(f"the format must be {FORMAT!r}; got {shown(form)}")
        own = {name: data[name] for name in cls._entries() if name in data}
        check = {k: v for k, v in data.items() if k != "format" and k not in own}
        return cls(Check.from_dict(check), **cls._read(own, place or "check"))


@dataclass(frozen=True, eq=False)
class History:
    """Drift checks in order of time; prints as a table.

    Parameters
    ----------
    records : tuple of Record
    path : path
        The file that they come from.

    Examples
    --------
    >>> finding = Finding("coverage", "rule 1", 0.5, 0.9, "50.0%", "90.0%", 0.001)
    >>> times = [datetime(2026, 5, day, tzinfo=UTC) for day in (4, 11)]
    >>> checks = [Check((replace(finding, is_moved=k > 0),), 100, 50) for k in (0, 1)]
    >>> print(History(tuple(map(Record, checks, times)), "checks.jsonl"))
    check       rows  drift
    2026-05-04    50  no
    2026-05-11    50  rule 1: share of rows
    """

    records: tuple[Record, ...]
    path: str | os.PathLike[str]

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, place: int) -> Record:
        return self.records[place]

    @property
    def moved(self) -> dict[tuple[str, str], list[Finding | None]]:
        """What ever drifted, in the order in which it began.

        From kind and rule or column to the findings of all checks; None where a check
        did not test it.
        """
        first = [
            (finding.kind, finding.about)
            for record in self
            for finding in record.check.moved
        ]
        by_check = [
            {
                (finding.kind, finding.about): finding
                for finding in record.check.findings
            }
            for record in self
        ]
        return {
            measure: [findings.get(measure) for findings in by_check]
            for measure in dict.fromkeys(first)
        }

    @property
    def since(self) -> Record | None:
        """The check since which every check has found drift; None if the last has not.

        Examples
        --------
        >>> History((), "checks.jsonl").since is None
        True
        """
        first = None
        for record in reversed(self.records):
            if not record.check.has_moved:
                break
            first = record
        return first

    def with_record(self, record: Record) -> "History":
        """The history with one more check; nothing is written.

        Examples
        --------
        >>> record = Record(Check((), 100, 50), datetime(2026, 5, 4, tzinfo=UTC))
        >>> len(History((), "checks.jsonl").with_record(record))
        1
        """
        records = sorted((*self.records, record), key=operator.attrgetter("time"))
        return replace(self, records=tuple(records))

    def append(self, record: Record) -> "History":
        """Write one more check to the file; returns the history with it.

        Examples
        --------
        >>> import tempfile
        >>> record = Record(Check((), 100, 50), datetime(2026, 5, 4, tzinfo=UTC))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = f"{folder}/checks.jsonl"
        ...     _ = read_history(path, missing_ok=True).append(record)
        ...     len(read_history(path))
        1
        """
        _append_line(Path(self.path), to_json(record.to_dict(), indent=None))
        return self.with_record(record)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot what drifted, and since when; see `defragtrees.plots.history`.

        Examples
        --------
        >>> record = Record(Check((), 100, 50), datetime(2026, 5, 4, tzinfo=UTC))
        >>> History((record,), "checks.jsonl").plot().get_xlabel()
        'check'
        """
        from defragtrees import plots

        return plots.history(self, ax=ax)

    def __str__(self) -> str:
        rows = []
        for record in self:
            clearest = sorted(record.check.moved, key=lambda finding: finding.p)
            texts = [render.plain(finding.measure) for finding in clearest[:MOST_SHOWN]]
            if clearest[MOST_SHOWN:]:
                texts.append(f"{len(clearest) - MOST_SHOWN} more")
            drift = "; ".join(texts) or "no"
            rows.append([render.plain(record.name), f"{record.check.n_now:,}", drift])
        head = ["check", "rows", "drift"]
        return render.text_table(head, rows, left=(0, 2), width=render.page_width())


def read_history(path: str | os.PathLike[str], *, missing_ok: bool = False) -> History:
    """Read a history of drift checks, which `watch --history` or `append_to` wrote.

    Parameters
    ----------
    path : path
    missing_ok : bool, default=False
        Whether a file that is not there is a history without checks.

    Returns
    -------
    History

    Examples
    --------
    >>> read_history("none.jsonl", missing_ok=True).records
    ()
    """
    path = Path(path)
    if missing_ok and not path.exists():
        return History((), path)
    if path.exists() and not path.is_file():
        raise _not_a_history(path, "it is no regular file")
    records = []
    with open(path, "rb") as file:
        _lock(file.fileno(), "LOCK_SH")
        for number, line in enumerate(file, start=1):
            try:
                if line.strip():
                    records.append(Record.from_dict(json.loads(line.decode("utf-8"))))
            except (ValueError, RecursionError) as error:
                why = f"line {number} {_reason(line, error)}"
                raise _not_a_history(path, why) from None
    return History(tuple(sorted(records, key=operator.attrgetter("time"))), path)


def _reason(line, error):
    """Why a line is not a check, in a few words."""
    if not line.endswith(b"\n") and FORMAT.encode() in line:
        return "is cut off"
    if isinstance(error, UnicodeDecodeError):
        return "is not UTF-8 text"
    if isinstance(error, json.JSONDecodeError | RecursionError):
        return "is not JSON"
    return f"is no check: {str(error).rstrip('.')}"


def _not_a_history(path, why):
    return HistoryFileError(
        f"{str(path)!r} is not a history of checks ({why}). Name another file, or "
        "remove what does not belong there."
    )


def _lock(handle, kind):
    """Wait for others, until the file is closed; where there are such locks."""
    with contextlib.suppress(ImportError, OSError):
        fcntl = importlib.import_module("fcntl")
        fcntl.flock(handle, getattr(fcntl, kind))


def _append_line(path, line):
    """Write a line to the end of a file, in one piece or not at all."""
    content = f"{line}\n".encode()
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o666)
    try:
        _lock(handle, "LOCK_EX")
        size = os.lseek(handle, 0, os.SEEK_END)
        if size:
            os.lseek(handle, size - 1, os.SEEK_SET)
            if os.read(handle, 1) != b"\n":  # as an editor may leave it
                content = b"\n" + content
        if os.write(handle, content) < len(content):
            os.ftruncate(handle, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        os.fsync(handle)
    finally:
        os.close(handle)
