"""The HTML report: rules, evidence, measures and settings on one self-contained page.

`summary` measures, each function of `sections` prepares what its template shows, and
`page` puts them together.
"""

from defragtrees.report.page import write_report

__all__ = ["write_report"]
