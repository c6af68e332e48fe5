"""Formulas as MathML, which browsers draw themselves, without script or network."""

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import SphinxError

__all__ = ["setup"]


class FormulaError(SphinxError):
    """A formula that cannot be read."""

    category = "Formula"


def convert(text, *, is_block):
    """The MathML of a formula in LaTeX."""
    try:
        return tex2mathml(text, as_block=is_block)
    except MathError as problem:
        raise FormulaError(
            f"A formula must be LaTeX that docutils knows; {text!r} is not: {problem}. "
            "Write it with simpler commands."
        ) from problem


def write_inline(translator, node):
    """Write a formula inside a sentence."""
    translator.body.append(convert(node.astext(), is_block=False))
    raise SkipNode


def write_block(translator, node):
    """Write a formula on lines of its own."""
    formula = convert(node.astext(), is_block=True)
    translator.body.append(f'<div class="formula">{formula}</div>')
    raise SkipNode


def setup(app):
    """Register the renderer with Sphinx."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
