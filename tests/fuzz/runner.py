"""Runs cases in a child process, and ends it where a file makes it hang or swell."""

import json
import os
import select
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Tally", "run_cases"]

# Of the processor, so others may be busy; the slowest case takes 0.2 s of a common one.
MOST_SECONDS, MOST_MEGABYTES = 5.0, 1024
PATIENCE = 300.0  # seconds on the clock, after which a child is ended
ADDRESS_KILOBYTES = 3 * 2**20  # a child may map no more for files
ROOT = Path(__file__).parents[2]


@dataclass
class Tally:
    """What became of the cases."""

    counts: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)
    slowest: float = 0.0
    largest: float = 0.0

    @property
    def n_failures(self):
        """Number of files that neither end in a clean error nor are sound."""
        return len(self.failures)

    def add(self, case, answer):
        """Count one case."""
        outcome, text, seconds = (answer[k] for k in ("outcome", "text", "seconds"))
        if outcome != "failure" and seconds > MOST_SECONDS:
            outcome, text = "failure", f"took {seconds:.1f} s"
        if outcome != "failure" and answer["megabytes"] > MOST_MEGABYTES:
            outcome, text = "failure", f"took {answer['megabytes']:.0f} MB"
        self.counts[case.kind, outcome] += 1
        self.slowest = max(self.slowest, seconds)
        self.largest = max(self.largest, answer["megabytes"])
        if outcome == "failure":
            self.failures.append((case, text))

    def text(self):
        """A table of the counts, for people."""
        outcomes = ("clean error", "accepted and sound", "failure")
        lines = [f"{'':10}" + "".join(f"{name:>20}" for name in outcomes)]
        kinds = sorted({kind for kind, _ in self.counts})
        for kind in kinds:
            cells = [self.counts[kind, outcome] for outcome in outcomes]
            lines.append(f"{kind:10}" + "".join(f"{cell:20,}" for cell in cells))
        total = sum(self.counts.values())
        lines.append(
            f"{total:,} cases, {self.n_failures} failures; slowest "
            f"{self.slowest:.2f} s, most memory {self.largest:.0f} MB"
        )
        return "\n".join(lines)


class _Child:
    """A process that judges; a new one is started where the last one was ended."""

    def __init__(self):
        self.process = None

    def ask(self, kind, path):
        """The answer of the process for a file; a failure where there is none."""
        if self.process is None:
            self.start()
        line = json.dumps([kind, str(path)]) + "\n"
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()
        answer = self._read(PATIENCE)
        if answer is None:
            code = self.process.poll()
            why = "hangs" if code is None else f"ends the process with {code}"
            self.end()
            answer = {"outcome": "failure", "text": why}
            return answer | {"megabytes": 0.0, "seconds": 0.0}
        return answer

    def start(self):
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT), *sys.path]),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.judge", str(ADDRESS_KILOBYTES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=ROOT,
        )
        if self._read(2 * PATIENCE) is None:
            raise RuntimeError("The process that judges files does not start.")

    def _read(self, seconds):
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline() if ready else b""
        return json.loads(line) if line else None

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdin, self.process.stdout):
                stream.close()
            self.process = None


def run_cases(cases, watch=None):
    """What becomes of each case; `watch` is told how many are done."""
    tally, child = Tally(), _Child()
    with tempfile.TemporaryDirectory() as folder:
        try:
            for n_done, case in enumerate(cases, start=1):
                path = Path(folder, case.name)
                path.write_bytes(case.content)
                tally.add(case, child.ask(case.kind, path))
                path.unlink()
                if watch is not None:
                    watch(n_done, tally)
        finally:
            child.end()
    return tally
