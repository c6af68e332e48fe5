"""The terminal: a status line, and text and tables that are no wider.

The status line appears before libraries are imported, so this module imports next to
nothing.
"""

import re
import shutil
import sys
import textwrap

from defragtrees._utils import formatting as render

GAP = "  "
FIXED = "\N{NO-BREAK SPACE}"  # between a number and its unit
CELLS = (30, 22, 16, 12)  # most columns of a cell; narrower where a table is too wide

# A setting of Python with its value, which is an option here.
SETTING = re.compile(
    r"\b(form|points|max_rules|max_conditions|min_rows|monotone|class_weight|costs|"
    r"threshold|pos_label|method|target_is|test_size)=(['\"]?)([\w.+-]*\w)\2"
)

_length = 0  # of the status line that is shown


def show_status(text):
    """Replace the status line on standard error, which only a terminal shows."""
    if sys.stderr.isatty():
        text = text[: shutil.get_terminal_size().columns - 1]
        _write(f"\r{text.ljust(_length)}", len(text))


def clear_status():
    """Clear the status line before a message or the result."""
    if _length:
        _write(f"\r{' ' * _length}\r", 0)


def _write(text, length):
    global _length
    _length = max(_length, length)  # a signal may come while the text is written
    sys.stderr.write(text)
    sys.stderr.flush()
    _length = length


def as_options(text):
    """A message of the library with settings as they are typed here.

    Examples
    --------
    >>> as_options("points='integer' needs form='points'; got max_rules=3.")
    '--points integer needs --form points; got --max-rules 3.'
    """
    text = text.replace("target=", "target_is=")  # --target is a column
    return SETTING.sub(lambda m: f"--{m[1].replace('_', '-')} {m[3]}", text)


def wrapped(text, indent=""):
    r"""The lines of a text, each broken between words where it is too wide.

    Examples
    --------
    >>> print(wrapped("word " * 18, "  "))
    word word word word word word word word word word word word word word word
      word word word
    """
    options = {"break_long_words": False, "break_on_hyphens": False}
    options["subsequent_indent"] = indent
    text = re.sub(r"(?<=\d) %", f"{FIXED}%", text)
    lines = [
        textwrap.fill(line, render.page_width(), **options) for line in text.split("\n")
    ]
    return "\n".join(lines).replace(f"{FIXED}%", " %")


def table(header, rows, left=(0,)):
    """Columns of text; `left` has the numbers of those that are set from the left.

    Columns that do not fit stand in a second table below, after the first column.

    Examples
    --------
    >>> print(table(["method", "log loss"], [["tree", "0.3"], ["forest", "0.25"]]))
             log
    method  loss
    tree     0.3
    forest  0.25
    """
    tries = [
        [
            _column(title, [render.plain(row[j]) for row in rows], most, j in left)
            for j, title in enumerate(header)
        ]
        for most in CELLS
    ]
    for columns in tries:
        widths = [len(cells[0][0]) + len(GAP) for cells in columns]
        if sum(widths) - len(GAP) <= render.page_width():
            return _joined(columns)
    columns = tries[0]
    blocks, room = [[]], 0
    for column in columns:
        needed = len(GAP) + len(column[0][0])
        if needed > room and len(blocks[-1]) != 1:
            first = [] if column is columns[0] else [columns[0]]
            blocks.append([*first])
            room = render.page_width() - sum(len(cells[0][0]) for cells in first)
        blocks[-1].append(column)
        room -= needed
    return "\n\n".join(_joined(block) for block in blocks[1:])


def _column(title, texts, most, is_left):
    """Lines of each cell, all of one width; the title stands at the bottom."""
    every = [title, *texts]
    # No word is broken, however long.
    words = max((len(word) for text in every for word in text.split()), default=0)
    widest = max([words, *(min(len(text), most) for text in texts)])
    cells = [
        textwrap.wrap(text, max(widest, 1), break_on_hyphens=False) or [""]
        for text in every
    ]
    set_cell = str.ljust if is_left else str.rjust
    return [[set_cell(line, widest) for line in cell] for cell in cells]


def _joined(columns):
    """The lines of columns side by side."""
    lines = []
    for k, cells in enumerate(zip(*columns, strict=True)):
        height = max(map(len, cells))
        filled = []
        for cell in cells:
            missing = [" " * len(cell[0])] * (height - len(cell))
            filled.append([*missing, *cell] if k == 0 else [*cell, *missing])
        lines += [GAP.join(line).rstrip() for line in zip(*filled, strict=True)]
    return "\n".join(lines)
