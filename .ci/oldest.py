"""Prints the lowest version that each dependency may have, for `pip install -c`.

python .ci/oldest.py > oldest.txt
"""

import re
import tomllib
from pathlib import Path

# `test` holds tools too; what checks and draws the rest need not be old.
TOOLS = (
    "build",
    "hatchling",
    "hypothesis",
    "import-linter",
    "ipykernel",
    "mypy",
    "nbclient",
    "playwright",
    "pytest",
    "pytest-xdist",
    "ruff",
)
BOUND = re.compile(r"([A-Za-z0-9_-]+)(?:\[[^\]]*\])?\s*>=\s*([0-9.]+)")


def lowest_versions(project):
    """Lines such as "numpy==1.26" from the table `project` of pyproject.toml."""
    extras = project["optional-dependencies"]
    groups = [project["dependencies"], *(extras[name] for name in extras)]
    bounds = {}
    for requirement in (text for group in groups for text in group):
        match = BOUND.match(requirement)
        if match and match[1] not in TOOLS:
            bounds[match[1]] = match[2]
    return [f"{name}=={version}" for name, version in sorted(bounds.items())]


if __name__ == "__main__":
    path = Path(__file__).parents[1] / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    print(*lowest_versions(project), sep="\n")
