"""One self-contained HTML page: the rules, how good they are, and how they came to be.

`summarize` measures what all sections need, each module of `sections` writes one of
them, and `make_page` puts them together.
"""

from defragtrees.report.writing import write_report

__all__ = ["write_report"]
