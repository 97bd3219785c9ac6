"""Freed memory is kept in training on CPUs."""

import resource
import subprocess
import sys
from argparse import Namespace

import pytest

from onmt_preorder.opennmt import memory

FAULTS = """
import resource, sys
import torch
from onmt_preorder.opennmt.memory import keep_freed

print(keep_freed() if sys.argv[1] == "keep" else True)
for turn in range(11):
    tensor = torch.zeros(2**24)
    del tensor
    if not turn:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def _faults(mode: str) -> int:
    """Return how many pages of ten tensors of 64 MiB, one after another, the system had to provide."""
    command = [sys.executable, "-c", FAULTS, mode]
    known, faults = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    if known == "False":
        pytest.skip("no GNU C library")
    return int(faults)


def test_freed_memory_is_not_asked_for_again() -> None:
    pages = 10 * 2**26 // resource.getpagesize()
    assert _faults("let go") > pages / 1000  # of 2 MiB each where pages can be huge
    assert _faults("keep") < 10


def test_only_training_on_cpus_keeps_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, configured = [], []
    monkeypatch.setattr(memory, "keep_freed", lambda: kept.append(True))

    for device in (-1, 0):
        memory._configure_process(lambda opt, device: configured.append(device), Namespace(), device)

    assert kept == [True]
    assert configured == [-1, 0]


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())
    assert memory.keep_freed() is False
