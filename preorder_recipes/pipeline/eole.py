"""A run's vocabularies, trainings and translations by eole, in place of OpenNMT-py.

As a command: keep only the checkpoint of a training that validates best.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from onmt_preorder.input.pipeline import POSITIONS_TRANSFORM, PREORDER_TRANSFORM
from preorder.errors import DataError, UsageError
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.configuration import VOCABULARY_OPTIONS, System
from preorder_recipes.eole import configuration
from preorder_recipes.pipeline.checkpoints import read_log, validated
from preorder_recipes.pipeline.job import Job
from preorder_recipes.pipeline.steps import Stamps, Step

TRAINED, MODEL = "trained", "model"  # in the folder of a training
_VOCABULARY = (*VOCABULARY_OPTIONS, "transforms", "src_seq_length", "tgt_seq_length")
_VOCABULARY += ("data", "src_vocab", "tgt_vocab", "save_data", "src_subword_model", "tgt_subword_model")
_FILES = ("config.json", "vocab.json")  # beside the weights of each step


def check(job: Job) -> None:
    """Refuse what a run with eole cannot do."""
    if find_spec("eole") is None:
        raise UsageError("--host eole: it is not installed: pip install onmt-preorder[eole]")
    if job.average > 1:
        raise UsageError("--host eole: --average is for OpenNMT-py")
    for system in job.systems:
        if any(one.begins_from for one in job.chain(system)):
            raise UsageError(f"--host eole: {system.name} begins from another model")


def check_options(job: Job, config_of: Callable[[System], dict[str, Any]]) -> None:
    """Refuse options that eole does not have."""
    for system in job.systems:
        config_of(job.trained(system))


def training_config(options: dict[str, Any], folder: str) -> dict[str, Any]:
    """Return the configuration of a training, given its options in OpenNMT-py, and its folder."""
    return configuration(options | {"save_model": f"{folder}/{TRAINED}"})


def vocabulary_config(options: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of vocabularies, whose texts have no positions."""
    read = {key: options[key] for key in _VOCABULARY if key in options}
    config = configuration({"word_vec_size": 1, **read})
    ours = (PREORDER_TRANSFORM, POSITIONS_TRANSFORM)
    transforms = [name for name in config["transforms"] if name not in ours]
    others = {key: value for key, value in config.items() if key not in ("model", "training")}
    return others | {"transforms": transforms}


def vocabulary_command(config: str) -> tuple[str, ...]:
    """Return the command that makes vocabularies."""
    return "eole", "build_vocab", "-c", config, "-n_sample", "-1", "-overwrite"


def train_steps(job: Job, system: System, seed: int, reads: Sequence[str]) -> list[Step]:
    """Return a training, and the choice of its best checkpoint."""
    folder, name = job.system_folder(system.name, seed), f"{system.name}-seed{seed}"
    trained, model = f"{folder}/{TRAINED}", f"{folder}/{MODEL}"
    command = ("eole", "train", "-c", job.config(system, seed))
    train = Step(f"train/{name}", command, tuple(reads), (trained,), keeps_log=True)
    choice = ("python", "-m", "preorder_recipes.pipeline.eole", "--log", train.log, "--folder", folder)
    return [train, Step(f"best/{name}", choice, (trained, train.log), (model,))]


def translate_command(job: Job, system: System, seed: int, model: str, source: str) -> tuple[str, ...]:
    """Return the command that translates a file."""
    search, out = job.search, job.translation(system, seed)
    command = ("eole", "predict", "-model_path", model, "-src", source, "-output", out)
    own = {"-ratio": search.ratio, "-block_ngram_repeat": search.block_ngram_repeat}
    given = (text for name, value in own.items() if value for text in (name, str(value)))
    gpu = ("-world_size", "1", "-gpu_ranks", "0") if job.device == "gpu" else ()
    return (*command, "-beam_size", str(search.beam), *given, "-batch_size", "64", "-seed", str(seed), *gpu)


def seconds(_: Job, stamps: Stamps, translation: Step) -> float:
    """Return how long a translation took with the model's loading: eole does not say it."""
    return stamps.seconds(translation.name)


def keep_best(log: Path, folder: Path) -> None:
    """Make a model of the best checkpoint; those of the training stay."""
    measure, ranked = validated(read_log(log))
    if not ranked:
        raise DataError("no checkpoint was saved after a validation", str(log))
    step, value = ranked[0]
    print(f"step {step}, validation {measure} {value}")
    model, trained = folder / MODEL, folder / TRAINED
    shutil.rmtree(model, ignore_errors=True)
    model.mkdir()
    for file in (*(trained / name for name in _FILES), *(trained / f"step_{step}").glob("*.safetensors")):
        shutil.copyfile(file, model / file.name)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(lambda arguments: keep_best(Path(arguments.log), Path(arguments.folder)))
    parser.add_argument("--log", metavar="F", required=True, help="log of eole train")
    what = f"of the training: {TRAINED} is in it"
    parser.add_argument("--folder", metavar="DIR", required=True, help=what)
    return execute(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
