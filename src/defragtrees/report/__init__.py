"""One self-contained HTML page: the rules, how good they are, and how they came to be.

`summary` measures, each function of `sections` prepares what its template shows, and
`page` puts them together.
"""

from defragtrees.report.page import write_report

__all__ = ["write_report"]
