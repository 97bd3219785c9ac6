"""The order of translations against that of their source, and of people's translations, by word links.

No word form is compared: two translations have the same order if the source tokens that both link stand in
the same order in them. A link that the aligner misses, a word without a link, and the choice between two
right orders cannot be told from errors. Wrong words are not seen at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from preorder.alignment.gold import UNALIGNED, target_groups
from preorder.analysis.results import SCORE_FORMATS, Table
from preorder.data import Alignment
from preorder.errors import UsageError
from preorder.metrics.orders import TargetGroups

REFERENCE = "reference"
BLIND_SPOTS = (
    "Only source words that have links are seen: not wrong words, nor words added. An error of the aligner\n"
    "counts as another order, and of two right orders only the reference's counts as right."
)

Links = Sequence[Alignment]  # of each sentence, source to translation


def diagnose_orders(
    lengths: Sequence[int], references: Sequence[Links], systems: Mapping[str, Sequence[Links]]
) -> dict[str, dict[str, Any]]:
    """Measure the order of each system's runs, and of the references, by links to the same source.

    ``lengths``: of the source sentences. Returns for each name ``linked`` (share of source tokens), ``tau``
    and ``in_order`` (against the source's order), and of systems, where there are references, ``tau_human``
    and ``differs`` (share of sentences in which a pair of words stands the other way round; the nearest
    reference counts). Means over sentences that have at least two linked words, and over runs.
    """
    if references and REFERENCE in systems:
        raise UsageError(f"no system can be called {REFERENCE!r}: rename it")
    people = [_groups(links, lengths) for links in references]
    found = {}
    for name, runs in {**({REFERENCE: references} if references else {}), **systems}.items():
        measured = [_measure(_groups(links, lengths), people if name != REFERENCE else []) for links in runs]
        found[name] = {key: float(np.mean([one[key] for one in measured])) for key in measured[0]}
    return found


def _groups(links: Links, lengths: Sequence[int]) -> list[TargetGroups | None]:
    return [target_groups(one, length) for one, length in zip(links, lengths, strict=True)]


def _measure(groups: Sequence[TargetGroups | None], people: Sequence[Sequence[TargetGroups | None]]) -> dict:
    linked = [group != UNALIGNED for one in groups if one is not None for group in one]
    sources = [None if one is None else tuple(range(len(one))) for one in groups]
    agreed = [best for best in map(agreement, groups, sources) if best is not None]
    found = {"linked": _mean(linked), "tau": _mean(agreed), "in_order": _mean(tau == 1 for tau in agreed)}
    if people:
        rows = (map(agreement, groups, person) for person in people)
        nearest = [
            max(known) for row in zip(*rows, strict=True) if (known := [x for x in row if x is not None])
        ]
        found |= {"tau_human": _mean(nearest), "differs": _mean(tau < 1 for tau in nearest)}
    return found


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return float(np.mean(values)) if values else float("nan")


def agreement(one: TargetGroups | None, other: TargetGroups | None) -> float | None:
    """Return Kendall's tau over the pairs of tokens that both orders link and neither ties; None: no pair."""
    if one is None or other is None:
        return None
    ranks = np.array([pair for pair in zip(one, other, strict=True) if UNALIGNED not in pair]).reshape(-1, 2)
    first, second = (np.sign(column[:, None] - column[None, :]) for column in ranks.T)
    products = np.triu(first * second, 1)
    pairs = np.abs(products).sum()
    return float(products.sum() / pairs) if pairs else None


def order_table(found: Mapping[str, Mapping[str, float]]) -> Table:
    """Return the table of what :func:`diagnose_orders` found."""
    tau = SCORE_FORMATS["tau"].format
    forms = {
        "linked": ("words linked", "{:.0%}".format),
        "tau": ("tau with the source's order", tau),
        "in_order": ("sentences in its order", "{:.1%}".format),
        "tau_human": ("tau with the reference's order", tau),
        "differs": ("sentences that differ from it", "{:.1%}".format),
    }
    shown = {key: form for key, form in forms.items() if any(key in one for one in found.values())}
    rows = tuple(
        (name, *(form(one[key]) if key in one else "" for key, (_, form) in shown.items()))
        for name, one in found.items()
    )
    columns = ("translation", *(head for head, _ in shown.values()))
    return Table("Order of the source's words, by links", columns, rows, BLIND_SPOTS)


def order_verdict(name: str, found: Mapping[str, Mapping[str, float]]) -> str:
    """Return in a sentence how a system's order differs from people's, or from the source's."""
    one = found[name]
    if "differs" not in one:
        return f"{name} keeps the source's order in {one['in_order']:.0%} of the sentences."
    return (
        f"{name} orders {one['differs']:.0%} of the sentences otherwise than the reference, "
        f"which itself departs from the source's order in {1 - found[REFERENCE]['in_order']:.0%}."
    )
