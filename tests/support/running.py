"""What tests of processes share."""

import multiprocessing
import os
import resource
import sys
import time
from pathlib import Path

from preorder.annotate import stanza
from preorder.cli import main
from preorder.errors import DataError
from preorder.processes import in_processes

ROOT = Path(__file__).parents[2]


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def run_command(capsys, line, status=0):
    """Run a command line of ``preorder``, which must end with the status; return what it prints and says."""
    capsys.readouterr()
    try:
        found = main(line.split())
    except SystemExit as end:
        found = end.code
    said = capsys.readouterr()
    assert found == status, said.err
    return said


def still_running(mark):
    """Return the command lines of processes that are not zombies, whose command line or folder has a mark."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().decode(errors="replace")
            place = os.readlink(entry / "cwd")
        except OSError:
            continue
        if entry.name.isdecimal() and int(entry.name) != os.getpid() and (mark in line or mark in place):
            found.append(line.replace("\0", " "))
    return found


def environment(**more):
    """Return the variables of a process that finds this checkout, and the programs beside this Python."""
    # Compiled code is kept there: with another HOME it would be compiled anew.
    cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    fixed = {"PATH": programs, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": cache}
    return {**os.environ, **fixed, **more}


def annotate_here(patch):
    """Let Stanza annotate in this process: a worker takes seconds to begin."""
    patch.setattr(stanza, "in_processes", lambda work, items, _: in_processes(work, items, 0))


def limited(size, function, *arguments):
    """Call a function in a process that can write files of so many bytes; return what it says."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def run():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        try:
            sender.send(function(*arguments))
        except DataError as error:
            sender.send(str(error))

    process = context.Process(target=run)
    process.start()
    process.join()
    return receiver.recv()
