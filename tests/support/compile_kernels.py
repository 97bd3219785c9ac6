"""Compile the kernels for an H100, which takes no GPU; print the name of each."""

import sys

from triton import compile as compile_for
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from onmt_preorder.transformer.attention.gpu import kernels

LIMITS, WIDTH = (4, 4), 18
CONSTANTS = {
    "HEADS": 8, "SIZE": 64, "KEY_LIMITS": LIMITS, "KEY_WIDTH": WIDTH, "VALUE_LIMITS": LIMITS,
    "VALUE_WIDTH": WIDTH, "ENDS": 4, "DROPOUT": True, "PRECISION": "tf32x3", "QUERIES": 32, "KEYS": 32,
    "BLOCK": 64, "COLUMNS": 32,
}  # fmt: skip
TYPES = {
    **dict.fromkeys(("n", "sentences", "seed", "threshold"), "i32"),
    **dict.fromkeys(("scale", "kept_scale"), "fp32"),
    **dict.fromkeys(("normaliser", "near", "offsets"), "*fp32"),
    "positions": "*i32",
    "lengths": "*i64",
}

for kernel in (kernels.forward, kernels.backward_of_queries, kernels.backward_of_keys):
    constants = {name: CONSTANTS[name] for name in kernel.arg_names if name in CONSTANTS}
    types = {name: TYPES.get(name, f"*{sys.argv[1]}") for name in kernel.arg_names}
    source = ASTSource(kernel, {**types, **dict.fromkeys(constants, "constexpr")}, constants)
    assert compile_for(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 8}).asm["cubin"]
    print(kernel.fn.__name__)
