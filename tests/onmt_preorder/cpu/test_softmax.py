"""The compiled softmax and its gradient are torch's in double precision."""

import subprocess
import sys

import pytest
import torch

from onmt_preorder.cpu.softmax import is_compiled, log_probabilities, replace_by_gradient
from tests.support.running import environment

TYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])


def drawn(dtype, tokens=11, words=37, spread=3.0):
    """Return logits, words with repetitions, and weights, some of them 0."""
    torch.manual_seed(1)
    logits = (spread * torch.randn(tokens, words)).to(dtype)
    weights = torch.rand(tokens, 3)
    weights[2] = 0
    return logits, torch.randint(0, 5, (tokens, 3)), weights


PROGRAM = """
import hashlib, torch
from onmt_preorder.cpu.softmax import log_probabilities, replace_by_gradient
torch.manual_seed(1)
torch.set_num_threads(1)
for size in (64, 3001):
    logits, words = torch.randn(9, size), torch.randint(size, (9, 1))
    found = log_probabilities(logits, words)
    sums = replace_by_gradient(logits, words, torch.ones(9, 1), 0.1, True)
    for tensor in (found, logits, sums.gradient):
        print(hashlib.sha256(tensor.numpy()).hexdigest())
    print(sums.loss, sums.right)
"""


@pytest.mark.slow
def test_the_process_that_compiles_finds_what_all_later_ones_find(tmp_path):
    command = [sys.executable, "-c", PROGRAM]
    settings = {"cwd": tmp_path, "env": environment(NUMBA_CACHE_DIR=str(tmp_path))}
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=True, **settings) for _ in range(2)
    )
    assert ("compiling" in first.stderr, "compiling" in second.stderr) == (True, False)
    assert first.stdout == second.stdout


def expected(logits, words, weights, smoothing):
    """Return the loss and the gradient of the logits."""
    exact = logits.double().requires_grad_()
    scores = exact.log_softmax(1)
    loss = -(weights * scores.gather(1, words)).sum() - smoothing * scores.mean(1).sum()
    loss.backward()
    return loss.item(), exact.grad


@TYPES
@pytest.mark.parametrize("spread", [0.0, 3.0, 300.0])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize(("tokens", "words"), [(11, 37), (1, 8), (3, 5), (0, 9)])
def test_log_probabilities_loss_and_gradient(dtype, spread, smoothing, tokens, words):
    logits, targets, weights = drawn(dtype, max(tokens, 3), words, spread=spread)
    logits, targets, weights = logits[:tokens], targets[:tokens], weights[:tokens]
    scores = logits.double().log_softmax(1).gather(1, targets).float()
    torch.testing.assert_close(log_probabilities(logits, targets), scores)
    loss, gradient = expected(logits, targets, weights, smoothing)
    rounded = logits.clone()
    sums = replace_by_gradient(rounded, targets, weights, smoothing, gradient=True)
    assert sums.loss == pytest.approx(loss, rel=1e-6, abs=1e-6)
    torch.testing.assert_close(sums.gradient.double(), gradient.sum(0), rtol=1e-5, atol=1e-5)
    rounding = 1e-5 if dtype == torch.float32 else 2**-8
    torch.testing.assert_close(rounded.double(), gradient, rtol=rounding, atol=1e-6)
    before = logits.clone()
    assert replace_by_gradient(logits, targets, weights, smoothing, gradient=False)[:2] == sums[:2]
    assert torch.equal(logits, before)


def test_rounds_to_the_nearest_number_of_bfloat16():
    logits, words, weights = drawn(torch.bfloat16, 50, 400)
    exact, rounded = logits.float(), logits.clone()
    for tensor in (exact, rounded):
        replace_by_gradient(tensor, words, weights, 0.1, gradient=True)
    assert torch.equal(exact.to(torch.bfloat16), rounded)


@TYPES
def test_the_first_of_the_highest_is_right(dtype):
    logits = torch.tensor(
        [[1.0, 2.0, 2.0], [1.0, 2.0, 2.0], [-3.0, -1.0, -2.0], [-1.0, -1.0, -2.0]], dtype=dtype
    )
    words = torch.tensor([[1], [2], [1], [1]])
    assert replace_by_gradient(logits, words, torch.ones(4, 1), 0.0, gradient=False).right == 2


@TYPES
def test_what_is_no_number_or_impossible_stays_so(dtype):
    logits, words, weights = drawn(dtype)
    logits[1, 20], logits[3, words[3, 0]] = torch.nan, -torch.inf
    found = log_probabilities(logits, words)
    assert found[1].isnan().all()
    assert found[2].isfinite().all()
    assert found[3, 0] == -torch.inf
    assert found[3].exp().isfinite().all()
    assert torch.tensor(replace_by_gradient(logits, words, weights, 0.0, gradient=True).loss).isnan()


@TYPES
@pytest.mark.parametrize("threads", [2, 3, 20])
def test_threads_change_nothing(dtype, threads, monkeypatch):
    logits, words, weights = drawn(dtype)
    alone, shared = logits.clone(), logits.clone()
    sums = replace_by_gradient(alone, words, weights, 0.1, gradient=True)
    scores = log_probabilities(logits, words)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    assert torch.equal(log_probabilities(logits, words), scores)
    found = replace_by_gradient(shared, words, weights, 0.1, gradient=True)
    assert torch.equal(shared, alone)
    assert (found.loss, found.right) == (pytest.approx(sums.loss), sums.right)
    torch.testing.assert_close(found.gradient, sums.gradient)


def test_other_types_are_left_to_torch():
    assert is_compiled(torch.zeros(1))
    assert is_compiled(torch.zeros(1, dtype=torch.bfloat16))
    assert not is_compiled(torch.zeros(1, dtype=torch.double))
    assert not is_compiled(torch.zeros(1, device="meta"))
