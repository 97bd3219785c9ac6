"""Losses that parts of a model add, inside OpenNMT-py's own training loop; memory that is kept on CPUs."""

import subprocess
import sys
from argparse import Namespace

import pytest
import torch
from onmt.utils.loss import LossCompute
from onmt.utils.optimizers import Optimizer

from onmt_preorder.opennmt import training
from tests.support.opennmt import make_opt
from tests.support.transformers import FEATURES, LONG, PAD, PLAIN, SHORT, batch_of, make_model, make_vocabs

EXPLICIT = {**PLAIN, "n_src_feats": 1, "src_feats_defaults": "0", "explicit_reordering": "exgre"}


def test_the_loss_of_a_part_is_added_and_the_perplexity_is_not_changed():
    model, opt = make_model(FEATURES, **EXPLICIT), make_opt(**EXPLICIT)
    compute = LossCompute.from_opts(opt, model, make_vocabs()["tgt"])
    src, src_len = batch_of(LONG, SHORT)
    batch = {"tgt": torch.tensor([[2, 4, 5, 3], [2, 6, 3, PAD]]).unsqueeze(2), "srclen": src_len}
    output, attention = model(src, batch["tgt"], src_len)
    added = model.encoder.additional_loss()  # which is told once
    alone, statistics_alone = compute(batch, output, attention)
    loss, statistics = compute(batch, *model(src, batch["tgt"], src_len))
    assert added < 0
    torch.testing.assert_close(loss, alone + added)
    assert statistics.ppl() == statistics_alone.ppl()


def test_gradients_of_groups_with_their_own_rates_are_clipped_together():
    first, second = parameters = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    descent = torch.optim.SGD(parameters, lr=1.0)
    training._multiply_rate(descent, [second], 10)
    optimizer = Optimizer(descent, 1.0, max_grad_norm=1.0)
    first.grad, second.grad = torch.tensor([3.0]), torch.tensor([-4.0])
    optimizer.step()
    torch.testing.assert_close(torch.cat(parameters), torch.tensor([-0.6, 8.0]))


KEEPING = """
import resource, torch
from onmt_preorder.opennmt.training import keep_freed_memory

is_known = keep_freed_memory()
for _ in range(9):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.zeros(2**25)
print(is_known, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def test_freed_memory_is_not_asked_for_again():
    """A tensor of 128 MB takes 32,768 pages of the system anew, or 64 huge ones."""
    command = [sys.executable, "-W", "ignore", "-c", KEEPING]
    is_known, faults = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert is_known == "False" or int(faults) < 16  # where the C library is GNU's


OURS = Namespace(encoder_type="preorder_transformer", decoder_type="transformer")
OTHER = Namespace(encoder_type="transformer", decoder_type="transformer")


@pytest.mark.parametrize(
    ("opt", "device", "variable", "is_kept"),
    [(OURS, -1, None, True), (OURS, 0, None, False), (OTHER, -1, None, False), (OTHER, -1, "1", True)],
)
def test_which_trainings_keep_memory(monkeypatch, opt, device, variable, is_kept):
    kept = []
    monkeypatch.setattr(training, "keep_freed_memory", lambda: kept.append(True))
    monkeypatch.delenv(training.KEEP_MEMORY, raising=False)
    if variable is not None:
        monkeypatch.setenv(training.KEEP_MEMORY, variable)
    assert training._configure_process(lambda opt, device: device, opt, device) == device
    assert kept == [True] * is_kept
