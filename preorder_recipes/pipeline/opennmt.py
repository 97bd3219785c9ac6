"""A run's vocabularies, trainings and translations by OpenNMT-py."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import yaml

from onmt_preorder.opennmt import registration
from onmt_preorder.papers.npmt import DECODER as SWAN
from preorder.errors import UsageError
from preorder_recipes.configuration import SUBWORD_TRANSFORM, System
from preorder_recipes.pipeline.checkpoints import MODEL, Checkpoints, last_number
from preorder_recipes.pipeline.job import Job, Search
from preorder_recipes.pipeline.steps import Stamps, Step

__all__ = ["MODEL"]  # that of a host

ADAPTED = ("valid_steps", "bucket_size")  # options that a run fits to its length and its text
TRANSLATION = re.compile(r"Total translation time \(s\): ([0-9.]+)")


def check(_: Job) -> None:
    """Refuse to run without OpenNMT-py."""
    registration.require()


def check_options(job: Job, config_of: Callable[[System], dict[str, Any]]) -> None:
    """Check the options of a job's systems as ``onmt_train`` and ``onmt_build_vocab`` would."""
    from onmt.bin import build_vocab, train

    transforms = job.changes.get("transforms")
    if job.subwords and transforms is not None and SUBWORD_TRANSFORM not in str(transforms):
        raise UsageError(f"--set transforms: --subwords needs {SUBWORD_TRANSFORM} among them")
    parsers = training, _ = train._get_parser(), build_vocab._get_parser()
    systems = {one.name: one for system in job.systems for one in job.chain(system)}.values()
    for system in systems:
        where = f"--set, in system {system.name}" if job.changes else f"system {system.name}"
        _, opt = (parsed(parser, system.options | job.changes, where) for parser in reversed(parsers))
        config = config_of(system) | dict.fromkeys(("size", "config"))
        for key, value in job.changes.items():
            if key not in ADAPTED and config[key] != value:
                raise UsageError(f"--set {key}: preorder_recipes.run sets it itself")
        if config.get("share_vocab"):
            raise UsageError(f"{where}: share_vocab: a run has a vocabulary for each side")
        opt.train_from = ""  # a path from the folder of the run
        opt.gpu_ranks = config.get("gpu_ranks", [])  # else OpenNMT-py advises to use the GPU
        try:  # options that have to go together
            training.validate_train_opts(opt)
            training.update_model_opts(opt)
            training.validate_model_opts(opt)
        except (AssertionError, ValueError, UsageError) as error:
            raise UsageError(f"{where}: {' '.join(str(error).split())}") from None


def parsed(parser: Any, options: dict[str, Any], where: str) -> argparse.Namespace:
    """Return options as a parser of OpenNMT-py reads them; ``where`` begins the message of a UsageError."""
    from onmt_preorder.opennmt.configuration import all_keys, unknown_key

    for key in sorted(options.keys() - all_keys()):
        raise UsageError(f"{where}: {unknown_key(key, all_keys())}")

    def fail(message: str) -> NoReturn:
        raise UsageError(f"{where}: {message}")

    parser.error = fail
    corpora = ["-data", "{}", "-src_vocab", "v", "-tgt_vocab", "v", "-save_data", "d"]
    return parser.parse_known_args(corpora, config_file_contents=yaml.safe_dump(options))[0]


def vocabulary_config(options: dict[str, Any]) -> dict[str, Any]:
    """Return what ``onmt_build_vocab`` reads of a run's options."""
    from onmt.bin.build_vocab import _get_parser

    from onmt_preorder.opennmt.configuration import keys_of

    known = keys_of(_get_parser())
    return {key: value for key, value in options.items() if key in known}


def vocabulary_command(config: str) -> tuple[str, ...]:
    """Return the command that makes vocabularies."""
    return "onmt_build_vocab", "-config", config, "-n_sample", "-1", "-overwrite"


def training_config(options: dict[str, Any], _: str) -> dict[str, Any]:
    """Return the options themselves."""
    return options


def train_steps(job: Job, system: System, seed: int, reads: Sequence[str]) -> list[Step]:
    """Return a training, which can resume, and the choice of its best checkpoints."""
    folder, name = job.system_folder(system.name, seed), f"{system.name}-seed{seed}"
    command = ("onmt_train", "-config", job.config(system, seed))
    training = Step(f"train/{name}", command, tuple(reads), (f"{folder}/{MODEL}",))  # by the selection
    saved = Checkpoints(job.folder / folder, job.folder / training.log)
    choice = ["python", "-m", "preorder_recipes.pipeline.checkpoints", "--log", training.log]
    choice += ["--folder", folder, *(("--average", str(job.average)) if job.average > 1 else ())]
    best = Step(f"best/{name}", tuple(choice), (training.log,), training.makes)
    return [replace(training, checkpoints=saved), best]


def translate_command(job: Job, system: System, seed: int, model: str, source: str) -> tuple[str, ...]:
    """Return the command that translates a file; its log ends with the time that it takes."""
    out = job.translation(system, seed)
    command = ("onmt_translate", "-model", model, "-src", source, "-output", out, "-report_time")
    return command + search_options(job.search, seed, job.device, system.options.get("decoder_type"))


def search_options(search: Search, seed: int, device: str, decoder: str | None = None) -> tuple[str, ...]:
    """Return the options of ``onmt_translate`` for models with a ``decoder_type``."""
    own = {"-ratio": search.ratio, "-block_ngram_repeat": search.block_ngram_repeat}
    if decoder == SWAN:
        own = {"-swan_word_reward": search.word_reward}
    given = (text for name, value in own.items() if value for text in (name, str(value)))
    gpu = ("-gpu", "0") if device == "gpu" else ()
    return ("-beam_size", str(search.beam), *given, "-batch_size", "64", "-seed", str(seed), *gpu)


def seconds(job: Job, _: Stamps, translation: Step) -> float:
    """Return how long a translation took, without the model's loading."""
    return last_number(TRANSLATION, job.folder / translation.log)
