"""Write the report that the site shows: `python examples/live_report.py [path]`.

It is the one of the first lines of docs/report.md.
"""

import re
import sys
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "report.md"


def write(path):
    """Run the lines of the page; the report goes to `path`."""
    page = PAGE.read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
    exec(code.replace('"report.html"', repr(str(path))), {})


if __name__ == "__main__":
    write(*sys.argv[1:] or ["live-report.html"])
