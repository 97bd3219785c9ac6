"""Train and translate with a host's own commands, every system with every seed."""

from __future__ import annotations

from typing import Any

import yaml

from preorder.errors import UsageError
from preorder.io import files
from preorder_recipes.configuration import TEXT, VOCABULARY_OPTIONS, System, read_vocabulary
from preorder_recipes.pipeline.job import Job, host_of
from preorder_recipes.pipeline.steps import Phase, Step

VOCABULARY = "vocabulary"  # the folder of the vocabularies, which all systems share
SUBWORD_MODEL = f"{VOCABULARY}/subwords.model"


def train(job: Job) -> list[Phase]:
    """Write the configurations; return the phases from them to the best checkpoints and translations.

    They are the vocabularies, then the systems that need no other one's model, those that need one of
    these, and so on. What is only needed is not translated.
    """
    chains = [(job.chain(system), seed) for seed in job.seeds for system in job.systems]
    steps: list[dict[tuple[str, int], list[Step]]] = [{} for _ in range(max(len(one) for one, _ in chains))]
    for chain, seed in chains:
        steps[len(chain) - 1][chain[-1].name, seed] = steps_of(job, chain[-1], seed)
    for chain, seed in chains:
        for depth, system in enumerate(chain):
            steps[depth].setdefault((system.name, seed), steps_of(job, system, seed)[:-1])
            if not system.trained_as:
                _write(job, job.config(system, seed), config_of(job, system, seed))
    _write(job, f"{VOCABULARY}/config.yaml", vocabulary_of(job))
    words = [*([_subwords(job)] if job.subwords else []), _vocabulary(job)]
    return [[words], *(list(phase.values()) for phase in steps)]


def steps_of(job: Job, system: System, seed: int) -> list[Step]:
    """Return the steps from a system's configuration to its translation."""
    trained = job.trained(system)
    reads = _training_reads(job, trained, seed)
    return [*host_of(job).train_steps(job, trained, seed, reads), _translate(job, system, seed)]


def _write(job: Job, name: str, config: dict[str, Any]) -> None:
    path = job.folder / name
    files.make_folder(str(path.parent))
    files.write_bytes(str(path), yaml.safe_dump(config, sort_keys=False, allow_unicode=True).encode())


def vocabulary_of(job: Job) -> dict[str, Any]:
    """Return the options of the vocabularies, which are those of the plain text for all systems.

    Only what makes a vocabulary is among them, so that other changes make no new vocabularies.
    """
    options = read_vocabulary(job.size, job.subwords) | job.changes
    texts = {"path_src": job.text("train", job.source), "path_tgt": job.text("train", job.target)}
    paths = {"data": {"train": texts}, **_vocabulary_paths(job)}
    return host_of(job).vocabulary_config(options | paths)


def _vocabulary_paths(job: Job) -> dict[str, str]:
    return {
        "src_vocab": f"{VOCABULARY}/vocab.{job.source}",
        "tgt_vocab": f"{VOCABULARY}/vocab.{job.target}",
        "save_data": VOCABULARY,
        **(dict.fromkeys(("src_subword_model", "tgt_subword_model"), SUBWORD_MODEL) if job.subwords else {}),
    }


def config_of(job: Job, system: System, seed: int) -> dict[str, Any]:
    """Return what the host's training reads: what stands there for :func:`options_of`."""
    options = options_of(job, system, seed)
    return host_of(job).training_config(options, job.system_folder(system.name, seed))


