"""No table has a head that is empty, which screen readers would read out."""

from docutils import nodes

__all__ = ["fill_heads", "setup"]


def fill_heads(app, doctree):
    """Remove heads without a word, and give a corner without one a hidden word."""
    for head in list(doctree.findall(nodes.thead)):
        empty = [cell for cell in head.findall(nodes.entry) if not cell.astext()]
        if not head.astext().strip():
            head.parent.remove(head)
            continue
        for cell in empty:
            word = nodes.inline("", "name", classes=["visually-hidden"])
            cell += nodes.paragraph("", "", word)
    for table in doctree.findall(nodes.raw):  # of pandas, in stories
        if "<th></th>" in table.astext():
            text = table.astext().replace("<th></th>", "<td></td>")
            table.children = [nodes.Text(text)]


def setup(app):
    """Register with Sphinx."""
    app.connect("doctree-read", fill_heads)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
