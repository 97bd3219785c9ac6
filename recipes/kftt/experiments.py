"""What the study of KFTT compares: links, treatments of links and words, amounts of text, methods."""

from __future__ import annotations

from dataclasses import dataclass, field

LINES = 40_000
"""Training lines of most experiments."""

HAND = ("--hand-src", "data/hand-train.en", "--hand-tgt", "data/hand-train.ja", "--hand-align", "data/hand-train.align")

SYMMETRIZED = ("intersect", "grow-diag", "grow-diag-final", "grow-diag-final-and", "union")
MODELS = (1, 2, 3)


@dataclass(frozen=True)
class Links:
    """How the training text is aligned: options of ``preorder align``.

    Attributes:
        joins: the two ways whose links are joined, where nothing is aligned anew.
    """

    options: tuple[str, ...]
    joins: tuple[str, str] | None = None


def _directions(model: int) -> dict[str, Links]:
    return {
        f"ibm{model}-{way}": Links(("--eflomal-model", str(model), "--symmetrize", way)) for way in ("forward", "reverse")
    }


def _joined(model: int) -> dict[str, Links]:
    ways = (f"ibm{model}-forward", f"ibm{model}-reverse")
    return {f"ibm{model}-{how}": Links(("--symmetrize", how), ways) for how in SYMMETRIZED}


LINKS: dict[str, Links] = {
    **{name: links for model in MODELS for name, links in (_directions(model) | _joined(model)).items()},
    **{f"samplers-{n}": Links(("--samplers", str(n))) for n in (2, 4, 8)},
    "hand-0.5": Links((*HAND, "--min-confidence", "0.5")),
    "hand-0.3": Links((*HAND, "--min-confidence", "0.3")),
    "hand-0.1": Links((*HAND, "--min-confidence", "0.1")),
}
"""Name → how it is aligned. ``hand``: rescored by what hand-aligned sentences teach."""

BASELINE = "ibm3-intersect"
BEST = "hand-0.3"


@dataclass(frozen=True)
class Experiment:
    """A preorderer that is trained on the text and measured on the hand alignments.

    Attributes:
        table: which table it belongs to; ``name``: its row there.
        links: one of :data:`LINKS`, or ``hand``: the hand-aligned sentences alone.
        lines: of training text.
        options: of ``preorder train``.
        init: the experiment (table, name) whose model it begins from.
    """

    table: str
    name: str
    links: str = BASELINE
    lines: int = LINES
    options: tuple[str, ...] = ()
    method: str = "btg"
    init: tuple[str, str] | None = None

    @property
    def key(self) -> str:
        """The name of its files."""
        return f"{self.table}/{self.name}"


def _trust() -> list[Experiment]:
    """Links of unequal trust, and hand-made ones: alone, after automatic ones, beside them."""
    hand = {"links": "hand", "options": ("--held-out", "0", "--iterations", "10")}
    weighted = Experiment("trust", "weighted", "hand-0.1")
    rescored = Experiment("trust", "rescored", BEST)
    return [
        weighted,
        rescored,
        Experiment("trust", "hand alone", **hand),
        Experiment("trust", "intersect then hand", **hand, init=("links", BASELINE)),
        Experiment("trust", "rescored then hand", **hand, init=("trust", rescored.name)),
        Experiment("trust", "weighted then hand", **hand, init=("trust", weighted.name)),
    ]


_ORDERING = (*(f"ibm3-{how}" for how in (*SYMMETRIZED, "forward", "reverse")), "samplers-4", "hand-0.5", BEST)

EXPERIMENTS: tuple[Experiment, ...] = (
    *(Experiment("links", links, links) for links in _ORDERING),
    *_trust(),
    *(
        Experiment("unaligned", f"{links}, {name}", links, options=treatment)
        for links in (BASELINE, BEST)
        for name, treatment in (("free", ()), ("attach", ("--attach",)), ("gold", ("--unaligned", "gold")))
    ),
    *(
        Experiment("lines", f"{links}, {lines}", links, lines, ("--limit", str(lines)))
        for links in (BASELINE, BEST)
        for lines in (10_000, LINES, 120_000, 369_368)
    ),
    *(
        Experiment("methods", f"{method}, {links}", links, method=method)
        for links in (BASELINE, BEST)
        for method in ("btg", "neural-btg")
    ),
)
