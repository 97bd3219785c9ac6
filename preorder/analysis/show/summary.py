"""A sentence as JSON."""

from __future__ import annotations

from typing import Any

from preorder.analysis.show.scores import taus
from preorder.analysis.show.sentence import SentenceView, crossings
from preorder.data import formats


def summary(view: SentenceView) -> dict[str, Any]:
    """Return the JSON object of a sentence; what is not known is None."""
    known = view.alignment is not None
    before, after = taus(view) or (None, None)
    return {
        "source": list(view.words),
        "preordered": list(view.permutation.apply(view.words)),
        "positions": list(view.permutation.positions),
        "order": list(view.permutation.order),
        "tree": None if view.tree is None else formats.format_tree(view.words, view.tree),
        "target": None if view.target is None else list(view.target),
        "crossings": crossings(view.links) if known else None,
        "crossings_preordered": crossings(view.reordered().links) if known else None,
        "tau_nakagawa": before,
        "tau_nakagawa_preordered": after,
    }
