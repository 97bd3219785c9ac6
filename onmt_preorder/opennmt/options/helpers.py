"""How options are added to OpenNMT-py's parsers, refused where a model ignores them, and given to layers.

A refusal is a ``UsageError`` in one line. ``whose`` is the option and value that name the model:
``decoder_type: swan``.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from preorder.errors import UsageError

Need = tuple[str, Callable[[Namespace], bool]]
"""What an option of a training has an effect with: in words, and whether it is there."""


class Option(NamedTuple):
    """An option, whose type is that of its default; False: a flag; []: several of the choices."""

    default: Any
    help: str
    need: Need | None = None
    choices: Sequence[str] | None = None
    metavar: str | None = None


def add_group(parser: Any, title: str, table: Mapping[str, Option]) -> None:
    """Add a group of options to a parser of OpenNMT-py."""
    group = parser.add_argument_group(title)
    for name, (default, what, _, choices, metavar) in table.items():
        settings: dict[str, Any] = {"action": "store_true"}
        if default is not False:
            kind = {"nargs": "*"} if isinstance(default, list) else {"type": type(default)}
            settings = {**kind, "default": default, "choices": choices, "metavar": metavar}
        group.add(f"--{name}", f"-{name}", help=what, **settings)


@cache
def defaults() -> dict[str, Any]:
    """Return the default of each option of OpenNMT-py's trainings and translations, and of ours."""
    from onmt import opts
    from onmt.utils.parse import ArgumentParser

    found: dict[str, Any] = {}
    for add_options in (opts.translate_opts, opts.train_opts):
        add_options(parser := ArgumentParser())
        found |= {action.dest: action.default for action in parser._actions}
    return found


def refuse(opt: Namespace, unsupported: str, whose: str) -> None:
    """Refuse options, names with spaces between them, that are not at their defaults, which are off."""
    for name in unsupported.split():
        if getattr(opt, name, defaults()[name]) != defaults()[name]:
            raise UsageError(f"{name} does not work with {whose}")


def check_shared_embeddings(opt: Namespace) -> None:
    """Refuse a generator that shares embeddings of another width than what it reads."""
    if opt.share_decoder_embeddings and opt.tgt_word_vec_size != opt.dec_hid_size:
        raise UsageError(
            f"share_decoder_embeddings needs word_vec_size {opt.tgt_word_vec_size} to be "
            f"hidden_size {opt.dec_hid_size}"
        )


def first_rate(rates: float | list[float]) -> float:
    """Return the dropout rate that training begins with; OpenNMT-py changes it later by ``dropout_steps``."""
    return rates[0] if isinstance(rates, list) else rates


def layer_settings(opt: Namespace) -> dict[str, Any]:
    """Return what an encoder's and a decoder's layers have in common, as fields of ``LayerConfig``."""
    same = "heads transformer_ff norm_placement layer_norm norm_eps pos_ffn_activation_fn".split()
    return {
        **{name: getattr(opt, name) for name in (*same, "add_qkvbias", "add_ffnbias")},
        "hidden_size": opt.enc_hid_size,
        "dropout": first_rate(opt.dropout),
        "attention_dropout": first_rate(opt.attention_dropout),
    }
