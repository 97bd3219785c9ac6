"""How measures are called before people: the only home of their titles, units and digits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """A measure's title, its unit or range, how many digits it is shown with, and which way is better."""

    title: str
    unit: str
    digits: int
    higher_is_better: bool = True

    @property
    def label(self) -> str:
        """The title with the unit, for an axis."""
        return f"{self.title} ({self.unit})"

    def format(self, score: float) -> str:
        """Return a score as text; the minus is the hyphen that programs read."""
        return f"{score:.{self.digits}f}"


KINDS = {
    "precision": "n-gram precision (%)",
    "generation": "edits per sentence; deletions are under-generation, insertions over-generation",
}
"""What tables of figures are of."""

MEASURES: dict[str, Measure] = {
    "bleu": Measure("BLEU", "0 to 100", 2),
    "chrf": Measure("chrF", "0 to 100", 2),
    "ter": Measure("TER", "edits per 100 reference tokens", 2, higher_is_better=False),
    "ribes": Measure("RIBES", "0 to 1", 4),
    "tau": Measure("Kendall's tau", "−1 to 1", 3),
    "tau_nakagawa": Measure("tau of Nakagawa", "0 to 1", 3),
    "frs": Measure("fuzzy reordering score", "0 to 1", 3),
    "complete_match": Measure("complete match", "0 to 1", 3),
    **{
        f"ter_{kind}": Measure(kind, "per sentence", 2, higher_is_better=False)
        for kind in ("deletions", "insertions", "substitutions", "shifts")
    },
    **{f"precision_{n}": Measure(f"{n}-gram precision", "%", 1) for n in range(1, 5)},
}
