"""One self-contained HTML page: the rules, how good they are, and how they came to be.

`summarize` measures and gives a plain dict, `html` makes the page from it; neither
knows the other's business.
"""

from defragtrees.report.writing import write_report

__all__ = ["write_report"]
