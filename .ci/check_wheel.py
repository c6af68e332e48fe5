"""Installs a wheel in an empty environment, and runs the first example of the README.

python .ci/check_wheel.py dist/defragtrees-0.2.0-py3-none-any.whl
"""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
FIRST = re.compile(r"^```python\n(.*?)^```\n.*?^```text\n(.*?)^```$", re.M | re.S)


def main(wheel):
    """Fail where the example prints anything else than the README says."""
    code, expected = FIRST.search(README.read_text(encoding="utf-8")).groups()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        needed = f"{Path(wheel).resolve()}[cli,pandas,report]"
        install = [python, "-m", "pip", "install", "--quiet", needed]
        subprocess.run(install, check=True, cwd=folder)
        done = subprocess.run(
            [python, "-W", "error", "-c", code],
            check=True,
            cwd=folder,
            capture_output=True,
            text=True,
        )
        demo = [python, "-m", "defragtrees", "demo", "--report", "demo.html"]
        subprocess.run(demo, check=True, cwd=folder, capture_output=True)
    if done.stdout != expected:
        sys.exit(
            f"The first example of README.md prints something else:\n{done.stdout}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
