"""The kernels without a GPU: interpreted, and compiled as for one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="Triton is not installed")

HERE = Path(__file__).resolve().parent


def run(*arguments, **variables):
    """Run Python in a process of its own: whether Triton interprets is settled when it is imported."""
    process = subprocess.run(
        [sys.executable, *arguments],
        cwd=HERE.parents[3],
        env={**os.environ, "OMP_NUM_THREADS": "1", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    return process.stdout


@pytest.mark.slow
def test_the_kernels_interpreted():
    options = ("-q", "-p", "no:cacheprovider", "-n", "0", "-W", "ignore")
    printed = run("-m", "pytest", str(HERE / "test_fused.py"), *options, TRITON_INTERPRET="1")
    assert "passed" in printed


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_the_kernels_compile_for_a_gpu(tmp_path, dtype):
    script = HERE.parents[2] / "support" / "compile_kernels.py"
    variables = {"TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(HERE.parents[3])}
    assert run(str(script), dtype, TRITON_INTERPRET="0", **variables).split() == [
        "forward",
        "backward_of_queries",
        "backward_of_keys",
    ]
