"""What can be wrong with a command line of a recipe, found before any work."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from onmt_preorder.base_configuration import parse_yaml
from preorder.annotate.options import LANGUAGE, STANZA, TREES
from preorder.cli import build_parser
from preorder.command_line.options import given_method_options
from preorder.errors import DataError, UsageError, shown
from preorder.methods.model_directory import load_model
from preorder.methods.registry import NEED_TREES, all_options
from preorder_recipes.configuration import key_and_value
from preorder_recipes.pipeline.job import PARTS, Job
from preorder_recipes.pipeline.prepare import needed_layers, ordered_parts, train_preorderer


def language(text: str) -> str:
    """Parse an option that is a part of file names; argparse reports its errors."""
    if not LANGUAGE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"not the code of a language: {shown(text)}")
    return text


def check_different(option: str, values: Sequence[Any]) -> None:
    """Refuse a value that is given twice."""
    for number, value in enumerate(values):
        if value in values[:number]:
            raise UsageError(f"{option}: {value} is given twice")


def check_readable(paths: Iterable[str | Path]) -> None:
    """Refuse files and folders that are not there."""
    for path in paths:
        if not Path(path).exists():
            raise DataError("cannot be read: No such file or directory", str(path))


def check_device(device: str) -> None:
    """Refuse ``gpu`` where there is none."""
    if device == "gpu":
        import torch

        if not torch.cuda.is_available():
            raise UsageError("PyTorch finds no GPU here")


def parse_changes(given: Sequence[str], steps: int | None) -> dict[str, Any]:
    """Return the values of ``--set KEY=VALUE``, read as YAML, and of ``--steps``."""
    pairs = list(map(key_and_value, given))
    check_different("--set", [key for key, _ in pairs] + ["train_steps"] * (steps is not None))
    changes = {key: _value(key, text) for key, text in pairs}
    return changes if steps is None else changes | {"train_steps": steps}


def _value(key: str, text: str) -> Any:
    try:
        value = parse_yaml(text)
    except DataError:
        raise UsageError(f"--set {key}: not YAML: {shown(text)}") from None
    for one in value if isinstance(value, list) and value else [value]:
        if not isinstance(one, (str, int, float)) or (isinstance(one, float) and not math.isfinite(one)):
            raise UsageError(f"--set {key}: neither a number nor a word nor a list of them: {shown(text)}")
    return value


def check_preorderer(job: Job, data: Path, options: Sequence[str]) -> None:
    """Refuse a given preorderer that cannot be read, or cannot order the data's source."""
    model = str(job.preorderer)
    if not ordered_parts(job):
        raise UsageError("--preorderer: no system here reads the order of a preorderer")
    check_readable([model])
    language, layers = load_model(model).language, needed_layers(model)
    if language not in (None, job.source):
        raise UsageError(f"--preorderer {model}: it orders {language}, not {job.source}")
    for name in ("trees",) if "trees" in layers else layers:  # which may have the tags, too
        missing = [path for part in PARTS if not (path := data / f"{part}.{job.source}.{name}").exists()]
        if missing and f"--{name}" not in options:
            what = {"pos": "POS tags", "trees": "trees"}[name]
            raise UsageError(f"--preorderer {model}: it reads {what}: {missing[0]} is missing")


def check_preorder_options(job: Job, data: Path, cross_fit: int, options: Sequence[str]) -> None:
    """Let ``preorder train`` check its options; it ends with one line and status 2 itself."""
    if options and not ordered_parts(job):
        raise UsageError("--preorder: no system here reads the order of a preorderer")
    parser = build_parser()
    commands = (train_preorderer(job, cross_fit, given).command for given in (tuple(options), ()))
    arguments, own = (parser.parse_args(command[1:]) for command in commands)
    method = arguments.method or load_model(own.init).preorderer.method
    given_method_options(method, all_options(), vars(arguments))
    check_readable(filter(None, [arguments.init]))
    for name in ("pos", "trees"):
        if f"--{name}" in options and getattr(arguments, name) not in (STANZA, *TREES):
            raise UsageError(
                f"--preorder --{name}: files of {name} belong in the data folder: train.{job.source}.{name} …"
            )
    files = [data / f"{part}.{job.source}.trees" for part in PARTS]
    has_trees = arguments.trees in TREES if "--trees" in options else all(map(Path.exists, files))
    if method in NEED_TREES and not has_trees and job.preorderer is None:
        needs = f"needs --trees {' or '.join(TREES)}, by Stanza, or {files[0].name} and the like in the data"
        raise UsageError(f"--preorder --method {method}: {needs}")
    fixed = dict.fromkeys(("lang", "model", "src", "align", "tgt", "annot", "cross_fit", "cross_fit_out"))
    of_model = dict.fromkeys(
        ("init", "method", "classes") if job.preorderer else (), "the model of --preorderer"
    )
    for name, setter in (fixed | of_model).items():
        if getattr(arguments, name) != getattr(own, name):
            setter = setter or "preorder_recipes.run"
            raise UsageError(f"--preorder --{name.replace('_', '-')}: {setter} sets it itself")
