"""The subcommands of ``preorder``, and what each does, known without an import of any."""

from __future__ import annotations

SUMMARIES = {
    "align": "align the words of a bitext by eflomal",
    "map": "put word alignments on other tokens of the same text, turn them round, leave out doubtful links",
    "gold": "put source words in the order that a word alignment asks for",
    "annotate": "tag and parse a tokenised text by Stanza, or check files of tags and trees",
    "train": "learn to preorder from a word-aligned bitext",
    "apply": "put source words in the order that a model predicts",
    "evaluate": "measure orders or alignments against alignments",
    "score": "score translations against references",
    "diagnose": "find out whether word order is the problem, and what an order could be worth",
    "analyse": "find out why translations differ",
    "swap": "swap some of the source's words",
    "show": "show what preordering does to sentences",
    "report": "put runs on one page of HTML",
}
"""Name → what it does, without a capital and a full stop; the module of that name in this package does it."""
