"""Write the report of README and site: `python examples/live_report.py [path]`.

It is the one of the first example of the README.
"""

import re
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
KEPT = README.parent / "docs" / "live-report.html"


def write(path):
    """Run the lines of the page, with the report at `path`; returns their names."""
    page, names = README.read_text(encoding="utf-8"), {}
    code = re.search(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
    exec(code.replace('"report.html"', repr(str(path))), names)
    return names


if __name__ == "__main__":
    write(*sys.argv[1:] or [KEPT])
