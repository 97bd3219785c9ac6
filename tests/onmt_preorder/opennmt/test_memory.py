"""Freed memory is kept in training on CPUs."""

import resource
import subprocess
import sys
from argparse import Namespace

import pytest

from onmt_preorder.opennmt import training
from recipes.pipeline import runner

TURNS, BYTES = 16, 2**27  # more than M_TOP_PAD alone would keep
FAULTS = f"""
import ctypes, resource, sys
import torch
from onmt_preorder.opennmt.training import keep_freed_memory

library = ctypes.CDLL(None)
library.prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE: how many huge pages are free depends on the machine
library.malloc.restype = ctypes.c_void_p

def make_tensor():
    torch.zeros({BYTES} // 4)

def make_block():
    block = ctypes.c_void_p(library.malloc(ctypes.c_size_t({BYTES})))
    library.memset(block, 1, ctypes.c_size_t({BYTES}))
    library.free(block)

make = {{"tensor": make_tensor, "block": make_block}}[sys.argv[2]]
print(keep_freed_memory() if sys.argv[1] == "keep" else True)
for _ in range(2):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range({TURNS}):
        make()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def _faults(mode: str, made: str) -> tuple[int, int]:
    """Return how many pages the system had to provide for tensors or blocks, made and freed one by one.

    First for some turns, then for as many more.
    """
    command = [sys.executable, "-c", FAULTS, mode, made]
    known, first, later = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    if known == "False":
        pytest.skip("no GNU C library")
    return int(first), int(later)


@pytest.mark.parametrize("made", ["block", "tensor"])
def test_freed_memory_is_not_asked_for_again(made: str) -> None:
    """Of all turns with blocks only the first needs new memory; with tensors none after some turns.

    Before, some do: a tensor is an aligned block, for which the C library looks for a little
    more room than the block itself takes. So it does not fit where another tensor was, if something small
    has come to stand just behind. Once there are two such rooms they are used by turns.
    """
    pages_of_one = _faults("let go", made)[0] / TURNS
    assert pages_of_one > BYTES / resource.getpagesize() / 1000
    first, later = _faults("keep", made)
    assert made == "tensor" or first < 1.5 * pages_of_one
    assert later < 0.5 * pages_of_one


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
    monkeypatch.setattr(training, "keep_freed_memory", lambda: kept.append(True))
    monkeypatch.delenv(training.KEEP_MEMORY, raising=False)
    if variable is not None:
        monkeypatch.setenv(training.KEEP_MEMORY, variable)

    training._configure_process(lambda opt, device: configured.append(device), opt, device)

    assert kept == [True] * is_kept
    assert configured == [device]


def test_recipes_keep_memory_in_all_their_trainings() -> None:
    assert runner._environment(1)[training.KEEP_MEMORY] == "1"


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training.ctypes, "CDLL", lambda name: object())
    assert training.keep_freed_memory() is False
