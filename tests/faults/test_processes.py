"""Programs that we start end with us, however that is; and commands can be interrupted in their imports."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from preorder import processes
from preorder.errors import NO_MEMORY
from tests.support.running import ROOT, environment, still_running, wait_until

LIMITED = """
import os, resource, sys
from preorder import processes
from preorder.io.atomic import atomic_file

def main():
    with processes.interruptible(), atomic_file(sys.argv[2]) as path:
        path.write_text("half")
        print(path.exists(), flush=True)
        getattr(os, sys.argv[1])(*map(int, sys.argv[3:]))
    return 0

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (2**36, 2**36))
    sys.exit(processes.run_command("limited"))
"""


@pytest.mark.parametrize(
    ("ending", "status", "message", "left"),
    [
        ("abort", 2, f"{NO_MEMORY}\n", []),
        ("_exit 127", 2, f"{NO_MEMORY}\n", []),
        ("_exit 5", 5, "", [".out.0.partial"]),
        ("getpid", 0, "", ["out"]),
    ],
)
def test_where_memory_is_limited_an_abort_of_a_library_is_one_line(tmp_path, ending, status, message, left):
    (tmp_path / "limited.py").write_text(LIMITED)
    name, *arguments = ending.split()
    command = [sys.executable, "limited.py", name, "out", *arguments]
    ended = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (status, "True\n", message)
    assert [path.name for path in tmp_path.glob("*out*")] == left


BLAS = """
import importlib, os, re, resource, signal, sys
from preorder import processes

for name in sys.argv[2:]:
    importlib.import_module(name)
def taken():
    return int(re.search("VmSize:\\s*(\\d+)", open("/proc/self/status").read())[1]) * 1024

pages = taken()
for mebibytes in range(20, 221, 25):
    if not os.fork():
        signal.alarm(10)
        resource.setrlimit(resource.RLIMIT_AS, (pages + mebibytes * 2**20,) * 2)
        processes._guard_blas()
        try:
            importlib.import_module(sys.argv[1])
        except ImportError:
            os._exit(2)
        resource.setrlimit(resource.RLIMIT_AS, (taken() + 2**23,) * 2)
        library = sys.modules[sys.argv[1].partition(".")[0]]
        library.linalg.inv([[1.0]])
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="macOS limits no address space")
@pytest.mark.parametrize(
    "modules", [["numpy"], ["scipy.linalg", "numpy", "scipy"], ["scipy.special", "numpy", "scipy"]]
)
def test_where_memory_is_limited_openblas_is_not_loaded_and_called_without_end(modules):
    """Where it is loaded, it works, whatever memory is left."""
    command = [sys.executable, "-c", BLAS, *modules]
    ended = subprocess.run(command, env=environment(), capture_output=True, text=True)
    statuses = ended.stdout.split()
    assert statuses == sorted(statuses, reverse=True)
    assert set(statuses) == {"0", "2"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_where_memory_is_limited_signals_reach_the_work(tmp_path, number):
    (tmp_path / "limited.py").write_text(LIMITED.replace("getattr", "import time; time.sleep(60); getattr"))
    command = [sys.executable, "limited.py", "abort", "out"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), **pipes) as process:
        assert process.stdout.readline() == b"True\n"
        process.send_signal(number)
        assert process.wait(20) == (-number if number == signal.SIGKILL else -signal.SIGINT)
    wait_until(lambda: not still_running(str(tmp_path)))


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", -9), ("kill -15 $$", -15), ("sleep 63 & exit 4", 4)],
)
def test_a_program_ends_as_without_a_launcher(tmp_path, script, status):
    with processes.start(["sh", "-c", script], cwd=tmp_path) as process:
        processes._guard_blas()
    assert process.returncode == status
    wait_until(lambda: not still_running(str(tmp_path)))


def test_a_program_that_is_not_there(tmp_path):
    with processes.start([str(tmp_path / "none")], stderr=subprocess.PIPE, text=True) as process:
        assert process.communicate()[1] == f"{tmp_path}/none: No such file or directory\n"
    assert process.returncode == 1


