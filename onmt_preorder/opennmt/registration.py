"""Registration of our encoders, decoders, transforms and options with OpenNMT-py."""

from __future__ import annotations

import os
from argparse import Namespace
from importlib import import_module
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any

from onmt_preorder import _hook
from onmt_preorder.opennmt import stand_ins
from preorder.errors import UsageError

SUPPORTED = "3.5"
ADAPTING = (
    *("transforms", "alignments", "checkpoints", "configuration", "corpora", "loading", "models", "server"),
    *("training", "translation", "repairs.attention", "repairs.messages", "repairs.numbers"),
    *("repairs.outputs", "repairs.vocabularies"),
)
"""Modules that adapt OpenNMT-py."""


def register() -> None:
    """Register with OpenNMT-py, in this process and those that it starts; calling it again does nothing.

    OpenNMT-py's own commands do so themselves.

    Raises:
        UsageError: OpenNMT-py is not installed, or it is a version that we do not work with.
    """
    spec = find_spec("onmt")
    if spec is None or not _hook.is_host(spec):
        raise UsageError("OpenNMT-py is not installed: pip install --no-deps OpenNMT-py==3.5.1")
    stand_ins.install()
    import onmt

    version = getattr(onmt, "__version__", "one without a version")
    if not version.startswith(f"{SUPPORTED}."):
        raise UsageError(f"onmt-preorder works with OpenNMT-py {SUPPORTED}, not {version}")
    from onmt.decoders import DecoderBase, register_decoder, str2dec
    from onmt.encoders import EncoderBase, register_encoder, str2enc

    from onmt_preorder.opennmt.checkpoints import allow_options
    from onmt_preorder.opennmt.options import DECODERS, ENCODERS
    from onmt_preorder.wrapping import wrap_all

    # Transforms and adaptations register themselves when imported. Where it is the import of the transforms
    # which has led here, they do so after this function has returned.
    for name in ADAPTING:
        import_module(f"onmt_preorder.opennmt.{name}")

    for name in ENCODERS.keys() - str2enc.keys():
        register_encoder(name)(_factory(ENCODERS[name], EncoderBase))
    for name in DECODERS.keys() - str2dec.keys():
        register_decoder(name)(_factory(DECODERS[name], DecoderBase))
    allow_options()
    wrap_all("onmt")
    os.environ[_hook.SWITCH] = "1"


def require() -> None:
    """Register as OpenNMT-py's own commands do: quick to start, with errors in one line."""
    _hook.prepare()
    register()
    from onmt_preorder.opennmt.repairs.messages import show_errors

    show_errors()


def _factory(path: str, base: type) -> type:
    """Make a class that imports the real one, ``module:name``, when a model is built, not with ``onmt``."""

    class Factory(base):
        @classmethod
        def from_opt(cls, opt: Namespace, embeddings: Any = None) -> Any:
            return resolve_name(path)(opt, embeddings)

    return Factory
