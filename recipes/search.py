"""How test sets are translated: what ``onmt_translate`` is told of its search, the same for all systems."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from onmt_preorder.papers.npmt.options import DECODER as SWAN
from preorder.command_line.options import add_number, beam, ratio, word_reward

DEFAULT_BEAM = 5


@dataclass(frozen=True)
class Search:
    """A beam search.

    Attributes:
        beam: its width.
        ratio: it goes on until no translation of so many words a source word can score higher. 0: until the
            best one is finished, which favours short translations. SWAN has a search of its own without it.
        word_reward: what SWAN's search adds to a translation's score for each of its words.
    """

    beam: int = DEFAULT_BEAM
    ratio: float = 0.0
    word_reward: float = 0.0

    def options(self, seed: int, device: str, decoder: str | None = None) -> tuple[str, ...]:
        """Return the options for ``onmt_translate``, for models with a ``decoder_type``."""
        name, value = ("-swan_word_reward", self.word_reward) if decoder == SWAN else ("-ratio", self.ratio)
        longer = (name, str(value)) if value else ()
        gpu = ("-gpu", "0") if device == "gpu" else ()
        return ("-beam_size", str(self.beam), *longer, "-batch_size", "64", "-seed", str(seed), *gpu)


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add the options of a :class:`Search`."""
    add_number(parser, "--beam", beam, DEFAULT_BEAM, "beam of the translation")
    what = "search on while a translation of N words for each source word may score higher; 0: until the best"
    add_number(parser, "--ratio", ratio, 0.0, f"{what} is finished, which favours short ones; not for SWAN")
    add_number(parser, "--word-reward", word_reward, 0.0, "what SWAN's search adds to a score for each word")


def search_of(arguments: argparse.Namespace) -> Search:
    """Return what the options say."""
    return Search(arguments.beam, arguments.ratio, arguments.word_reward)
