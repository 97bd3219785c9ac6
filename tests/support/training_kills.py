"""Trainings by ``onmt_train`` that die at a chosen call for a file, each in a fork of this process.

``python -m tests.support.training_kills FORMAT``, in a folder with ``config.yaml``: makes a folder
``killed-N`` for the N-th call of those in ``CALLS``, by which it changes files; it is
killed before that call. Every second call is tried; with FAULTS=1 in the environment, all.
"""

import functools
import os
import signal
import sys

import onmt.bin.train

from preorder.io import atomic

CALLS = [(os, "fsync"), (os, "replace"), (os, "remove"), (atomic, "_locked"), (atomic, "remove_left")]
ARGUMENTS = "-config ../config.yaml -train_steps 2 -save_checkpoint_steps 1 -keep_checkpoint 1".split()


def counting(deadly):
    """Let the process die at one of the calls; return the list of all."""
    seen = []

    def wrap(owner, name):
        function = getattr(owner, name)

        @functools.wraps(function)
        def wrapped(*arguments, **settings):
            seen.append(name)
            if len(seen) == deadly:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **settings)

        setattr(owner, name, wrapped)

    for owner, name in CALLS:
        wrap(owner, name)
    return seen


def train(folder, save_format, deadly):
    """Train in a fork; return its status and how many calls it made, if it lived."""
    os.mkdir(folder)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.chdir(folder)
        sys.argv = ["onmt_train", *ARGUMENTS, "-save_format", save_format]
        seen = counting(deadly)
        try:
            onmt.bin.train.main()
            os.write(writing, str(len(seen)).encode())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    status = os.waitpid(child, 0)[1]
    return status, int(os.read(reading, 99) or 0)


def main(save_format):
    status, calls = train("whole", save_format, 0)
    assert (status, calls > 9) == (0, True)
    for number in range(1, calls + 1, 1 if "FAULTS" in os.environ else 2):
        status, _ = train(f"killed-{number}", save_format, number)
        assert status == signal.SIGKILL, status


if __name__ == "__main__":
    main(*sys.argv[1:])
