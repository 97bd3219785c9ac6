"""Sizes that need more memory than there is: one line and status 2, whoever finds out."""

import os
import subprocess
import sys

import pytest

from preorder.command_line import Parser, execute
from tests.support.running import environment

LIMITED = """
import resource, sys
from preorder.cli import main
train = "train -q --method btg --max-length 1000 --classes 0 --held-out 0 --iterations 1"
train += " --src {0} --align {0}.align --model {0}.model"
assert main(train.format("short").split()) == 0  # so that all is imported, compiled and started
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 300 * 2**20,) * 2)
sys.exit(main(train.format("long").split()))
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
def test_sizes_that_do_not_fit(tmp_path):
    """There is memory for the smaller one, and 300 MiB more."""
    for name, length in (("short", 3), ("long", 900)):
        (tmp_path / name).write_text(" ".join(map(str, range(length))) + "\n")
        (tmp_path / f"{name}.align").write_text(" ".join(f"{i}-{length - i}" for i in range(length)) + "\n")
    command = [sys.executable, "-c", LIMITED]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("not enough memory: ask for smaller sizes")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "long.model").exists()


def run_raising(error):
    """Run a command that fails; return its exit status."""

    def run(_):
        raise error

    parser = Parser()
    parser.set_defaults(run=run)
    return execute(parser, [])


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes."),
        RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB"),
        RuntimeError("can't start new thread"),
        ImportError("a.so: failed to map segment from shared object"),
        OSError("Could not find/load shared object file 'libllvmlite.so' from resource location: 'x'"),
    ],
)
def test_what_libraries_say(error, capsys):
    assert run_raising(error) == 2
    assert capsys.readouterr().err.startswith("not enough memory: ")


@pytest.mark.parametrize("error", [RuntimeError("memory"), ValueError("out of memory"), KeyError("x")])
def test_faults_of_the_program_keep_their_traceback(error):
    with pytest.raises(type(error)):
        run_raising(error)
