"""The option ``bfloat16``: products of matrices in a type that GPUs and some processors multiply fast."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from onmt_preorder.option_helpers import Need, option_group
from preorder.errors import UsageError

NEEDS: dict[str, Need] = {}


def add_options(parser: Any) -> None:
    """Add the option to a parser of OpenNMT-py."""
    add = option_group(parser, "Model- precision")
    what = "In training, compute products of matrices in bfloat16; parameters and sums stay float32."
    add("bfloat16", action="store_true", help=what)


def check(opt: Namespace) -> None:
    """Refuse another precision beside it.

    Raises:
        UsageError: ``model_dtype`` is not fp32.
    """
    if opt.bfloat16 and getattr(opt, "model_dtype", "fp32") != "fp32":
        raise UsageError("bfloat16 needs model_dtype: fp32, the type of the parameters")
