"""What runs the shards of a folder: this machine, or a Ray cluster (``--engine ray``)."""

from __future__ import annotations

import argparse
import os
from functools import partial
from typing import Any

from preorder import __version__
from preorder.annotate.stanza import StanzaOptions
from preorder.cli import options
from preorder.cli.shards import stanza_settings
from preorder.errors import UsageError, shown
from preorder.io import files
from preorder.shards.manifest import NAME
from preorder.shards.on_ray.options import DEFAULTS, GPU_SHARE, RayOptions
from preorder.shards.on_ray.room import Needs
from preorder.shards.run import Engine

LOCAL, RAY = "local", "ray"

RAY_ONLY = ("address", "gpu_share", "tries", "patience")
"""Options that say how Ray is used."""


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--engine`` and the options of Ray."""
    group = parser.add_argument_group("engines, with --out-dir")
    group.add_argument(
        "--engine",
        choices=(LOCAL, RAY),
        default=LOCAL,
        help="ray: workers on a Ray cluster do the shards, as many as it has room for "
        "(default: %(default)s, this machine)",
    )
    group.add_argument(
        "--address",
        metavar="HOST:PORT|auto",
        type=_address,
        help="of the cluster; auto: the one that runs on this machine or that RAY_ADDRESS names "
        "(default: a Ray is started on this machine, and stopped)",
    )
    group.add_argument(
        "--gpu-share",
        metavar="X",
        type=options.share,
        help="of a GPU, for each worker, with --stanza-device gpu: Ray puts as many on one as it holds "
        f"(default: {GPU_SHARE})",
    )
    text = "how often a shard is begun whose workers die, before it is left out and named at the end"
    group.add_argument(
        "--tries", metavar="N", type=options.positive, help=f"{text} (default: {DEFAULTS.tries})"
    )
    text = "seconds for which there may be no worker at all, before the command gives up"
    group.add_argument(
        "--patience", metavar="N", type=options.positive, help=f"{text} (default: {DEFAULTS.patience:g})"
    )


def _address(text: str) -> str:
    host, colon, port = text.rpartition(":")
    if text != "auto" and not (host and colon and port.isdecimal() and "/" not in host):
        raise argparse.ArgumentTypeError(f"neither auto nor HOST:PORT: {shown(text)}")
    return text


def check_engine(arguments: argparse.Namespace) -> None:
    """Check that the options of the engine go together, and that it is installed.

    Raises:
        UsageError: they do not.
        MissingExtraError: Ray is asked for, and not installed.
    """
    if arguments.engine == LOCAL:
        for name in RAY_ONLY:
            if getattr(arguments, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} goes with --engine ray")
        return
    if arguments.out_dir is None:
        raise UsageError("--engine ray goes with --out-dir")
    from preorder.shards.on_ray.connection import load_ray

    load_ray()


def engine_of(
    arguments: argparse.Namespace, stanza: StanzaOptions | None, cpus: int, local: Engine
) -> Engine:
    """Return what runs the shards: the local engine, or workers on Ray of so many cores each."""
    if arguments.engine == LOCAL:
        return local
    from preorder.shards.on_ray.engine import on_ray

    needs_gpu = stanza is not None and stanza.device == "gpu"
    gpus = (arguments.gpu_share or GPU_SHARE) if needs_gpu else 0
    given = {name: getattr(arguments, name) for name in ("address", "tries", "patience")}
    given = {name: value for name, value in given.items() if value is not None}
    return partial(
        on_ray, RayOptions(needs=Needs(cpus, gpus), **given), partial(_facts, arguments.out_dir, stanza)
    )


def _facts(folder: str, stanza: StanzaOptions | None) -> dict[str, Any]:
    """Return what must be the same on all machines, or they would not write what one of them writes.

    Raises:
        DataError: the folder of the outputs is not there.
        PreorderError: Stanza or its models are not there.
    """
    made_with = files.read_json(os.path.join(folder, NAME))
    return {"version of onmt-preorder": __version__, f"folder {folder}": made_with, **stanza_settings(stanza)}
