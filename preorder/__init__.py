"""Learn to put source words in the target's order, from a word-aligned bitext.

The stages, each a pure function between the small frozen types of :mod:`preorder.data.types`:
alignment → gold positions (:mod:`preorder.alignment.gold`) → a preorderer's training and use
(:mod:`preorder.methods.base`, :mod:`preorder.btg`) → measures (:mod:`preorder.metrics`).
Files are opened in :mod:`preorder.data.files` only; :mod:`preorder.cli` is the command line.
"""

__version__ = "0.1.0"