def options_of(job: Job, system: System, seed: int) -> dict[str, Any]:
    """Return a system's options with the paths, the seed, the device and the vocabulary of the run.

    With ``lambda_align`` the run's word alignments guide attention. Every checkpoint that may turn out to be
    the best is kept until it is known. ``valid_steps`` is rounded, so that fewer steps than there are
    validations come after the last one. A UsageError: options with which a system cannot be trained.
    """
    vocabulary = read_vocabulary(job.size, job.subwords)
    own = _decayed_within(system.options, job.changes.get("train_steps"))
    own = {key: value for key, value in own.items() if key not in VOCABULARY_OPTIONS}
    config = own | {key: vocabulary[key] for key in VOCABULARY_OPTIONS if key in vocabulary} | job.changes
    for key, least in (("train_steps", 1), ("valid_steps", 1), ("early_stopping", 0)):
        if not isinstance(number := config.get(key, 0), int) or number < least:
            raise UsageError(f"system {system.name}: {key} is no whole number from {least}: {number!r}")
    if config.get("lambda_align") and (system.form, system.supervision) == (TEXT, None) and system.order:
        raise UsageError(f"system {system.name}: lambda_align needs the source in its own order")
    if "bucket_size" in config and (pairs := job.pairs):  # copies would fill it, which batches drop
        config["bucket_size"] = min(config["bucket_size"], pairs)
    validations = max(1, round(config["train_steps"] / config["valid_steps"]))
    steps, patience = config["train_steps"] // validations, config.get("early_stopping", 0)
    kept = -1  # all
    if job.average > 1:
        kept = validations + job.average  # all; another number to average is another training
    elif patience and "BLEU" not in config.get("valid_metrics", ()):
        kept = patience + 1
    begins: dict[str, Any] = {}
    if system.begins_from:
        begins = {
            "train_from": _model(job, job.trained(job.chain(system)[-2]).name, seed),
            "override_opts": True,
            "reset_optim": "all",
        }
    return config | {
        "data": {
            corpus: {
                "path_src": job.source_of(system, part),
                "path_tgt": job.text(part, job.target),
                **({"path_align": job.alignment(part)} if config.get("lambda_align") else {}),
            }
            for corpus, part in (("train", "train"), ("valid", "dev"))
        },
        **_vocabulary_paths(job),
        **begins,
        "save_model": f"{job.system_folder(system.name, seed)}/model",
        "seed": seed,
        "valid_steps": steps,
        "save_checkpoint_steps": steps,
        "keep_checkpoint": kept,
        **({"early_stopping_criteria": ["ppl"]} if patience else {}),
        **({"world_size": 1, "gpu_ranks": [0]} if job.device == "gpu" else {}),
    }


def _decayed_within(options: dict[str, Any], steps: int | None) -> dict[str, Any]:
    """Let the learning rate decay at the same shares of another number of steps."""
    if steps is None or "train_steps" not in options:
        return options
    given = {key: options[key] for key in ("start_decay_steps", "decay_steps") if key in options}
    return options | {key: max(1, round(at * steps / options["train_steps"])) for key, at in given.items()}


def _model(job: Job, system: str, seed: int) -> str:
    return f"{job.system_folder(system, seed)}/{host_of(job).MODEL}"


def _vocabularies(job: Job) -> tuple[str, ...]:
    return tuple(f"{VOCABULARY}/vocab.{side}" for side in (job.source, job.target))


def _subword_model(job: Job) -> tuple[str, ...]:
    return (SUBWORD_MODEL,) if job.subwords else ()


def _train_texts(job: Job) -> tuple[str, ...]:
    return tuple(job.text("train", side) for side in (job.source, job.target))


def _subwords(job: Job) -> Step:
    command = ("python", "-m", "preorder_recipes.pipeline.subwords", "--text", *_train_texts(job))
    command += ("--kind", str(job.subwords), "--size", str(job.subword_size), "--out", SUBWORD_MODEL)
    return Step("subwords", command, _train_texts(job), (SUBWORD_MODEL,))


def _vocabulary(job: Job) -> Step:
    config = f"{VOCABULARY}/config.yaml"
    reads = (config, *_train_texts(job), *_subword_model(job))
    return Step("vocabulary", host_of(job).vocabulary_command(config), reads, _vocabularies(job))


def _training_reads(job: Job, system: System, seed: int) -> list[str]:
    options = options_of(job, system, seed)
    reads = [job.config(system, seed), *_vocabularies(job), *_subword_model(job)]
    reads += [text for corpus in options["data"].values() for text in corpus.values()]
    return reads + ([options["train_from"]] if system.begins_from else [])


def _translate(job: Job, system: System, seed: int) -> Step:
    """Return the step that translates the test set."""
    model, source = _model(job, job.trained(system).name, seed), job.source_of(system, "test")
    command = host_of(job).translate_command(job, system, seed, model, source)
    made = (job.translation(system, seed),)
    return Step(f"translate/{system.name}-seed{seed}", command, (model, source), made)
