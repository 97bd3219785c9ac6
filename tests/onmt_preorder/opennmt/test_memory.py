"""Freed memory is kept in training on CPUs."""

import resource
import subprocess
import sys
from argparse import Namespace

import pytest

from onmt_preorder.opennmt import memory
from recipes import step_runner

TURNS = 20
FAULTS = f"""
import resource, sys
import torch
from onmt_preorder.opennmt.memory import keep_freed_memory

print(keep_freed_memory() if sys.argv[1] == "keep" else True)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range({TURNS}):
    tensor = torch.zeros(2**24)
    del tensor
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def _faults(mode: str) -> int:
    """Return how many pages of tensors of 64 MiB, one after another, the system had to provide."""
    command = [sys.executable, "-c", FAULTS, mode]
    known, faults = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    if known == "False":
        pytest.skip("no GNU C library")
    return int(faults)


def test_freed_memory_is_not_asked_for_again() -> None:
    """One tensor in each turn needs memory once, or twice.

    torch asks for aligned blocks, for which the C library looks for a little more room than they
    take. Where a small block of something else comes to stand behind the first tensor's, the next
    tensor does not fit into the room of the first, and a second room is made; the two then do.
    """
    pages_of_one = _faults("let go") / TURNS
    assert pages_of_one > 2**26 / resource.getpagesize() / 1000  # huge pages are of 2 MiB
    assert _faults("keep") < 4 * pages_of_one


OURS = Namespace(encoder_type="preorder_transformer", decoder_type="transformer")
OUR_DECODER = Namespace(encoder_type="brnn", decoder_type="distortion_rnn")
OTHER = Namespace(encoder_type="transformer", decoder_type="transformer")


@pytest.mark.parametrize(
    ("opt", "device", "variable", "is_kept"),
    [
        (OURS, -1, None, True),
        (OUR_DECODER, -1, None, True),
        (OURS, 0, None, False),
        (OTHER, -1, None, False),
        (OTHER, -1, "1", True),
        (OTHER, -1, "0", False),
        (OTHER, 0, "1", False),
    ],
)
def test_which_trainings_keep_memory(monkeypatch, opt, device, variable, is_kept) -> None:
    kept, configured = [], []
    monkeypatch.setattr(memory, "keep_freed_memory", lambda: kept.append(True))
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    if variable is not None:
        monkeypatch.setenv(memory.VARIABLE, variable)

    memory._configure_process(lambda opt, device: configured.append(device), opt, device)

    assert kept == [True] * is_kept
    assert configured == [device]


def test_recipes_keep_memory_in_all_their_trainings() -> None:
    assert step_runner._environment(1)[memory.VARIABLE] == "1"


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())
    assert memory.keep_freed_memory() is False
