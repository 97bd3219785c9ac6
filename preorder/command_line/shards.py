"""Commands on folders of shards (``--out-dir``), on this machine or on a Ray cluster (``--engine ray``)."""

from __future__ import annotations

import argparse
import os
import re
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from preorder import __version__
from preorder.annotate import stanza as annotation
from preorder.annotate.options import TREES, AnnotatorOptions
from preorder.command_line import options
from preorder.command_line.paths import refuse_in_model
from preorder.command_line.source import STANZA, Source
from preorder.errors import UsageError, shown
from preorder.io import files, storage
from preorder.io.files import STANDARD
from preorder.learning.checkpoint import digest
from preorder.shards.jobs import (
    MANIFEST,
    Engine,
    Outputs,
    Shard,
    Work,
    check_manifest,
    find_shards,
    run_shards,
)
from preorder.shards.on_ray import GPU_SHARE, RayOptions, load_ray, on_ray

INPUTS = ("annot", "src", "pos", "trees")
"""Options of files with a line or a tree for each sentence; the first one given has the words."""

_ENDING = re.compile(r"(\.[a-z]\w*)*[*?]*$")  # as .pos.gz: a folder may hold tags of two kinds

LOCAL, RAY = "local", "ray"

RAY_ONLY = ("address", "gpu_share", "tries", "patience")

EXAMPLE = """\
  preorder {} --src 'in/*.en.gz' --pos 'tags/*.pos.gz' --out-dir out
      a file in out for each in the folder in; what is there is not done again (docs/scale.md)
"""


