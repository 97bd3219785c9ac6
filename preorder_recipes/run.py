"""The main job on a data folder: align, preorder, train, translate, score.

The folder holds {train,dev,test}.SRC and .TGT, one tokenised sentence a line, and may hold
POS tags of the source, .SRC.pos, its trees as bracketings, .SRC.trees, word alignments, .align,
and some hundred hand-aligned sentences, hand.{SRC,TGT,align}.
"""

from __future__ import annotations

import argparse
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from preorder.command_line.options import add_number, at_least_two, confidence, positive, taken
from preorder.errors import UsageError, require
from preorder.methods.shipped import located
from preorder_recipes.commands import add_folder, execute, make_parser
from preorder_recipes.configuration import (
    DEFAULT_HOST,
    DEFAULT_SIZE,
    HOSTS,
    SIZES,
    read_system,
    systems_in,
)
from preorder_recipes.pipeline import checks, subwords
from preorder_recipes.pipeline.data import LONGEST, MAX_LENGTH, check_apart, copy_data
from preorder_recipes.pipeline.job import DATA, Job, Search, add_search, host_of
from preorder_recipes.pipeline.prepare import hand_options, needs_links, prepare
from preorder_recipes.pipeline.runner import StepRunner
from preorder_recipes.pipeline.score import LAST_STEPS, REPORT, score, with_earlier
from preorder_recipes.pipeline.steps import Phase
from preorder_recipes.pipeline.train import config_of, train

STAGES = ("prepare", "train", "score")
SYSTEMS = "baseline_absolute_relative,preorder_gold_trained"
SYSTEMS_WITHOUT_LINKS = "baseline_absolute_relative,preorder_relative"
EXAMPLES = """\
examples:
  python -m preorder_recipes.{command} --run runs/mine
  python -m preorder_recipes.{command} --run runs/given --preorderer {model}
  python -m preorder_recipes.{command} --run runs/adapted --preorderer {model} --adapt

The second makes no word alignment: its systems read the order of a preorderer that is there.
"""
ALL = "all"
PATHS = ("--init", "--classes", "--stanza-dir")  # options of preorder train


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    return execute(build_parser(), argv)


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    what = "What is done already is not done again. Every command is shown, and kept in commands.sh."
    examples = EXAMPLES.format(command="run --data DIR --src en --tgt tr", model="en-verb-final")
    parser = make_parser(run, epilog=f"{what}\n\n{examples}")
    add = parser.add_argument
    add("--data", metavar="DIR", type=Path, help="data folder; only the stage prepare reads it")
    language: dict[str, Any] = {"metavar": "xx", "type": checks.language, "required": True}
    add("--src", dest="source", help="source language, as the files' names end", **language)
    add("--tgt", dest="target", help="target language", **language)
    add_options(parser)
    links = parser.add_mutually_exclusive_group()
    what = "use the data's .align files in place of eflomal"
    links.add_argument("--given-alignment", action="store_true", help=what)
    what = "let the data's hand-aligned sentences teach the aligner; keep links of confidence P or more"
    links.add_argument("--hand-alignment", metavar="P", type=confidence, help=what)
    return parser


def add_options(parser: argparse.ArgumentParser, default_size: str = DEFAULT_SIZE) -> None:
    """Add all options but those of the data."""
    add = parser.add_argument
    add_folder(parser)
    add("--size", choices=SIZES, default=default_size, help="of the models (default: %(default)s)")
    what = f"files of config/system, without .yaml, or your own; {ALL}: all that have the size"
    what += f" (default: {SYSTEMS}; with --preorderer alone {SYSTEMS_WITHOUT_LINKS}, which need no links)"
    add("--systems", metavar="S,…", help=what)
    add("--seeds", metavar="N,…", type=_seeds, default="1", help="a training for each (default: %(default)s)")
    what = "only this one; repeat it for several (default: all)"
    add("--stage", choices=STAGES, action="append", help=what)
    add("--subwords", choices=subwords.KINDS, help="split words, preordered as a whole, by SentencePiece")
    pieces = subwords.DEFAULT_SIZE if default_size == DEFAULT_SIZE else default_size
    add_number(parser, "--subword-size", positive, None, f"{subwords.PIECES} (default: {pieces})")
    what = "what trains and translates (default: %(default)s)"
    add("--host", choices=HOSTS, default=DEFAULT_HOST, help=what)
    what = "where to train and translate (default: %(default)s)"
    add("--device", choices=("cpu", "gpu"), default="cpu", help=what)
    add_number(parser, "--jobs", positive, 1, "steps at a time")
    what = "training steps, in place of the configuration's; decays of the learning rate keep their shares"
    add("--steps", metavar="N", type=positive, help=what)
    add("--set", metavar="KEY=VALUE", action="append", default=[], help="any other option of onmt_train")
    what = "average the weights of the N best checkpoints, by dev perplexity, or by dev BLEU with "
    what += "--set valid_metrics=[BLEU]"
    add_number(parser, "--average", positive, 1, what)
    add_search(parser)
    add_number(parser, "--max-length", positive, MAX_LENGTH, LONGEST)
    what = (
        "where a system learns with the predicted order, order each K-th of the training text with a model "
        "trained on the rest; 0 uses one model for all: faster, but overconfident (default: %(default)s)"
    )
    add("--cross-fit", metavar="K", type=_folds, default=5, help=what)
    what = (
        "order all text with this model, a folder of preorder train or a name of preorder models, instead of "
        "training one. It has not seen the text, so it needs no --cross-fit. Links are made only if a system "
        "reads them (gold orders, lambda_align); without links no order is evaluated"
    )
    add("--preorderer", metavar="MODEL", help=what)
    what = "train the model of --preorderer further on the links of the data, and cross-fit"
    add("--adapt", action="store_true", help=what)
    add("--open", action="store_true", help="open the report in a browser")
    what = "all that follows: further options of preorder train, as --method neural-btg (default: btg)"
    add("--preorder", metavar="OPTION", nargs=argparse.REMAINDER, default=[], help=what)


