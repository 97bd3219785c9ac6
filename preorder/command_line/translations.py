"""Translations and references, which score, analyse and diagnose read."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from preorder.command_line import options
from preorder.command_line.paths import runs_by_name
from preorder.data.texts import subword_mark
from preorder.metrics import DEFAULTS, METRICS, TOKENIZERS, MetricOptions
from preorder.progress import LOGGER

if TYPE_CHECKING:
    from preorder.analysis.analyses import EvaluationData

TOKENIZED_BY = {"bleu": "tokenize", "ter": "words", "ribes": "words"}  # metric → option
SPLIT_AT_SPACES = ("13a", "none", "intl")  # tokenizers that split at spaces and punctuation marks


def add_options(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add ``--ref`` and ``--hyp``."""
    text = "reference; repeat it for several"
    parser.add_argument("--ref", metavar="F", action="append", required=required, help=text)
    text = "translations of a system; without NAME it is called like the file (with = in it: ./F)"
    how = {"metavar": "[NAME=]F", "nargs": "+", "action": "extend"}
    parser.add_argument("--hyp", **how, required=required, help=text)


def add_metrics(parser: argparse.ArgumentParser, default: tuple[str, ...]) -> None:
    """Add ``--metrics``."""
    text = f"metrics, of {', '.join(METRICS)} (default: {','.join(default)})"
    parser.add_argument("--metrics", metavar="M,…", type=_metrics, default=default, help=text)


def _metrics(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in METRICS:
            raise argparse.ArgumentTypeError(f"no metric {name!r}, only {', '.join(METRICS)}")
    return names


def add_metric_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--tokenize``, ``--words`` and ``--case-sensitive``."""
    options.add_choice(parser, "--tokenize", TOKENIZERS, DEFAULTS.tokenize, "tokenizer of BLEU")
    text = "tokenizer of TER and RIBES, with the same choices (default: %(default)s)"
    parser.add_argument("--words", metavar="TOKENIZER", choices=TOKENIZERS, default=DEFAULTS.words, help=text)
    options.add_flags(parser, case_sensitive="TER and RIBES distinguish upper and lower case")


@dataclass(frozen=True)
class Translations:
    """References and translations on the command line, and how they are measured."""

    ref: list[str]
    hyp: list[str]
    metrics: tuple[str, ...] = ("bleu",)
    tokenize: str = DEFAULTS.tokenize
    case_sensitive: bool = False
    words: str = DEFAULTS.words
    seed: int = options.DEFAULT_SEED
    split: Callable[[str], list[str]] | None = None  # a tokenizer of plain text

    def read(self, **paths: Any) -> EvaluationData:
        """Read references and systems, and other files by their names in ``EvaluationFiles``."""
        from preorder.analysis.analyses import EvaluationFiles, read_evaluation_data

        named = EvaluationFiles(self.ref, **({"systems": runs_by_name(self.hyp)} | paths))
        how = MetricOptions(self.tokenize, self.case_sensitive, self.words)
        data = read_evaluation_data(named, how, self.seed)
        if (split := self.split) is not None:
            data = data.mapped(lambda line: " ".join(split(line)))
        lines = data.references[0]
        tokenised = sum(line.endswith((" .", " 。")) for line in lines)
        if "bleu" in self.metrics and how.tokenize != "none" and 2 * tokenised > len(lines):
            LOGGER.warning("the reference looks tokenised: --tokenize none scores it as it is")
        texts = {name: runs[0] for name, runs in data.systems.items()}
        for name, text in (("the reference", lines), *texts.items()):
            if mark := subword_mark(text):
                LOGGER.warning(f"{name} has subwords, as {mark} says: join them before they are scored")
        has_no_spaces = 2 * sum(bool(line) and " " not in line for line in lines) > len(lines)
        used = {TOKENIZED_BY[name] for name in self.metrics if has_no_spaces and name in TOKENIZED_BY}
        for option in sorted(name for name in used if getattr(how, name) in SPLIT_AT_SPACES):
            remedy = f"--{option} ja-mecab, ko-mecab, zh or char splits it"
            LOGGER.warning(f"the reference has no spaces: {remedy}")
        return data
