"""An extension of OpenNMT-py: tells a Transformer the position of each source word in the target's order.

Once this package is installed, OpenNMT-py's commands find it through :mod:`onmt_preorder._hook`. Other
programs call :func:`register`. Names of this module are imported when they are used.
"""

from typing import Any

from onmt_preorder import _hook  # noqa: F401  where Python reads no .pth files

_PUBLIC = {"register": "onmt_preorder.plugin:register"}
__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pkgutil import resolve_name

    return resolve_name(_PUBLIC[name])
