"""How the links of a sentence lie before and after preordering: crossings, and tau of Nakagawa."""

from __future__ import annotations

from preorder.alignment.target_groups import target_groups
from preorder.analysis.score_formats import SCORE_FORMATS
from preorder.analysis.show.sentence import SentenceView, crossings
from preorder.metrics.preordering import order_statistics, sentence_scores

BEFORE, AFTER = "as it is written", "preordered"
MEASURE = "tau_nakagawa"


def taus(view: SentenceView) -> tuple[float, float] | None:
    """Return tau_nakagawa, 0 to 1, of the source as it is and of the other order, over the linked tokens.

    Only sure links count. Both are 1 with fewer than two linked tokens, as in ``preorder evaluate``.

    Returns:
        None without an alignment, and where the alignment cannot be sorted.
    """
    if view.alignment is None:
        return None
    groups = target_groups(view.alignment, len(view.words))
    if groups is None:
        return None
    statistics = order_statistics([groups] * 2, [range(len(groups)), view.permutation.positions])
    _, (before, after), _, _ = sentence_scores(statistics).T
    return float(before), float(after)


def panel_names(view: SentenceView) -> tuple[str, str]:
    """Name the two orders of a sentence and, if it has links, say how these lie in each."""
    if not view.links:
        return BEFORE, AFTER
    counts = [crossings(one.links) for one in (view, view.reordered())]
    found = taus(view)
    if found is None:
        measured = [f"no {MEASURE}, since the links cannot be sorted"] * 2
    else:
        measured = [f"{MEASURE} {SCORE_FORMATS[MEASURE].format(tau)}" for tau in found]
    crossed = (f"{count} crossing{'' if count == 1 else 's'} of links" for count in counts)
    rows = zip((BEFORE, AFTER), crossed, measured, strict=True)
    before, after = (f"{name}: {count}, {tau}" for name, count, tau in rows)
    return before, after