def add_shard_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--out-dir`` and the options of engines."""
    group = parser.add_argument_group("folders of shards")
    text = "instead of --out: folder with one output for each file of --src (or --annot), under its name. "
    text += "--src is a pattern in quotes, 'in/*.en.gz'; * and ? stand for the same in --pos and --trees. "
    text += "Outputs that exist are not made again"
    options.add_files(group, "DIR", out_dir=text)
    text = "do part I of N, from 1: the files I, I + N, I + 2N, …"
    group.add_argument("--shard", metavar="I/N", type=_part, help=text)
    defaults = RayOptions()
    group = parser.add_argument_group("engines, with --out-dir")
    text = "ray: workers on a Ray cluster do the shards, as many as it has room for (default: %(default)s, "
    group.add_argument("--engine", choices=(LOCAL, RAY), default=LOCAL, help=text + "this machine)")
    text = "of the cluster; auto: that of this machine or of RAY_ADDRESS (default: a local Ray is started)"
    group.add_argument("--address", metavar="HOST:PORT|auto", type=_address, help=text)
    add_number = partial(options.add_number, group)
    text = "fraction of a GPU for each worker, with --stanza-device gpu; 0.25 puts four on one GPU"
    add_number("--gpu-share", options.share, None, f"{text} (default: {GPU_SHARE})", "X")
    text = "attempts at a shard whose workers die; afterwards it is left out, and named at the end"
    add_number("--tries", options.positive, None, f"{text} (default: {defaults.tries})")
    text = "seconds without any worker after which the command gives up"
    add_number("--patience", options.positive, None, f"{text} (default: {defaults.patience:g})")


def _part(text: str) -> tuple[int, int]:
    number, slash, of = text.partition("/")
    if not slash:
        raise argparse.ArgumentTypeError(f"not I/N: {text!r}")
    part = options.positive(number), options.positive(of)
    if part[0] > part[1]:
        raise argparse.ArgumentTypeError(f"{part[0]} is more than {part[1]}: {text!r}")
    return part


def _address(text: str) -> str:
    host, colon, port = text.rpartition(":")
    if text != "auto" and not (host and colon and port.isdecimal() and "/" not in host):
        raise argparse.ArgumentTypeError(f"neither auto nor HOST:PORT: {shown(text)}")
    return text


@dataclass(frozen=True)
class Folder:
    """A folder of outputs, one for each shard, and how they are made."""

    path: str
    part: tuple[int, int] = (1, 1)  # number of the part, from 1, and count of parts
    ray: RayOptions | None = None  # None: this machine
    settings: dict[str, Any] = field(default_factory=dict)  # options of the source's language


def given_folder(arguments: argparse.Namespace, source: Source) -> Folder | None:
    """Return the folder of ``--out-dir`` with its engine; None: there are no shards."""
    if arguments.engine == LOCAL:
        options.refuse(arguments, RAY_ONLY, "without --engine ray")
    elif arguments.stanza_device != "gpu":
        options.refuse(arguments, ("gpu_share",), "without --stanza-device gpu")
    if arguments.out_dir is None:
        options.refuse(arguments, ("shard", "engine"), "without --out-dir")
        return None
    if arguments.out != STANDARD:
        raise UsageError("--out and --out-dir exclude each other")
    if STANDARD in _patterns(source).values():
        raise UsageError("--out-dir needs files, as --src 'in/*.gz'")
    refuse_in_model(arguments.out_dir)
    ray = None
    if arguments.engine == RAY:
        load_ray()
        chosen = {name: getattr(arguments, name) for name in ("address", "tries", "patience")}
        chosen = {name: value for name, value in chosen.items() if value is not None}
        ray = RayOptions(gpus=arguments.gpu_share or GPU_SHARE, **chosen)
    settings = {"--lang": source.lang, "--tagset": source.tagset, "--tokenize": source.tokenize}
    return Folder(arguments.out_dir, arguments.shard or (1, 1), ray, settings)


def _patterns(source: Source) -> dict[str, str]:
    given = {name: getattr(source, name) for name in INPUTS}
    if given["annot"] is not None:
        del given["src"]
    return {name: value for name, value in given.items() if value not in (None, STANZA, *TREES)}


def for_shard(job: Any, shard: Shard) -> Any:
    """Return a job, a dataclass with ``source`` and ``out``, for one shard."""
    return replace(job, source=replace(job.source, **shard.inputs), out=shard.output)


def do(
    folder: Folder,
    source: Source,
    settings: dict[str, Any],
    stanza: AnnotatorOptions | None,
    work: Work,
    local: Engine,
    cpus: int = 1,
    outputs: Outputs = Shard.outputs,
) -> None:
    """Run the shards that are not done, by the local engine or on Ray, with ``cpus`` cores for each task.

    Settings are all that the outputs depend on, as JSON, except the input and Stanza.
    """
    patterns = _patterns(source)
    shards = find_shards(patterns, folder.path, outputs)
    inputs = {f"--{name}": getattr(source, name) for name in INPUTS} | folder.settings
    for name, pattern in patterns.items():
        kind = f"/*{next(_ENDING.finditer(pattern))[0]}" if name in ("pos", "trees") else ""
        inputs[f"--{name}"] = os.path.dirname(storage.absolute(pattern)) + kind
    settings = {"version of onmt-preorder": __version__} | inputs | settings | _stanza_settings(stanza)
    check_manifest(folder.path, settings, [shard.output for shard in shards])
    number, of = folder.part
    shards = shards[number - 1 :: of]
    engine = local
    if folder.ray is not None:
        needs_gpu = stanza is not None and stanza.device == "gpu"
        ray = replace(folder.ray, cpus=cpus, gpus=folder.ray.gpus if needs_gpu else 0)
        engine = partial(on_ray, ray, partial(_facts, folder.path, stanza))
    done = storage.sizes(path for shard in shards for path in outputs(shard)).keys()
    run_shards(shards, work, engine, lambda shard: done >= outputs(shard))


def _stanza_settings(stanza: AnnotatorOptions | None) -> dict[str, Any]:
    """Return a digest of Stanza's version and models; not of the models' times, which differ elsewhere."""
    if stanza is None:
        return {}
    known = annotation.prepare(stanza)
    models = [part if isinstance(part, str) else [file[:2] for file in part] for part in known]
    return {"Stanza": digest([stanza.trees, stanza.tagset, models])}


def _facts(folder: str, stanza: AnnotatorOptions | None) -> dict[str, Any]:
    """Return values that must be the same on all machines for equal output."""
    made_with = files.read_json(os.path.join(folder, MANIFEST))
    return {
        "version of onmt-preorder": __version__,
        f"folder {folder}": made_with,
        **_stanza_settings(stanza),
    }
