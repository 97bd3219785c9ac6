"""The features of a node of a BTG tree, as data (Nakagawa 2015, WeightTable 1).

A node over ``[begin, end)`` that splits at ``split`` has two children; the features look at the tokens at and
beside the children's corners, named as in the paper::

    … Ll- | Ll … Lr- Lr | Rl Rl+ … Rr | Rr+ …        L, R: left and right child
          begin         split         end             l, r: its left and right end

Every feature is joined with the node's label (straight, inverted), and those after the bar also with the
parent's label and which of its children the node is. Features that are joined tokens of one shape share a
table: one look-up of the tokens finds a row that holds the weights of all of them, for both labels and all
parents.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preorder.btg.grammar import CONTEXTS, LABELS

CORNERS = ("Ll-", "Ll", "Lr-", "Lr", "Rl", "Rl+", "Rr", "Rr+")

TABLES = {
    "token": "Ll- Ll Lr Rl Rr Rr+ | Ll Lr Rl Rr",
    "adjacent": "Ll-&Ll Lr&Rl Rr&Rr+",
    "trigram": "Lr-&Lr&Rl Lr&Rl&Rl+",
    "pair": "Ll&Lr Ll&Rl Lr&Rr Rl&Rr Ll&Rr | Ll&Rr",
    "triple": "Ll&Lr&Rl Lr&Rl&Rr",
    "quad": "Ll&Lr&Rl&Rr",
}
"""WeightTable → its templates. Those of ``triple`` have a row each, those of any other table share rows."""


class Template(NamedTuple):
    """One template: where its weights lie, and what it joins."""

    table: str
    corners: tuple[str, ...]  # the tokens joined
    context: bool  # whether the parent's label and side are joined too
    column: int  # first of its LABELS (with context CONTEXTS * LABELS) columns, the label last
    multipliers: tuple[int, ...]  # index into MULTIPLIERS for each of the corners


def _parse(declaration: dict[str, str]) -> tuple[Template, ...]:
    templates = []
    for table, text in declaration.items():
        column = 0
        plain, _, joined = text.partition("|")
        for names, context in ((plain, False), (joined, True)):
            for name in names.split():
                corners = tuple(name.split("&"))
                own = table == "triple"
                multipliers = map(("Ll", "Lr", "Rl", "Rr").index, corners) if own else range(len(corners))
                templates.append(Template(table, corners, context, column, tuple(multipliers)))
                if not own:
                    column += LABELS * (CONTEXTS if context else 1)
    return tuple(templates)


TEMPLATES = _parse(TABLES)
TABLE_NAMES = tuple(TABLES)
WIDTHS = tuple(
    max(t.column + LABELS * (CONTEXTS if t.context else 1) for t in TEMPLATES if t.table == name)
    for name in TABLES
)
"""Columns of each table."""


def columns(table: str, names: str, context: bool = False) -> list[int]:
    """Return the first column of each of some templates, for the compiled scorer."""
    found = {t[:3]: t.column for t in TEMPLATES}
    return [found[table, tuple(name.split("&")), context] for name in names.split()]


# --- keys ---

MULTIPLIERS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], dtype=np.uint64
)
"""The key of joined tokens is the sum over the corners of multiplier · token hash, modulo 2^64."""

# The same as arrays, for the compiled updates.
TEMPLATE_TABLE = np.array([TABLE_NAMES.index(t.table) for t in TEMPLATES], dtype=np.int64)
TEMPLATE_COLUMN = np.array([t.column for t in TEMPLATES], dtype=np.int64)
TEMPLATE_CONTEXT = np.array([t.context for t in TEMPLATES], dtype=np.bool_)
TEMPLATE_SIZE = np.array([len(t.corners) for t in TEMPLATES], dtype=np.int64)
TEMPLATE_CORNERS, TEMPLATE_MULTIPLIERS = np.zeros((2, len(TEMPLATES), 4), np.int64)
for _number, _template in enumerate(TEMPLATES):
    TEMPLATE_CORNERS[_number, : len(_template.corners)] = [CORNERS.index(c) for c in _template.corners]
    TEMPLATE_MULTIPLIERS[_number, : len(_template.corners)] = _template.multipliers
PAIR, TRIPLE, QUAD = map(TABLE_NAMES.index, ("pair", "triple", "quad"))

# --- features without tokens: a dense table, a row a feature, a column a label ---

BIAS = 0
BALANCE = 1  # + 0 left child longer, 1 right child longer, 2 equal
SIZE = BALANCE + 3  # + tokens of the node, at most MAX_SIZE
MAX_SIZE = 99
CHILD_SIZES = SIZE + MAX_SIZE + 1  # + 6 * tokens of the left child + of the right, at most MAX_CHILD_SIZE
MAX_CHILD_SIZE = 5
PARENT_LABEL = CHILD_SIZES + (MAX_CHILD_SIZE + 1) ** 2  # + label, or 2 at the root
PARENT = PARENT_LABEL + LABELS + 1  # + context
SHAPES = PARENT + CONTEXTS
SHAPES_PER_NODE = 6
