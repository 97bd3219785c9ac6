"""Registration of our encoders, decoders, transforms and options with OpenNMT-py."""

from __future__ import annotations

import warnings
from argparse import Namespace
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any

from onmt_preorder import stand_ins
from preorder.errors import UsageError

SUPPORTED = "3.5"


def register() -> None:
    """Register with OpenNMT-py; calling it again does nothing.

    The package, once installed, calls this itself whenever ``onmt`` is imported. Call it where ``.pth`` files
    are not read (a bare ``PYTHONPATH``, zipped applications).
    """
    stand_ins.install()
    import onmt

    if not onmt.__version__.startswith(f"{SUPPORTED}."):
        warnings.warn(
            f"onmt-preorder works with OpenNMT-py {SUPPORTED}, not {onmt.__version__}: left out", stacklevel=2
        )
        return
    from onmt.decoders import DecoderBase, register_decoder, str2dec
    from onmt.encoders import EncoderBase, register_encoder, str2enc

    # The transforms register themselves when imported. Where it is that import which has led
    # here, they do so after this function has returned.
    import onmt_preorder.opennmt.transforms  # noqa: F401
    from onmt_preorder.opennmt import adapt
    from onmt_preorder.options import DECODERS, ENCODERS

    for name in ENCODERS.keys() - str2enc.keys():
        register_encoder(name)(_factory(ENCODERS[name], EncoderBase))
    for name in DECODERS.keys() - str2dec.keys():
        register_decoder(name)(_factory(DECODERS[name], DecoderBase))
    adapt()


def require() -> None:
    """Register with OpenNMT-py; a ``UsageError`` says that it is not installed."""
    if find_spec("onmt") is None:
        raise UsageError("OpenNMT-py is not installed: the README tells how to install it")
    register()


def _factory(path: str, base: type) -> type:
    """Make a class that imports the real one, ``module:name``, when a model is built, not with ``onmt``."""

    class Factory(base):
        @classmethod
        def from_opt(cls, opt: Namespace, embeddings: Any = None) -> Any:
            return resolve_name(path)(opt, embeddings)

    return Factory