def _seeds(text: str) -> tuple[int, ...]:
    return tuple(map(positive, text.split(",")))  # by 0 OpenNMT-py draws without a seed


def _folds(text: str) -> int:
    return 0 if text == "0" else at_least_two(text)


def _separated(options: Sequence[str]) -> list[str]:
    """Split ``--x=y`` in two words, and make paths absolute, as ``preorder train`` runs in another folder."""
    words: list[str] = []
    for option in options:
        words += option.split("=", 1) if option.startswith("--") else [option]
    return [_absolute(before, word) for before, word in pairwise(["", *words])]


def _absolute(option: str, word: str) -> str:
    path = Path(located(word) if option == "--init" else word)
    names_path = option in PATHS and path.exists() and not word.isdecimal()
    return str(path.resolve()) if names_path else word


def run(arguments: argparse.Namespace) -> None:
    """Run the stages asked for."""
    arguments.preorder = _separated(arguments.preorder)
    job, stages = job_of(arguments), arguments.stage or STAGES
    _check(job, stages, arguments)
    runner = StepRunner(job.folder, arguments.jobs)
    with runner.alone():
        phases = _prepare(job, runner, arguments) if "prepare" in stages else []
        phases += train(job) if "train" in stages else []
        runner.run_all(phases, LAST_STEPS if "score" in stages else ())
        if "score" in stages:
            score(job, runner)
            runner.say(f"results are in {job.folder}/results.json and results.md")
            runner.say(f"to read: {job.folder / REPORT}")
            if arguments.open:
                webbrowser.open((job.folder / REPORT).resolve().as_uri())


def _check(job: Job, stages: Sequence[str], arguments: argparse.Namespace) -> None:
    """Find mistakes before any work."""
    host_of(job).check(job)
    if arguments.adapt and arguments.preorderer is None:
        raise UsageError("--adapt needs --preorderer")
    if arguments.subword_size is not None and job.subwords is None:
        raise UsageError("--subword-size needs --subwords")
    if arguments.preorder and not job.trains_preorderer:
        raise UsageError("--preorder: the model of --preorderer is not trained without --adapt")
    if "prepare" in stages:
        if arguments.data is None:
            raise UsageError("the stage prepare needs --data")
        check_apart(arguments.data, job.folder / DATA)
        all_systems, options = with_earlier(job), arguments.preorder
        if job.preorderer is not None:
            checks.check_preorderer(all_systems, arguments.data, options)
        if job.trains_preorderer:
            checks.check_preorder_options(all_systems, arguments.data, arguments.cross_fit, options)
    if "score" in stages:
        require("matplotlib", "plots")
    if "train" in stages:
        checks.check_device(job.device)
        if any((one.options | job.changes).get("save_format") == "safetensors" for one in job.systems):
            raise UsageError("save_format: preorder_recipes.run needs checkpoints that hold their weights")
    if arguments.set or ".yaml" in (arguments.systems or ""):
        host_of(job).check_options(job, lambda system: config_of(job, system, job.seeds[0]))


def _prepare(job: Job, runner: StepRunner, arguments: argparse.Namespace) -> list[Phase]:
    given, hand = arguments.given_alignment, arguments.hand_alignment
    sides, most = (job.source, job.target), arguments.max_length
    message = copy_data(arguments.data, job.folder / DATA, sides, given, most, hand is not None)
    data, folder = arguments.data.resolve(), job.folder.resolve()
    data = data.relative_to(folder) if data.is_relative_to(folder) else data
    links = ("--given-alignment",) if given else ("--hand-aligned",) if hand else ()
    copied = ("--data", str(data), "--src", job.source, "--tgt", job.target, *links)
    copied += ("--max-length", str(most), "--out", DATA)
    runner.note("data", "python", "-m", "preorder_recipes.pipeline.data", *copied)
    runner.say(message)
    if not job.has_links:
        runner.say("no system reads links: nothing is aligned, and no order is evaluated")
    aligner = None if given or not job.has_links else hand_options(job, hand) if hand else ()
    return prepare(with_earlier(job), aligner, arguments.cross_fit, tuple(arguments.preorder))


def job_of(arguments: argparse.Namespace) -> Job:
    """Return the run that a command line asks for."""
    size = arguments.size
    default = SYSTEMS if arguments.preorderer is None or arguments.adapt else SYSTEMS_WITHOUT_LINKS
    names = systems_in(size) if arguments.systems == ALL else (arguments.systems or default).split(",")
    checks.check_different("--seeds", arguments.seeds)
    checks.check_different("--systems", [Path(name).stem for name in names])
    if any("=" in Path(name).stem for name in names):
        raise UsageError("--systems: a name with =, which preorder score takes for the end of the name")
    checks.check_different("--src and --tgt", (arguments.source, arguments.target))
    systems = tuple(read_system(name, size, arguments.subwords) for name in names)
    changes = checks.parse_changes(arguments.set, arguments.steps)
    given = arguments.preorderer and str(Path(located(arguments.preorderer)).resolve())
    others = {"preorderer": given, "search": taken(Search, arguments), "changes": changes}
    others["subword_size"] = arguments.subword_size or subwords.DEFAULT_SIZE
    job = taken(Job, arguments, systems=systems, has_links=True, **others)
    is_asked = arguments.given_alignment or arguments.hand_alignment is not None
    return replace(job, has_links=is_asked or needs_links(with_earlier(job)))


if __name__ == "__main__":
    sys.exit(main())
