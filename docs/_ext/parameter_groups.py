"""The many parameters of `simplify` in groups, on its page and on those of its classes.

numpydoc has one list of parameters; here a heading stands before the first of each
group. The docstrings keep this order.
"""

from docutils import nodes

__all__ = ["GROUPS", "setup"]

# The first parameter of each group.
GROUPS = {
    "ensemble": "What to imitate",
    "form": "How short",
    "features": "Which columns",
    "criterion": "Classes and costs",
    "engine": "Computation",
    "n_restarts": "The paper's method",
}


def add_headings(app, doctree):
    """Divide lists of parameters that have all groups, in their order."""
    for whole in list(doctree.findall(nodes.definition_list)):
        names = [first_name(item) for item in whole.children]
        if [name for name in names if name in GROUPS] == list(GROUPS):
            whole.parent.replace(whole, divided(whole, names))


def divided(whole, names):
    """A heading and a list for each group of a list of parameters."""
    parts = []
    for name, item in zip(names, whole.children, strict=True):
        if name in GROUPS:
            parts += [nodes.rubric("", GROUPS[name]), nodes.definition_list()]
        parts[-1] += item
    return parts


def first_name(item):
    """The first name in the line of a parameter."""
    name = next(iter(item.findall(nodes.strong)), nodes.Text("")).astext()
    return name.partition(",")[0]


def setup(app):
    """Register with Sphinx."""
    app.connect("doctree-read", add_headings)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
