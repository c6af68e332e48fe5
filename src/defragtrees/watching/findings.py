"""Finding and Check: what new rows are like beside the training rows, to be shown."""

from dataclasses import dataclass

from defragtrees import render
from defragtrees.watching.page import answer_text, page

__all__ = ["LEVEL", "WHAT", "Check", "Finding", "p_text"]

LEVEL = 0.05
WHAT = {
    "coverage": "share of rows",
    "rate": "rate",
    "mean": "mean",
    "target": "true answers",
    "error": "error",
    "agreement": "agreement with the model",
    "column": "values",
    "missing": "missing values",
    "range": "values outside the range",
    "category": "new categories",
}


@dataclass(frozen=True)
class Finding:
    """One thing then and now.

    Parameters
    ----------
    kind : str
        A key of `WHAT`.
    about : str
        The rule or the column.
    then, now : str
        What it was in the training rows, and is in the new ones.
    p : float
        How likely a difference such as this one is by chance.
    rule : int, optional
        Its number, from 1.
    column : str, optional
    adjusted : float
        The same in view of all other tests.
    is_moved : bool
        Whether that is less than the level.
    """

    kind: str
    about: str
    then: str
    now: str
    p: float
    rule: int | None = None
    column: str | None = None
    adjusted: float = 1.0
    is_moved: bool = False

    def to_dict(self):
        """Its contents in plain numbers and texts."""
        return {
            "kind": self.kind,
            "rule": self.rule,
            "column": self.column,
            "then": self.then,
            "now": self.now,
            "p": self.p,
            "adjusted_p": self.adjusted,
            "moved": self.is_moved,
        }

    @property
    def text(self):
        """The finding as a sentence."""
        return f"{self.about}: {WHAT[self.kind]} {self.now}, was {self.then}"


@dataclass(frozen=True, eq=False)
class Check(render.Tabular):
    """Whether new rows are like those that rules were fitted to.

    Parameters
    ----------
    findings : tuple of Finding
    n_then, n_now : float
        Rows then and now.
    level : float
        How often all tests together raise a false alarm.
    answers : tuple of (str, float or None, float)
        Of classes: each one, and which share of the rows got it then and now; of
        numbers, the mean answer.
    notes : tuple of str
        What could not be tested, and why.
    """

    findings: tuple[Finding, ...]
    n_then: float
    n_now: int
    level: float = LEVEL
    answers: tuple[tuple[str, float | None, float], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def moved(self):
        """The findings that are more than chance."""
        return tuple(finding for finding in self.findings if finding.is_moved)

    @property
    def has_moved(self):
        """Whether any is."""
        return bool(self.moved)

    def __bool__(self):
        return self.has_moved

    def __repr__(self):
        return f"<Check: {len(self.moved)} of {len(self.findings)} tests moved>"

    @property
    def verdict(self):
        """In a sentence, whether the world has moved."""
        rows = (
            f"{render.plural(self.n_now, 'new row')} against "
            f"{render.count(self.n_then)}"
        )
        rate = f"{100 * self.level:g} %"
        if not self.moved:
            return (
                f"Nothing has moved: {rows}, {len(self.findings)} tests, false alarms "
                f"in at most {rate} of checks."
            )
        return (
            f"{len(self.moved)} of {len(self.findings)} things have moved: {rows}, "
            f"false alarms in at most {rate} of checks."
        )

    def to_dict(self):
        """Everything in plain numbers, texts and lists."""
        return {
            "moved": self.has_moved,
            "verdict": self.verdict,
            "level": self.level,
            "n_then": self.n_then,
            "n_now": self.n_now,
            "findings": [finding.to_dict() for finding in self.findings],
            "answers": [
                {"answer": name, "then": then, "now": now}
                for name, then, now in self.answers
            ],
            "notes": list(self.notes),
        }

    def to_html(self, title="Are the rules still true?"):
        """The check as one HTML page, without scripts and links."""
        return page(self, title)

    def _cells(self):
        header = ["", "what", "then", "now", "p", ""]
        rows = [
            [
                render.plain(one.about),
                WHAT[one.kind],
                render.plain(one.then),
                render.plain(one.now),
                p_text(one.adjusted),
                "moved" if one.is_moved else "",
            ]
            for one in self.findings
        ]
        return header, rows

    def _notes(self):
        moved = [f"! {render.plain(finding.text)}" for finding in self.moved]
        answers = [
            f"answer {render.plain(name)}: {answer_text(now, name)}"
            + ("" if then is None else f", was {answer_text(then, name)}")
            for name, then, now in self.answers
        ]
        return [*answers, *moved, *self.notes, self.verdict]


def p_text(p):
    """A p value as it is shown."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"
