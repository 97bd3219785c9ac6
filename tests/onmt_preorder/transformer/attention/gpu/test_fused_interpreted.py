"""The kernels without a GPU: interpreted, and compiled as for one."""

import pytest

from tests.support.opennmt import start
from tests.support.running import ROOT

pytest.importorskip("triton", reason="Triton is not installed")
pytestmark = pytest.mark.slow


def run(*arguments, **variables):
    """Run Python in a process of its own: whether Triton interprets is settled when it is imported."""
    process = start(ROOT, "python", "-m", *arguments, **variables)
    output, errors = process.communicate()
    assert process.returncode == 0, output[-3000:] + errors[-3000:]
    return output


def test_the_kernels_interpreted():
    tests = "tests/onmt_preorder/transformer/attention/gpu/test_fused.py"
    options = ("-q", "-p", "no:cacheprovider", "-n", "0", "-W", "ignore", "-k", "not on_a_gpu")
    output = run("pytest", tests, *options, TRITON_INTERPRET="1")
    assert "passed" in output
    assert "skipped" not in output


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_the_kernels_compile_for_a_gpu(tmp_path, dtype):
    variables = {"TRITON_CACHE_DIR": str(tmp_path), "TRITON_INTERPRET": "0"}
    compiled = run("tests.support.compile_kernels", dtype, **variables)
    assert compiled.split() == ["forward", "backward_of_queries", "backward_of_keys"]