def test_a_program_that_does_not_want_to_end(tmp_path):
    launcher = Path(processes.__file__).read_text().replace("GRACE = 10", "GRACE = 1")
    (tmp_path / "launcher.py").write_text(launcher)
    reading, _writing = os.pipe()
    command = [sys.executable, str(tmp_path / "launcher.py"), str(reading)]
    command += ["sh", "-c", "trap 'echo no' TERM; echo ready; while :; do sleep 1; done"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[reading], text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        assert process.wait(20) == -signal.SIGKILL


ALIGN = """
import sys
from pathlib import Path
from preorder import processes
from preorder.alignment import eflomal
program = Path(sys.argv[1])
eflomal._find_eflomal = lambda: program
sys.argv[:2] = ["preorder"]
sys.exit(processes.run_command("preorder.cli"))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_eflomal_and_its_files_end_with_us(tmp_path, number):
    (tmp_path / "temporary").mkdir()
    for end in ("src", "tgt"):
        (tmp_path / end).write_text("a b\n")
    program = tmp_path / "eflomal"
    program.write_bytes(b"#!/bin/sh\necho x >> ../../started\nsleep 64\nexit\n# /dev/urandom\0")
    command = [sys.executable, "-c", ALIGN, str(program), "align", "-q", "--src", f"{tmp_path}/src"]
    command += ["--tgt", f"{tmp_path}/tgt", "--out", f"{tmp_path}/out"]
    variables = environment(TMPDIR=str(tmp_path / "temporary"))
    with subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True) as process:
        started = tmp_path / "temporary/started"
        wait_until(lambda: started.exists() and started.read_text() == "x\nx\n")
        if number == signal.SIGHUP:  # the terminal is closed: nobody can read any more what is said
            process.stderr.close()
        process.send_signal(number)
        assert process.wait(20) == (-9 if number == signal.SIGKILL else 130)
        assert number in (signal.SIGHUP, signal.SIGKILL) or process.stderr.read() == "interrupted\n"
    started.unlink()
    wait_until(lambda: not still_running(str(tmp_path / "temporary")))
    assert number == signal.SIGKILL or not list((tmp_path / "temporary").iterdir())
    assert not (tmp_path / "out").exists()


IMPORTED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["MODULE"]:
            os.kill(os.getpid(), int(os.environ["NUMBER"]))
sys.meta_path.insert(0, Finder())
"""
"""Sends a signal as a module is imported."""


@pytest.mark.parametrize(
    ("program", "module", "number", "ignored"),
    [
        ("preorder", "preorder.cli", signal.SIGINT, ""),
        ("preorder", "preorder.cli", signal.SIGINT, "trap '' INT; "),
        ("onmt_preorder", "onmt_preorder.cli", signal.SIGHUP, ""),
        ("preorder_recipes.run", "preorder_recipes.configuration", signal.SIGTERM, ""),
        ("preorder_recipes.synthetic.generate", "preorder_recipes.synthetic.rules", signal.SIGINT, ""),
    ],
)
def test_interruption_of_an_import(tmp_path, program, module, number, ignored):
    (tmp_path / "sitecustomize.py").write_text(IMPORTED)
    variables = environment(MODULE=module, NUMBER=str(int(number)), PYTHONPATH=f"{tmp_path}:{ROOT}")
    command = ["sh", "-c", f"{ignored}exec {sys.executable} -m {program} --help"]
    ended = subprocess.run(command, env=variables, capture_output=True, text=True, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == ((0, "") if ignored else (130, "interrupted\n"))


ENDLESS = """
import contextlib
import numpy as np
from preorder import processes
from preorder.compiled import entry_point

@entry_point
def walk(numbers):
    while numbers[0]:
        numbers[0] = numbers[0] * 5 % 1000

def main():
    with processes.interruptible():
        walk(np.zeros(1, int))
        with contextlib.suppress(KeyboardInterrupt):  # the signal comes before the compiled code
            print("ready", flush=True)
            walk(np.ones(1, int))
        walk(np.ones(1, int))

if __name__ == "__main__":
    processes.GRACE = 0.1
    processes.run_command("endless")
"""


def test_a_signal_ends_compiled_code(tmp_path):
    (tmp_path / "endless.py").write_text(ENDLESS)
    variables = environment(NUMBA_CACHE_DIR=str(tmp_path))
    command = [sys.executable, str(tmp_path / "endless.py")]
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        try:
            assert process.wait(20) == 130
        finally:
            process.kill()
        assert process.stderr.read().endswith(b"interrupted\n")
