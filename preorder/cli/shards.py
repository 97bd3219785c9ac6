"""Commands on folders of shards: ``--out-dir``, ``--shard``, and which files they stand for."""

from __future__ import annotations

import argparse
import os
from typing import Any

from preorder import __version__
from preorder.annotate import stanza as annotation
from preorder.annotate.stanza import TREES, StanzaOptions
from preorder.cli import options
from preorder.cli.source import STANZA
from preorder.errors import UsageError
from preorder.io import storage
from preorder.io.files import STANDARD
from preorder.learning.checkpoint import digest
from preorder.shards.manifest import check_manifest
from preorder.shards.plan import Shard, every_nth, find_shards

INPUTS = ("annot", "src", "pos", "trees")
"""Options that name files with a line, or a tree, a sentence; the first that is given has the words."""

NOT_OF_A_SHARD = ("parser", "run", "shard")

EXAMPLE = """\
  preorder {} --src 'in/*.en.gz' --pos 'tags/*.pos.gz' --out-dir out
      a file in out for each in the folder in; what is there is not done again (docs/scale.md)
"""


def add_shard_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--out-dir`` and ``--shard``."""
    group = parser.add_argument_group("folders of shards")
    group.add_argument(
        "--out-dir",
        metavar="DIR",
        help="instead of --out: a folder for one output a file of --src (or --annot), under the same name; "
        "these are patterns then, in quotes, as 'in/*.en.gz', and --pos and --trees have the same in place "
        "of each * or ?. Outputs that are there are not made again",
    )
    group.add_argument(
        "--shard",
        metavar="I/N",
        type=_part,
        help="do only every N-th file, from the I-th on, counted from 1: one of N jobs that share the work",
    )


def _part(text: str) -> tuple[int, int]:
    number, slash, of = text.partition("/")
    if not slash:
        raise argparse.ArgumentTypeError(f"not I/N: {text!r}")
    part = options.positive(number), options.positive(of)
    if part[0] > part[1]:
        raise argparse.ArgumentTypeError(f"{part[0]} is more than {part[1]}: {text!r}")
    return part


def check_options(arguments: argparse.Namespace) -> None:
    """Check that the options of shards go together.

    Raises:
        UsageError: they do not.
    """
    if arguments.out_dir is None:
        if arguments.shard is not None:
            raise UsageError("--shard goes with --out-dir")
        return
    if arguments.out != STANDARD:
        raise UsageError("--out and --out-dir exclude each other")
    if STANDARD in _patterns(arguments).values():
        raise UsageError("--out-dir needs files, as --src 'in/*.gz'")


def _patterns(arguments: argparse.Namespace) -> dict[str, str]:
    given = {name: getattr(arguments, name) for name in INPUTS}
    if given["annot"] is not None:
        del given["src"]
    return {name: value for name, value in given.items() if value not in (None, STANZA, *TREES)}


def shards_of(arguments: argparse.Namespace, settings: dict[str, Any]) -> list[Shard]:
    """Return the shards that a command is to do, in a folder of the same settings.

    Args:
        arguments: checked by :func:`check_options`.
        settings: all that the outputs depend on, as JSON, but for the input.

    Raises:
        DataError: there is no input.
        UsageError: file names that do not fit each other; or the folder has outputs of other settings.
    """
    patterns = _patterns(arguments)
    shards = find_shards(patterns, arguments.out_dir)
    folders = {name: os.path.dirname(storage.absolute(pattern)) for name, pattern in patterns.items()}
    given = {f"--{name}": getattr(arguments, name) for name in INPUTS} | {
        f"--{name}": folder for name, folder in folders.items()
    }
    settings = {"version of onmt-preorder": __version__} | given | settings
    check_manifest(arguments.out_dir, settings, [shard.output for shard in shards])
    return shards if arguments.shard is None else every_nth(shards, *arguments.shard)


def stanza_settings(stanza: StanzaOptions | None) -> dict[str, Any]:
    """Return what outputs depend on where Stanza annotates; models that are missing are downloaded first.

    These are its version and its models, by name and size: on other machines they may be of another time.
    """
    if stanza is None:
        return {}
    known = annotation.prepare(stanza)
    models = [part if isinstance(part, str) else [file[:2] for file in part] for part in known]
    return {"Stanza": digest([stanza.trees, stanza.tagset, models])}


def for_workers(arguments: argparse.Namespace) -> argparse.Namespace:
    """Return the arguments without what belongs to the whole command, and cannot be pickled."""
    kept = {name: value for name, value in vars(arguments).items() if name not in NOT_OF_A_SHARD}
    return argparse.Namespace(**kept)


def of_shard(arguments: argparse.Namespace, shard: Shard) -> argparse.Namespace:
    """Return the arguments of the command that does one shard alone."""
    return argparse.Namespace(**vars(for_workers(arguments)) | dict(shard.inputs) | {"out": shard.output})
