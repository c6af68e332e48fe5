"""The code blocks of a page: found, run in order in a folder of their own, compared.

Blocks of Python with `>>>` are doctests. Others share the names of those before them on
the page, as a reader who copies them would; what they print must be what the next
`text` block shows. Lines after `$` in a `console` block are given to the command line,
and what stands below is what it must answer. Seconds are not compared.
"""

import contextlib
import doctest
import html
import io
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass

FENCE = re.compile(r"^ *```([a-z]*)[^\n]*\n(.*?)^ *```$", re.M | re.S)
COMMAND = re.compile(
    r"^\$ ((?:[^\n]*\\\n)*[^\n]*)\n?((?:(?!\$ )[^\n]*(?:\n|\Z))*)", re.M
)
# What sets up a shell, and what is a matter for others.
NOT_RUN = ("eval ", "_DEFRAGTREES_COMPLETE", "source ", "export ")


@dataclass(frozen=True)
class Block:
    """Code of one language, with the line that it starts in."""

    language: str
    text: str
    line: int

    @property
    def is_doctest(self):
        """Whether it shows what each line answers."""
        return self.language == "python" and ">>> " in self.text


def blocks_of(text):
    """All blocks of a page, in order."""
    starts = (
        (match, text.count("\n", 0, match.start()) + 2)
        for match in FENCE.finditer(text)
    )
    return [Block(match[1], match[2], line) for match, line in starts]


def run_page(path):
    """What is wrong with the blocks of a page, as texts; run where the process is."""
    blocks, names, wrong = blocks_of(path.read_text(encoding="utf-8")), {}, []
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        place = f"{path.name}, line {block.line}"
        if block.is_doctest:
            wrong += _run_doctest(block, names, place)
        elif block.language == "python":
            wrong += _run_python(block, following, names, place)
        elif block.language == "console":
            for command, expected in COMMAND.findall(block.text):
                if not command.startswith(NOT_RUN):
                    wrong += _compared(_run_command(command), expected, place)
    return wrong


def _run_doctest(block, names, place):
    test = doctest.DocTestParser().get_doctest(block.text, names, place, None, 0)
    told = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test, out=told.write, clear_globs=False)
    names.update(test.globs)
    return [told.getvalue()] if runner.failures else []


def _run_python(block, following, names, place):
    printed = io.StringIO()
    try:
        code = compile("\n" * (block.line - 1) + block.text, place, "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
    except Exception as error:
        return [f"{place}: {type(error).__name__}: {error}"]
    is_shown = following is not None and following.language == "text"
    if not (is_shown and "print(" in block.text):
        return []
    return _compared(printed.getvalue(), following.text, place)


def _run_command(command):
    """What a line of the shell answers; `defragtrees` runs in this process."""
    from defragtrees.cli.group import run

    line, _, pipe = command.replace("\\\n", " ").partition(" | ")
    name, *arguments = shlex.split(line, comments=True)
    if name != "defragtrees":
        raise ValueError(f"Only defragtrees is run in pages; got {name!r}.")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        run(arguments)
    if not pipe:
        return printed.getvalue()
    if head := re.fullmatch(r"head -(\d+)", pipe):
        return "".join(printed.getvalue().splitlines(keepends=True)[: int(head[1])])
    program, *arguments = shlex.split(pipe)
    if shutil.which(program) is None:
        return None
    done = subprocess.run(
        [program, *arguments], input=printed.getvalue(), capture_output=True, text=True
    )
    return done.stdout


def _compared(printed, expected, place):
    if printed is None or _masked(printed) == _masked(expected):
        return []
    return [f"{place} shows\n{expected}\nbut what comes out is\n{printed}"]


def _masked(text):
    """The text without seconds, and without spaces at the ends of lines."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    if any(line.endswith(" seconds") for line in lines):
        lines = [re.sub(r" +[\d.]+$", "", line) for line in lines]
    return [re.sub(r"found in [\d.]+ s", "found in so many s", line) for line in lines]


def shell_lines(path):
    """What `sh` blocks of a page tell people to type."""
    blocks = blocks_of(path.read_text(encoding="utf-8"))
    texts = (b.text.replace("\\\n", " ") for b in blocks if b.language == "sh")
    return [line for text in texts for line in text.splitlines() if line.strip()]


def rewritten(path):
    """The text of a page with what its blocks print now in place of what it shows."""
    text = path.read_text(encoding="utf-8")
    names, changes = {}, []
    blocks = [(m[1], m[2], m.start(2)) for m in FENCE.finditer(text)]
    followers = [*blocks[1:], ("", "", 0)]
    for (language, code, start), following in zip(blocks, followers, strict=False):
        if language == "python" and ">>> " in code:
            changes += _doctest_changes(code, start, names)
        elif language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, path.name, "exec"), names)
            if following[0] == "text" and "print(" in code:
                changes.append((following[2], following[1], printed.getvalue()))
        elif language == "console":
            for match in COMMAND.finditer(code):
                if not match[1].startswith(NOT_RUN):
                    printed = _run_command(match[1])
                    changes.append((start + match.start(2), match[2], printed))
    for start, before, after in sorted(changes, reverse=True):
        if after is not None and _masked(before) != _masked(after):
            after = "".join(f"{line}\n" for line in after.strip("\n").splitlines())
            blank = before[len(before.rstrip("\n")) + 1 :]
            text = text[:start] + after + blank + text[start + len(before) :]
    return text


def _doctest_changes(code, start, names):
    changes = []
    lines = code.splitlines(keepends=True)

    class Runner(doctest.DocTestRunner):
        def report_failure(self, out, test, example, got):
            first = example.lineno + example.source.count("\n")
            place = start + sum(map(len, lines[:first]))
            if got.startswith("Traceback"):  # without the files of this machine
                head, *_, last = got.strip().splitlines()
                got = f"{head}\n...\n{last}"
            got = re.sub(r"^$", doctest.BLANKLINE_MARKER, got.strip("\n"), flags=re.M)
            changes.append((place, example.want, got))

    test = doctest.DocTestParser().get_doctest(code, names, "page", None, 0)
    Runner(verbose=False).run(test, out=lambda text: None, clear_globs=False)
    names.update(test.globs)
    return changes


if __name__ == "__main__":
    import os
    import tempfile
    import warnings
    from pathlib import Path

    is_written = sys.argv[1] == "--write"
    pages = [Path(name).resolve() for name in sys.argv[1 + is_written :]]
    warnings.simplefilter("ignore", UserWarning)
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            if is_written:
                page.write_text(rewritten(page), encoding="utf-8")
            else:
                sys.stdout.write("\n".join(run_page(page)))
            os.chdir(page.parent)


def text_of_page(page):
    """What an HTML page says, without its tags, scripts and pictures."""
    page = re.sub(r"<(script|style|svg).*?</\1>", "", page, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
