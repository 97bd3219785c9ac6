"""What a run has to do, and where the files in its folder are."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recipes.search import Search
from recipes.systems import FEATURES, System

PARTS = ("train", "dev", "test")
HAND = "hand"
"""Begins the names of the files of hand-aligned sentences."""

DATA = "data"
"""The folder of all texts of a run, in the run's folder."""


@dataclass(frozen=True)
class Job:
    """A run of the main job.

    All file names that methods return are relative to ``folder``, in which every command
    is run, so that the folder can be carried to another machine between two stages.

    Attributes:
        source, target: the languages, as file names end.
        size, systems, seeds: of the models; every system is trained once with each seed.
        device: ``cpu`` or ``gpu``.
        changes: options in place of those of the systems.
        search: for translations.
        subwords: ``bpe``, ``sentencepiece``, or None for whole words.
    """

    folder: Path
    source: str
    target: str
    size: str
    systems: tuple[System, ...]
    seeds: tuple[int, ...]
    device: str
    search: Search = field(default_factory=Search)
    changes: dict[str, Any] = field(default_factory=dict)
    subwords: str | None = None

    def text(self, part: str, side: str) -> str:
        """Return the file of one side's sentences of a part, or of ``all`` parts, one after another."""
        return f"{DATA}/{part}.{side}"

    def alignment(self, part: str) -> str:
        """Return the word alignment of a part."""
        return f"{DATA}/{part}.align"

    def source_links(self, part: str) -> str:
        """Return a part's word alignment in the direction that gives every source word its link."""
        return f"{DATA}/{part}.{self.source}.align"

    def tags(self, part: str) -> str:
        """Return the POS tags of a part's source; the file exists where the data have them."""
        return f"{DATA}/{part}.{self.source}.pos"

    @property
    def has_tags(self) -> bool:
        """Whether the source has POS tags."""
        return all((self.folder / self.tags(part)).exists() for part in PARTS)

    def reordered(self, part: str, order: str, form: str) -> str:
        """Return a part's source in its ``predicted`` or ``gold`` order, in a format of ``apply``."""
        return f"{DATA}/{part}.{self.source}.{order}.{form}"

    def source_of(self, system: System, part: str) -> str:
        """Return what a system reads as source: plain text, reordered text or ``token￨position``."""
        if system.supervision and part != "test":
            return self.reordered(part, system.supervision, FEATURES)
        if system.order is None:
            return self.text(part, self.source)
        return self.reordered(part, system.order, system.form)

    def system_folder(self, system: str, seed: int) -> str:
        """Return the folder of a system's training with one seed, given its name."""
        return f"systems/{system}/seed{seed}"

    @property
    def vocabulary_folder(self) -> str:
        """The folder of the vocabularies, which all systems share."""
        return "vocabulary"

    def config(self, system: System, seed: int) -> str:
        """Return the configuration that a training reads."""
        return f"{self.system_folder(system.name, seed)}/config.yaml"

    def translation(self, system: System, seed: int) -> str:
        """Return the translation of the test set."""
        return f"{self.system_folder(system.name, seed)}/test.{self.target}"

    def evaluation(self, order: str) -> str:
        """Return how well an order fits the test set's alignment, as JSON."""
        return f"scores/{order}.json"
