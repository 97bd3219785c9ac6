"""What the study of KFTT compares: links, treatments of links and words, amounts of text, methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from preorder.methods.train import DEFAULT_LIMIT

DIRECTIONS = ("en-ja", "ja-en")
LAYERS = ("pos", "constituency", "dependency")
"""Annotations of the English source by Stanza: tags alone, or trees, too."""

LINES = 40_000
"""Training lines of most experiments."""

ALL_LINES = 369_368
CHUNKS = (10_100, 20_200)
"""Lines that are aligned at once: a fourth and a half of :data:`LINES`, with the sentences to measure on."""

FEW_LINES = 10_000
"""Training lines of what is slow: trees, and the neural model."""

ORACLE = "oracle"
"""Stands for the best order that the trees of the hand-aligned sentences allow; nothing is trained."""

LINES_A_COPY = 2_000
"""So often 400 hand-aligned sentences are added to a text: a sixth of the lines are theirs then."""

HAND = "hand"
"""Stands for the hand-made links alone, and begins the names of links that they have taught."""

_HAND_FILES = {"src": "en", "tgt": "ja", "align": "align"}
_HAND_OPTIONS = tuple(
    text
    for option, suffix in _HAND_FILES.items()
    for text in (f"--hand-{option}", f"data/hand-train.{suffix}")
)

SYMMETRIZED = ("intersect", "grow-diag", "grow-diag-final", "grow-diag-final-and", "union")
MODELS = (1, 2, 3)


@dataclass(frozen=True)
class Links:
    """How the training text is aligned: options of ``preorder align``.

    Attributes:
        joins: the two ways whose links are joined, where nothing is aligned anew.
        filters: the links that are filtered by options of ``preorder map``, likewise.
    """

    options: tuple[str, ...]
    joins: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()

    @property
    def made_of(self) -> tuple[str, ...]:
        """The links that these are made of."""
        return self.joins or self.filters


def _directions(model: int) -> dict[str, Links]:
    return {
        f"ibm{model}-{way}": Links(("--eflomal-model", str(model), "--symmetrize", way))
        for way in ("forward", "reverse")
    }


def _joined(model: int) -> dict[str, Links]:
    ways = (f"ibm{model}-forward", f"ibm{model}-reverse")
    return {f"ibm{model}-{how}": Links(("--symmetrize", how), ways) for how in SYMMETRIZED}


LINKS: dict[str, Links] = {
    **{name: links for model in MODELS for name, links in (_directions(model) | _joined(model)).items()},
    **{f"ibm3-intersect-by-{n}": Links(("--chunk", str(n))) for n in CHUNKS},
    **{f"samplers-{n}": Links(("--samplers", str(n))) for n in (2, 4, 8)},
    "hand-0.1": Links((*_HAND_OPTIONS, "--min-confidence", "0.1")),
    **{f"hand-{p}": Links(("--min-confidence", p), filters=("hand-0.1",)) for p in ("0.3", "0.5")},
}
"""Name → how it is aligned. ``hand``: rescored by what hand-aligned sentences teach."""

BASELINE = "ibm3-intersect"
BEST = "hand-0.3"


@dataclass(frozen=True)
class Experiment:
    """A preorderer that is trained on the text and measured on the hand alignments.

    Attributes:
        table: which table it belongs to; ``name``: its row there.
        links: one of :data:`LINKS`, or :data:`HAND`: the hand-aligned sentences alone.
        lines: of training text.
        options: of ``preorder train``.
        copies: so many copies of the hand-aligned sentences are added to the text.
        init: the experiment (table, name) whose model it begins from.
        layer: what the source is annotated with: one of :data:`LAYERS`, or nothing.
        directions: of :data:`DIRECTIONS`.
    """

    table: str
    name: str
    links: str = BASELINE
    lines: int = LINES
    options: tuple[str, ...] = ()
    method: str = "btg"
    copies: int = 0
    init: tuple[str, str] | None = None
    layer: str | None = None
    directions: tuple[str, ...] = DIRECTIONS

    def model(self, direction: str) -> str:
        """Return the folder of its model, in the folder of the run."""
        return f"{direction}/models/{self._file_name}"

    def orders(self, direction: str) -> str:
        """Return the file of the positions that its model gives the sentences of hand-test."""
        return f"{direction}/orders/{self._file_name}.positions"

    @property
    def _file_name(self) -> str:
        """What is trained, so that experiments of two tables that are the same are done once."""
        parts = (self.method, self.links, self.layer or "", str(self.lines), *self.options)
        parts += (f"and-{self.copies}-hand",) if self.copies else ()
        begun = f"after.{BY_KEY[self.init]._file_name}" if self.init else ""
        return ".".join(filter(None, (*(part.removeprefix("--") for part in parts), begun)))


def _trust() -> list[Experiment]:
    """Links of unequal trust, and hand-made ones: alone, after automatic ones, beside them."""
    return [
        Experiment("trust", "hand alone", **_hand()),
        *(
            Experiment("trust", f"{links} and hand", links, copies=_copies(LINES))
            for links in (BASELINE, BEST)
        ),
        *(
            Experiment("trust", f"{links}{name}", **({"links": links} | options))
            for links in (BASELINE, BEST, "hand-0.1")
            for name, options in (("", {}), (", then hand", _hand("links", links)))
        ),
    ]


def _hand(*begun: str, **options: Any) -> dict[str, Any]:
    """Return how an experiment learns from hand-made links, after another one (its table and name)."""
    learning = {"links": HAND, "options": ("--held-out", "0", "--iterations", "10")}
    return learning | {"init": begun or None} | options


def _copies(lines: int) -> int:
    return lines // LINES_A_COPY


def _limit(lines: int) -> tuple[str, ...]:
    """Return the options that let ``preorder train`` learn from so many lines."""
    return ("--limit", str(lines)) if lines > DEFAULT_LIMIT else ()


def _lines() -> Iterator[Experiment]:
    """More text, alone and before the hand-made links."""
    for lines in (FEW_LINES, LINES, 120_000, ALL_LINES):
        for links in (BASELINE, BEST):
            yield Experiment("lines", f"{links}, {lines}", links, lines, _limit(lines))
        begun = f"{BASELINE}, {lines}"
        yield Experiment("lines", f"{begun}, then hand", **_hand("lines", begun))


def _syntax() -> Iterator[Experiment]:
    """Tags and trees of English, and the best order that each kind of tree allows."""
    english = {"directions": ("en-ja",)}
    tagged = english | {"layer": "pos"}
    yield Experiment("syntax", f"btg, {BEST}, {FEW_LINES}", BEST, FEW_LINES, **english)
    for links, lines in ((BASELINE, LINES), (BEST, FEW_LINES), (BEST, LINES)):
        yield Experiment("syntax", f"btg, tags, {links}, {lines}", links, lines, **tagged)
    for links in (BASELINE, BEST):
        begun = f"btg, tags, {links}, {LINES}"
        yield Experiment("syntax", f"{begun}, then hand", **_hand("syntax", begun, **tagged))
    for trees in ("constituency", "dependency"):
        for method in ("swap-lstm", "rvnn", ORACLE):
            yield _treelike(method, trees)
    for method in ("swap-lstm", "rvnn"):
        yield _treelike(method, "constituency", _copies(FEW_LINES))


def _treelike(method: str, trees: str, copies: int = 0) -> Experiment:
    """Return an experiment of a method that labels the nodes of trees."""
    name = f"{method}, {trees}, {BEST}{' and hand' if copies else ''}, {FEW_LINES}"
    options = {"layer": trees, "copies": copies, "directions": ("en-ja",)}
    return Experiment("syntax", name, BEST, FEW_LINES, ("--classes", "0"), method, **options)


_ORDERING = (
    *(f"ibm3-{how}" for how in (*SYMMETRIZED, "forward", "reverse")),
    "samplers-4",
    "hand-0.5",
    BEST,
    "hand-0.1",
)

EXPERIMENTS: tuple[Experiment, ...] = (
    *(Experiment("links", links, links) for links in _ORDERING),
    *_trust(),
    *_lines(),
    *_syntax(),
    *(
        Experiment("methods", f"{method}, {links}, {lines}", links, lines, method=method)
        for lines in (FEW_LINES, LINES)
        for links in (BASELINE, BEST)
        for method in ("btg", "neural-btg")
    ),
)

BY_KEY = {(experiment.table, experiment.name): experiment for experiment in EXPERIMENTS}
