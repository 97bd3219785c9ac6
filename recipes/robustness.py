"""Measure how translation models cope with swapped source words: swap, preorder, translate, score, draw.

Each trained model translates the test set with more and more of its words in wrong positions (Chen et al.
2019, section 6.5). Models that read an order, as token￨position or as reordered words, get the order that
the preorderer predicts for the swapped text.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from preorder.command_line import Parser, options
from preorder.command_line.paths import paths_by_name
from preorder.errors import UsageError
from preorder.io.storage import split_suffix
from recipes.checks import check_device, check_readable
from recipes.search import Search, add_search, search_of
from recipes.step_runner import Step, StepRunner, exit_status
from recipes.systems import FEATURES, TEXT

FORMS = {"plain": None, "preordered": FEATURES, "reordered": TEXT}
"""What a model reads → the format of ``preorder apply`` that gives it; None: the source as it is."""


@dataclass(frozen=True)
class Experiment:
    """Which models translate which texts.

    The paths that methods return are relative to the run's folder, the attributes' are absolute.

    Attributes:
        source, reference, tags: the test set, and the POS tags of its source if there are any.
        preorderer: model directory, or None where all models are plain.
        models: name → the model, and what it reads, of :data:`FORMS`.
        percentages: shares of the words that are swapped, by the seed.
        translate: name of a model → further options of ``onmt_translate``.
    """

    source: Path
    reference: Path
    tags: Path | None
    preorderer: Path | None
    models: dict[str, tuple[Path, str]]
    percentages: tuple[int, ...]
    seed: int
    translate: dict[str, tuple[str, ...]]

    def swapped(self, path: Path, percent: int) -> str:
        """Return where ``preorder swap`` puts the source, or its tags."""
        return f"swapped/{split_suffix(path.name)[0]}.{percent}"

    def text(self, kind: str, percent: int) -> str:
        """Return what a kind of model reads of a percentage."""
        form = FORMS[kind]
        return self.swapped(self.source, percent) + (f".{form}" if form else "")

    def translation(self, name: str, percent: int | str) -> str:
        """Return where a model's translation goes."""
        return f"translations/{name}.{percent}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    arguments = build_parser().parse_args(argv)
    return exit_status(lambda: run(_experiment(arguments), StepRunner(arguments.run, arguments.jobs)))


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    parser = Parser(
        prog="python -m recipes.robustness",
        description=__doc__,
        epilog="Writes RUN/robustness.json, .svg and .png. What is done already is not done again.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--src", metavar="F", type=Path, required=True, help="tokenised test set")
    add("--ref", metavar="F", type=Path, required=True, help="its reference, tokenised")
    add("--pos", metavar="F", type=Path, help="its POS tags, where the preorderer reads them")
    add("--preorderer", metavar="DIR", type=Path, help="model directory of preorder train")
    add("--plain", metavar="NAME=F", nargs="+", default=[], help="models that read words alone")
    add("--preordered", metavar="NAME=F", nargs="+", default=[], help="models that read token￨position")
    add("--reordered", metavar="NAME=F", nargs="+", default=[], help="models that read words put in order")
    add("--subword-model", metavar="F", type=Path, help="that of all models, where they split words")
    add("--run", metavar="DIR", type=Path, required=True, help="folder to work in")
    options.add_number(parser, "--jobs", options.positive, 1, "steps at a time")
    add("--device", choices=("cpu", "gpu"), default="cpu", help="where to translate (default: %(default)s)")
    add_search(parser)
    options.add_percentages(parser)
    options.add_seed(parser)
    return parser


def run(experiment: Experiment, runner: StepRunner) -> None:
    """Translate everything and analyse it.

    Raises:
        StepError: a command failed.
    """
    with runner.alone():
        runner.run([_swap(experiment)])
        runner.run(*(_chain(experiment, percent) for percent in experiment.percentages))
        runner.run([_analyse(experiment)])


