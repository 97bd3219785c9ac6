"""Registration of our encoder, its options and our transforms with eole."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

from onmt_preorder import _hook
from preorder.errors import UsageError

SUPPORTED = "0.6"


def register() -> None:
    """Register with eole, in this process and those that it starts; calling it again does nothing.

    The command ``eole`` does so itself.

    Raises:
        UsageError: eole is not installed, it is a version that we do not work with, or its configuration has
            been imported before.
    """
    if find_spec("eole") is None:
        raise UsageError("eole is not installed: pip install onmt-preorder[eole]")
    import eole

    version = getattr(eole, "__version__", "one without a version")
    if not version.startswith(f"{SUPPORTED}."):
        raise UsageError(f"onmt-preorder works with eole {SUPPORTED}, not {version}")
    os.environ[_hook.SWITCH] = "1"
    if "onmt_preorder.eole.transforms" in sys.modules:
        return
    if "eole.config.data" in sys.modules:  # where the options of all transforms are fixed
        raise UsageError("register with eole before eole.config, eole.models and the like are imported")
    from eole.encoders import str2enc

    import onmt_preorder.eole.options
    import onmt_preorder.eole.training
    import onmt_preorder.eole.transforms
    import onmt_preorder.eole.translation
    from onmt_preorder.eole.encoders import PreorderTransformerEncoder
    from onmt_preorder.wrapping import wrap_all

    onmt_preorder.eole.options.extend()
    str2enc[onmt_preorder.eole.options.ENCODER] = PreorderTransformerEncoder
    wrap_all("eole")


def require() -> None:
    """Register as the command ``eole`` does: with errors in one line."""
    register()
    from onmt_preorder.uncaught import show_errors_in_one_line

    show_errors_in_one_line()
