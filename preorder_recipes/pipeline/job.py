"""What a run has to do, and where the files in its folder are."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from preorder.command_line.options import add_number, beam, natural, ratio, word_reward
from preorder.errors import UsageError
from preorder_recipes.configuration import DEFAULT_HOST, FEATURES, System, read_system
from preorder_recipes.pipeline.subwords import DEFAULT_SIZE

PARTS = ("train", "dev", "test")
HAND = "hand"  # begins the names of the files of hand-aligned sentences
LAYERS = ("pos", "trees")  # of the source, as bracketings; their names end those of files
DATA = "data"  # the folder of all texts of a run
DEFAULT_BEAM = 5


@dataclass(frozen=True)
class Search:
    """A beam search, the same for all systems.

    Attributes:
        ratio: keep searching up to this times the source length. 0 stops when the best hypothesis is
            finished, which favours short output. SWAN has a search of its own without it.
        word_reward: what SWAN's search adds to a hypothesis's score for each of its words.
        block_ngram_repeat: never translate N words twice in this order; 0 allows it. Not for SWAN.
    """

    beam: int = DEFAULT_BEAM
    ratio: float = 0.0
    word_reward: float = 0.0
    block_ngram_repeat: int = 0


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add the options of a :class:`Search`."""
    add_number(parser, "--beam", beam, DEFAULT_BEAM, "beam of the translation")
    what = "keep searching up to N × source length; 0 stops when the best hypothesis is finished"
    add_number(parser, "--ratio", ratio, 0.0, f"{what}, which favours short output; not for SWAN")
    add_number(parser, "--word-reward", word_reward, 0.0, "what SWAN's search adds to a score for each word")
    what = "never translate N words twice in the same order; 0 allows it; not for SWAN"
    add_number(parser, "--block-ngram-repeat", natural, 0, what)


@dataclass(frozen=True)
class Job:
    """A run: every system is trained once with each seed.

    Paths that methods return are relative to ``folder``, in which every command is run. So the folder can
    be carried to another machine between two stages.

    Attributes:
        source, target: languages, the ends of file names.
        changes: options in place of those of the systems.
        subwords: ``bpe``, ``unigram``, or None for whole words.
        average: the model is the mean of this many checkpoints, the best by dev perplexity or BLEU.
        preorderer: the model directory of a given preorderer, an absolute path; None: the run trains one.
        adapt: the given preorderer is trained further on the run's links.
        host: what trains and translates, a name of :data:`.configuration.HOSTS`.
        has_links: whether the texts are word-aligned. If not, no order is evaluated.
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
    subword_size: int = DEFAULT_SIZE
    average: int = 1
    preorderer: str | None = None
    adapt: bool = False
    has_links: bool = True
    host: str = DEFAULT_HOST

    @property
    def pairs(self) -> int:
        """Number of training pairs; 0 before they are prepared."""
        path = self.folder / self.text("train", self.target)
        return path.read_bytes().count(b"\n") if path.exists() else 0

    @property
    def trains_preorderer(self) -> bool:
        """Whether predicted orders come from a preorderer that learns from the run's links."""
        return self.preorderer is None or self.adapt

    def text(self, part: str, side: str) -> str:
        """Return the file of one side of a part, or of ``all`` parts, one after another."""
        return f"{DATA}/{part}.{side}"

    def alignment(self, part: str) -> str:
        """Return a part's word alignment."""
        return f"{DATA}/{part}.align"

    def source_links(self, part: str) -> str:
        """Return the word alignment in the direction that links every source word."""
        return f"{DATA}/{part}.{self.source}.align"

    def layer(self, name: str, part: str) -> tuple[str, ...]:
        """Return the option of a part's layer, of :data:`LAYERS`, or nothing where the data have none."""
        paths = {one: f"{DATA}/{one}.{self.source}.{name}" for one in PARTS}
        has_layer = all((self.folder / path).exists() for path in paths.values())
        return (f"--{name}", paths[part]) if has_layer else ()

    def reordered(self, part: str, order: str, form: str) -> str:
        """Return a part's source in an order, in a format of ``preorder apply``."""
        return f"{DATA}/{part}.{self.source}.{order}.{form}"

    def chain(self, system: System) -> list[System]:
        """Return the systems of which each needs the model of the one before, a system itself last."""
        chain = [system]
        while needed := chain[0].needs:
            before = read_system(needed, self.size, self.subwords)
            if before in chain:
                raise UsageError(f"{needed}: needs a model of its own before it is trained")
            chain.insert(0, before)
        return chain

    def trained(self, system: System) -> System:
        """Return the system whose trained model a system has: mostly itself."""
        return self.trained(self.chain(system)[-2]) if system.trained_as else system

    def source_of(self, system: System, part: str) -> str:
        """Return what a system reads as source: plain text, reordered text or ``token￨position``."""
        if system.supervision and part != "test":
            return self.reordered(part, system.supervision, FEATURES)
        if system.order is None:
            return self.text(part, self.source)
        return self.reordered(part, system.order, system.form)

    def system_folder(self, system: str, seed: int) -> str:
        """Return the folder of a training, given the system's name."""
        return f"systems/{system}/seed{seed}"

    def config(self, system: System, seed: int) -> str:
        """Return the configuration that a training reads."""
        return f"{self.system_folder(system.name, seed)}/config.yaml"

    def translation(self, system: System, seed: int) -> str:
        """Return the translation of the test set."""
        return f"{self.system_folder(system.name, seed)}/test.{self.target}"

    def evaluation(self, order: str) -> str:
        """Return how well an order fits the test set's alignment, as JSON."""
        return f"scores/{order}.json"


def host_of(job: Job) -> Any:
    """Import and return the module that trains and translates in a run: all have the same functions."""
    return import_module(f"{__package__}.{job.host}")
