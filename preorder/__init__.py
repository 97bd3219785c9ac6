"""Learn to put source words in the target's order, from a word-aligned bitext.

The stages, each a pure function between the small frozen types of :mod:`preorder.types`:
alignment → gold positions (:mod:`preorder.gold`) → a preorderer's training and use
(:mod:`preorder.preorderer`, :mod:`preorder.btg`) → measures (:mod:`preorder.metrics`).
Files are opened in :mod:`preorder.corpus` only; :mod:`preorder.cli` is the command line.
"""

__version__ = "0.1.0"
