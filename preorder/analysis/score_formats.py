"""Titles, units and digits of scores, as people read them; nothing else defines these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ScoreFormat:
    """How a score is shown: its name, its unit or range, and how many digits follow the decimal point."""

    title: str
    unit: str
    digits: int
    higher_is_better: bool = True

    @property
    def label(self) -> str:
        """The title with the unit, for an axis."""
        return f"{self.title} ({self.unit})"

    def format_difference(self, difference: float) -> str:
        """Return a difference of scores as text, always with its sign."""
        return f"{difference:+.{self.digits}f}"

    def format(self, score: float) -> str:
        """Return a score as text; a minus is an ASCII hyphen, so that programs can read it."""
        return f"{score:.{self.digits}f}"


BREAKDOWN_TITLES = {
    "precision": "n-gram precision (%)",
    "generation": "edits per sentence; deletions are under-generation, insertions over-generation",
}
"""Titles of the kinds of breakdowns."""

SCORE_FORMATS: dict[str, ScoreFormat] = {
    "bleu": ScoreFormat("BLEU", "0 to 100", 2),
    "chrf": ScoreFormat("chrF", "0 to 100", 2),
    "ter": ScoreFormat("TER", "edits per 100 reference tokens", 2, higher_is_better=False),
    "ribes": ScoreFormat("RIBES", "0 to 1", 4),
    "tau": ScoreFormat("Kendall's tau", "−1 to 1", 3),
    "tau_nakagawa": ScoreFormat("tau of Nakagawa", "0 to 1", 3),
    "frs": ScoreFormat("fuzzy reordering score", "0 to 1", 3),
    "complete_match": ScoreFormat("complete match", "0 to 1", 3),
    **{
        f"ter_{kind}": ScoreFormat(kind, "per sentence", 2, higher_is_better=False)
        for kind in ("deletions", "insertions", "substitutions", "shifts")
    },
    **{f"precision_{n}": ScoreFormat(f"{n}-gram precision", "%", 1) for n in range(1, 5)},
}
