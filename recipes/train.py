"""Train and translate with OpenNMT-py's own commands, every system with every seed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from preorder.data import files
from recipes.checkpoints import VALIDATION, Checkpoints, weights_of
from recipes.job import Job
from recipes.stamps import Step
from recipes.step_runner import StepRunner
from recipes.systems import System

MODEL = "model.pt"
SUBWORD_MODEL = "subwords"
_STEP = re.compile(r"Step +(\d+)/ *(\d+); acc: ([\d.]+); ppl: +([\d.]+)")


def train(job: Job, runner: StepRunner) -> None:
    """Build vocabularies, train, keep the best checkpoint and translate the test set."""
    pairs = [(system, seed) for seed in job.seeds for system in job.systems]
    for system, seed in pairs:
        _write_config(job, system, seed)
    runner.run(*([_vocabulary(job, system)] for system in job.systems))
    runner.run(*(steps_of(job, *pair) for pair in pairs))


def steps_of(job: Job, system: System, seed: int) -> list[Step]:
    """Return the steps from a system's configuration to its translation."""
    return [_train(job, system, seed), _select(job, system, seed), _translate(job, system, seed)]


def train_step(system: System, seed: int) -> str:
    """Return the name of the step that trains a system."""
    return f"train/{system.name}-seed{seed}"


def _log(system: System, seed: int) -> str:
    return f"logs/{train_step(system, seed)}.log"


def _write_config(job: Job, system: System, seed: int) -> None:
    path = job.folder / job.config(system, seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(config_of(job, system, seed), sort_keys=False, allow_unicode=True)
    files.write_bytes(str(path), text.encode())


def config_of(job: Job, system: System, seed: int) -> dict[str, Any]:
    """Return a system's options with the paths, the seed and the device.

    Every checkpoint that may turn out to be the best is kept until it is known.
    """
    config = system.options | job.changes
    steps = min(config["valid_steps"], config["train_steps"])
    patience = config.get("early_stopping", 0)
    folder, vocabulary = job.system_folder(system, seed), job.system_folder(system)
    pieces = f"{vocabulary}/{SUBWORD_MODEL}"
    return config | {
        "data": {
            corpus: {"path_src": job.source_of(system, part), "path_tgt": job.text(part, job.target)}
            for corpus, part in (("train", "train"), ("valid", "dev"))
        },
        "src_vocab": f"{vocabulary}/vocab.{job.source}",
        "tgt_vocab": f"{vocabulary}/vocab.{job.target}",
        "save_data": vocabulary,
        "save_model": f"{folder}/model",
        "seed": seed,
        "valid_steps": steps,
        "save_checkpoint_steps": steps,
        "keep_checkpoint": patience + 1 if patience else -1,
        **({"early_stopping_criteria": ["ppl"]} if patience else {}),
        **({"src_subword_model": pieces, "tgt_subword_model": pieces} if job.subwords else {}),
        **({"world_size": 1, "gpu_ranks": [0]} if job.device == "gpu" else {}),
    }


def _data_of(job: Job, system: System, *parts: str) -> tuple[str, ...]:
    return tuple(file for part in parts for file in (job.source_of(system, part), job.text(part, job.target)))


def _vocabularies(job: Job, system: System) -> tuple[str, ...]:
    names = [f"vocab.{side}" for side in (job.source, job.target)] + [SUBWORD_MODEL] * bool(job.subwords)
    return tuple(f"{job.system_folder(system)}/{name}" for name in names)


def _vocabulary(job: Job, system: System) -> Step:
    config = job.config(system, job.seeds[0])
    command = ("onmt_build_vocab", "-config", config, "-n_sample", "-1", "-overwrite")
    reads = (config, *_data_of(job, system, "train"))
    return Step(f"vocabulary/{system.name}", command, reads, _vocabularies(job, system))


def _train(job: Job, system: System, seed: int) -> Step:
    config = job.config(system, seed)
    reads = (config, *_vocabularies(job, system), *_data_of(job, system, "train", "dev"))
    name, folder = train_step(system, seed), job.system_folder(system, seed)
    checkpoints = Checkpoints(job.folder / folder, job.folder / _log(system, seed))
    command, made = ("onmt_train", "-config", config), _model(job, system, seed)  # by the selection
    return Step(name, command, reads, made, progress=_progress, checkpoints=checkpoints, resume=_resume)


def _resume(checkpoint: str) -> tuple[str, ...]:
    """Return the options that go on from a checkpoint, whatever the configuration begins from."""
    return ("-train_from", checkpoint, "-reset_optim", "none")


def _progress(line: str) -> str | None:
    if match := _STEP.search(line):
        step, steps, accuracy, perplexity = match.groups()
        return f"step {step} of {steps}, accuracy {accuracy}%, perplexity {perplexity}"
    if match := VALIDATION.search(line):
        return f"validation perplexity {match[1]}"
    return None


def _select(job: Job, system: System, seed: int) -> Step:
    folder, log = job.system_folder(system, seed), _log(system, seed)
    command = ("python", "-m", "recipes.best_checkpoint", "--log", log, "--folder", folder)
    return Step(f"best/{system.name}-seed{seed}", command, (log,), _model(job, system, seed))


def _model(job: Job, system: System, seed: int) -> tuple[str, ...]:
    """Return the files of a trained model, that for ``onmt_translate`` first."""
    model = Path(job.system_folder(system, seed), MODEL)
    has_weights = config_of(job, system, seed).get("save_format") == "safetensors"
    return (str(model), *([str(weights_of(model))] if has_weights else []))


def _translate(job: Job, system: System, seed: int) -> Step:
    models, source = _model(job, system, seed), job.source_of(system, "test")
    out = job.translation(system, seed)
    command = ("onmt_translate", "-model", models[0], "-src", source, "-output", out)
    command += ("-beam_size", str(job.beam), "-batch_size", "64", "-seed", str(seed))
    command += ("-gpu", "0") if job.device == "gpu" else ()
    return Step(f"translate/{system.name}-seed{seed}", command, (*models, source), (out,))