def _experiment(arguments: argparse.Namespace) -> Experiment:
    """Return the experiment that the options describe."""
    models: dict[str, tuple[Path, str]] = {}
    for kind in FORMS:
        for name, path in paths_by_name(getattr(arguments, kind)).items():
            if name in models or set(name) & set("/{}"):
                raise UsageError(f"{name}: each model needs a name of its own that a file can have: NAME=F")
            models[name] = (Path(path).resolve(), kind)
    if not models:
        raise UsageError(f"no model to translate with: --{', --'.join(FORMS)}")
    if any(FORMS[kind] for _, kind in models.values()) and arguments.preorderer is None:
        raise UsageError("models that read an order need --preorderer, which predicts it")
    given = (arguments.src, arguments.ref, arguments.pos, arguments.preorderer, arguments.subword_model)
    check_readable([*filter(None, given), *(path for path, _ in models.values())])
    check_device(arguments.device)
    subwords: tuple[str, ...] = ()
    if arguments.subword_model is not None:  # models name it by a path from the folder of their training
        pieces = str(arguments.subword_model.resolve())
        subwords = ("-src_subword_model", pieces, "-tgt_subword_model", pieces)
    return Experiment(
        arguments.src.resolve(),
        arguments.ref.resolve(),
        arguments.pos and arguments.pos.resolve(),
        arguments.preorderer and arguments.preorderer.resolve(),
        models,
        arguments.percent,
        arguments.seed,
        {name: (*_search_options(arguments, path), *subwords) for name, (path, _) in models.items()},
    )


def _search_options(arguments: argparse.Namespace, model: Path) -> tuple[str, ...]:
    """Return how a model searches; the model is read only where its kind makes a difference."""
    search = search_of(arguments)
    if search == Search(search.beam):
        return search.options(arguments.seed, arguments.device)
    from onmt_preorder.opennmt.checkpoints import read_options

    return search.options(arguments.seed, arguments.device, read_options(str(model)).decoder_type)


def _swap(experiment: Experiment) -> Step:
    reads = [path for path in (experiment.source, experiment.tags) if path is not None]
    command = ["preorder", "swap", "--src", str(experiment.source), "--out-dir", "swapped"]
    command += ["--pos", str(experiment.tags)] if experiment.tags is not None else []
    command += ["--percent", _list(experiment), "--seed", str(experiment.seed)]
    makes = [experiment.swapped(path, percent) for path in reads for percent in experiment.percentages]
    return Step("swap", tuple(command), tuple(map(str, reads)), tuple(makes))


def _chain(experiment: Experiment, percent: int) -> list[Step]:
    """Preorder the text of one percentage for the models that read an order, and translate it."""
    kinds = dict.fromkeys(kind for _, kind in experiment.models.values() if FORMS[kind])
    steps = [_apply(experiment, kind, percent) for kind in kinds]
    for name, (model, kind) in experiment.models.items():
        text = experiment.text(kind, percent)
        out = experiment.translation(name, percent)
        command = ("onmt_translate", "-model", str(model), "-src", text, "-output", out)
        command += experiment.translate[name]
        steps.append(Step(f"translate/{name}.{percent}", command, (str(model), text), (out,)))
    return steps


def _apply(experiment: Experiment, kind: str, percent: int) -> Step:
    source, out = experiment.swapped(experiment.source, percent), experiment.text(kind, percent)
    command, reads = ["preorder", "apply", "--model", str(experiment.preorderer), "--src", source], [source]
    if experiment.tags is not None:
        reads.append(experiment.swapped(experiment.tags, percent))
        command += ["--pos", reads[-1]]
    command += ["--format", FORMS[kind], "--out", out]
    return Step(f"{kind}.{percent}", tuple(command), (str(experiment.preorderer), *reads), (out,))


def _analyse(experiment: Experiment) -> Step:
    names = list(experiment.models)
    reads = [experiment.translation(name, percent) for name in names for percent in experiment.percentages]
    command = ["preorder", "analyse", "robustness", "--ref", str(experiment.reference), "--tokenize", "none"]
    command += ["--percent", _list(experiment), "--seed", str(experiment.seed), "--json"]
    command += ["--out", "robustness.svg", "--out", "robustness.png"]
    command += ["--hyp", *(f"{name}={experiment.translation(name, '{}')}" for name in names)]
    made, out = ("robustness.svg", "robustness.png"), "robustness.json"
    return Step("analyse", tuple(command), (str(experiment.reference), *reads), (*made, out), output=out)


def _list(experiment: Experiment) -> str:
    return ",".join(map(str, experiment.percentages))


if __name__ == "__main__":
    sys.exit(main())
