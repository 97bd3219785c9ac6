"""How options are added to OpenNMT-py's parsers, and refused where a model ignores them.

A refusal is a ``UsageError`` in one line. ``whose`` is the option and value that name the model:
``decoder_type: swan``.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

from preorder.errors import UsageError

Need = tuple[str, Callable[[Namespace], bool]]
"""What an option of a training has an effect with: in words, and whether it is there."""


def option_group(parser: Any, title: str) -> Callable[..., None]:
    """Add a group to a parser of OpenNMT-py; return what adds an option by name and settings."""
    group = parser.add_argument_group(title)
    return lambda name, **settings: group.add(f"--{name}", f"-{name}", **settings)


def refuse(opt: Namespace, unsupported: Mapping[str, Any], whose: str) -> None:
    """Refuse options that OpenNMT-py's own models support: name of each, with the value that turns it off."""
    for name, off in unsupported.items():
        if getattr(opt, name, off) != off:
            raise UsageError(f"{name} does not work with {whose}")


def check_shared_embeddings(opt: Namespace) -> None:
    """Refuse a generator that shares embeddings of another width than what it reads."""
    if opt.share_decoder_embeddings and opt.tgt_word_vec_size != opt.dec_hid_size:
        raise UsageError(
            f"share_decoder_embeddings needs word_vec_size {opt.tgt_word_vec_size} to be "
            f"hidden_size {opt.dec_hid_size}"
        )
