"""Tells a Transformer the position of each source word in the target's order: in OpenNMT-py, or as a layer.

Once this package is installed, OpenNMT-py's commands find it through :mod:`onmt_preorder._hook`. Other
programs call :func:`register`. :class:`PreorderedEncoder` is for any program in torch. Names of this module
are imported when they are used.
"""

from typing import Any

from onmt_preorder import _hook  # noqa: F401  where Python reads no .pth files

_PUBLIC = {
    "register": "onmt_preorder.opennmt.registration:register",
    "PreorderedEncoder": "onmt_preorder.encoder:PreorderedEncoder",
    "EncoderConfig": "onmt_preorder.transformer.config:EncoderConfig",
    "Absolute": "onmt_preorder.transformer.encodings.absolute:Absolute",
    "Relative": "onmt_preorder.transformer.encodings.relative:Relative",
    "Rotary": "onmt_preorder.transformer.encodings.rotary:Rotary",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pkgutil import resolve_name

    return resolve_name(_PUBLIC[name])
