"""The names of the grammar: labels of nodes, their contexts, and how a node is written in an array."""

LABELS = 2
STRAIGHT, INVERTED = range(LABELS)  # labels: the left child comes first, or the right one
LEFT, RIGHT = range(2)  # which child of its parent a node is

CONTEXTS = 5
ROOT_CONTEXT = 4  # the context of the root; that of others: ``label of the parent * 2 + which child``
LANES = CONTEXTS * LABELS  # a lane is a context and a label: ``context * LABELS + label``

NODE_FIELDS = 5
"""A node in an array, int32: begin, split, end, label, context. In a tree, parents come before children."""
