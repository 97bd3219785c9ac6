"""Measure how translation models cope with swapped source words: swap, preorder, translate, score, plot.

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
from typing import Any

from onmt_preorder.opennmt import registration
from preorder.command_line import options
from preorder.command_line.paths import paths_by_name
from preorder.errors import UsageError, require
from preorder.io.storage import split_suffix
from preorder_recipes.commands import add_folder, execute, make_parser
from preorder_recipes.configuration import FEATURES, TEXT
from preorder_recipes.pipeline.checks import check_device, check_readable
from preorder_recipes.pipeline.job import Search, add_search
from preorder_recipes.pipeline.opennmt import search_options
from preorder_recipes.pipeline.runner import StepRunner
from preorder_recipes.pipeline.steps import Step

FORMS = {"plain": None, "preordered": FEATURES, "reordered": TEXT}
"""What a model reads → the format of ``preorder apply`` that gives it; None: the source as it is."""


@dataclass(frozen=True)
class RobustnessTest:
    """Which models translate which texts.

    Attributes:
        source, reference, tags: the test set, and the POS tags of its source if there are any.
        preorderer: model directory, or None where all models are plain.
        models: name → the model, what it reads, of :data:`FORMS`, and options of ``onmt_translate``.
        percentages: shares of the words that are swapped.
    """

    source: str
    reference: str
    tags: str | None
    preorderer: str | None
    models: dict[str, tuple[str, str, tuple[str, ...]]]
    percentages: tuple[int, ...]
    seed: int

    @property
    def drawn(self) -> tuple[str, ...]:
        """The options that say which words are swapped."""
        return ("--percent", ",".join(map(str, self.percentages)), "--seed", str(self.seed))

    def texts(self, percent: int) -> tuple[str, ...]:
        """Return where ``preorder swap`` puts the source and, if there are any, its tags."""
        paths = map(Path, filter(None, (self.source, self.tags)))
        return tuple(f"swapped/{split_suffix(path.name)[0]}.{percent}" for path in paths)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    return execute(build_parser(), argv)


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    epilog = "Writes RUN/robustness.json, .svg and .png. What is done already is not done again."
    parser = make_parser(run, epilog=epilog)
    add = parser.add_argument
    add("--src", metavar="F", required=True, help="tokenised test set")
    add("--ref", metavar="F", required=True, help="its reference, tokenised")
    add("--pos", metavar="F", help="its POS tags, where the preorderer reads them")
    add("--preorderer", metavar="DIR", help="model directory of preorder train")
    models: dict[str, Any] = {"metavar": "NAME=F", "nargs": "+", "action": "extend", "default": []}
    add("--plain", **models, help="models that read words alone")
    add("--preordered", **models, help="models that read token￨position")
    add("--reordered", **models, help="models that read words put in order")
    add("--subword-model", metavar="F", help="that of all models, where they split words")
    add_folder(parser)
    options.add_number(parser, "--jobs", options.positive, 1, "steps at a time")
    add("--device", choices=("cpu", "gpu"), default="cpu", help="where to translate (default: %(default)s)")
    add_search(parser)
    options.add_percentages(parser)
    options.add_seed(parser)
    return parser


def run(arguments: argparse.Namespace) -> None:
    """Translate everything and analyse it."""
    test, runner = _test(arguments), StepRunner(arguments.folder, arguments.jobs)
    with runner.alone():
        runner.run([_swap(test)])
        runner.run(*(_chain(test, percent) for percent in test.percentages))
        runner.run([_analyse(test)])


def _test(arguments: argparse.Namespace) -> RobustnessTest:
    registration.require()
    from onmt_preorder.opennmt.checkpoints import read_options

    found: dict[str, tuple[str, str]] = {}
    for kind in FORMS:
        for name, path in paths_by_name(getattr(arguments, kind)).items():
            if name in found or set(name) & set("/{}"):
                raise UsageError(f"{name}: each model needs a name of its own that a file can have: NAME=F")
            found[name] = (str(Path(path).resolve()), kind)
    if not found:
        raise UsageError(f"no model to translate with: --{', --'.join(FORMS)}")
    if any(FORMS[kind] for _, kind in found.values()) and arguments.preorderer is None:
        raise UsageError("models that read an order need --preorderer, which predicts it")
    given = (arguments.src, arguments.ref, arguments.pos, arguments.preorderer, arguments.subword_model)
    check_readable([*filter(None, given), *(path for path, _ in found.values())])
    check_device(arguments.device)
    require("matplotlib", "plots")  # for the picture
    *texts, pieces = (path and str(Path(path).resolve()) for path in given)
    # models name their subword model by a path from the folder of their training
    more = ("-src_subword_model", pieces, "-tgt_subword_model", pieces) if pieces else ()
    search, models = options.taken(Search, arguments), {}
    for name, (path, kind) in found.items():
        decoder = read_options(path).decoder_type
        translate = (*search_options(search, arguments.seed, arguments.device, decoder), *more)
        models[name] = (path, kind, translate)
    source, reference, tags, model = texts
    return RobustnessTest(source, reference, tags, model, models, arguments.percent, arguments.seed)


def _swap(test: RobustnessTest) -> Step:
    reads = tuple(filter(None, (test.source, test.tags)))
    tags = ("--pos", *reads[1:]) if reads[1:] else ()
    command = ("preorder", "swap", "--src", reads[0], "--out-dir", "swapped", *tags, *test.drawn)
    made = (text for percent in test.percentages for text in test.texts(percent))
    return Step("swap", command, reads, tuple(made))


def _chain(test: RobustnessTest, percent: int) -> list[Step]:
    """Preorder the text of one percentage for the models that read an order, and translate it."""
    texts, steps = test.texts(percent), []
    read = {kind: f"{texts[0]}.{form}" if form else texts[0] for kind, form in FORMS.items()}
    for kind in dict.fromkeys(kind for _, kind, _ in test.models.values()):
        if form := FORMS[kind]:
            model, tags = str(test.preorderer), ("--pos", *texts[1:]) if texts[1:] else ()
            command = ("preorder", "apply", "--model", model, "--src", texts[0], *tags)
            command += ("--format", form, "--out", read[kind])
            steps.append(Step(f"{kind}.{percent}", command, (model, *texts), (read[kind],)))
    for name, (model, kind, translate) in test.models.items():
        out = f"translations/{name}.{percent}"
        command = ("onmt_translate", "-model", model, "-src", read[kind], "-output", out, *translate)
        steps.append(Step(f"translate/{name}.{percent}", command, (model, read[kind]), (out,)))
    return steps


def _analyse(test: RobustnessTest) -> Step:
    paths = {name: f"translations/{name}.{{}}" for name in test.models}
    reads = [path.format(percent) for path in paths.values() for percent in test.percentages]
    command = ["preorder", "analyse", "robustness", "--ref", test.reference, "--tokenize", "none"]
    command += [*test.drawn, "--json", "--out", "robustness.svg", "--out", "robustness.png"]
    command += ["--hyp", *(f"{name}={path}" for name, path in paths.items())]
    made, out = ("robustness.svg", "robustness.png"), "robustness.json"
    return Step("analyse", tuple(command), (test.reference, *reads), (*made, out), output=out)


if __name__ == "__main__":
    sys.exit(main())
