"""How the distortion models are checked, initialised, warmed up and optimised."""

import copy

import pytest
import torch
from onmt.utils.optimizers import Optimizer

from preorder.errors import UsageError
from tests.support.distortion_models import CONTEXTS, DISTORTION, build, make_batch
from tests.support.opennmt import make_opt, rates_of_change

HYBRID = {"encoder_type": "preorder_transformer", "hidden_size": 8, "word_vec_size": 8}
SGD = {"optim": "sgd", "learning_rate": 0.1, "max_grad_norm": 0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoder_type": "brnn"}, "distortion_rnn needs encoder_type: .*, not brnn"),
        ({"layers": 2}, "has one layer: dec_layers: 1, not 2"),
        (
            {"distortion_rate_factor": 3, "optim": "sparseadam"},
            "distortion_rate_factor does not work with opt",
        ),
        ({"copy_attn": True}, "copy_attn does not work with decoder_type: distortion_rnn"),
        (
            {**HYBRID, "distortion_source_end": True},
            "distortion_source_end needs encoder_type: bidirectional_gru, not preorder_transformer",
        ),
        ({"share_decoder_embeddings": True}, "needs word_vec_size 5 to be hidden_size 6"),
        (
            {"distortion": "hidden", "decoder_type": "rnn"},
            "distortion: hidden needs decoder_type: distortion_rnn",
        ),
        ({"decoder_type": "rnn"}, "bidirectional_gru needs decoder_type: distortion_rnn"),
    ],
)
def test_what_cannot_be(changes, message):
    with pytest.raises(UsageError, match=message):
        make_opt(**{**DISTORTION, **changes})


def test_the_papers_initialisation():
    model = build(hidden_size=64, word_vec_size=50, distortion="source", param_init=0.01)
    square, others = [], []
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            assert not parameter.any(), name
            continue
        is_gru = any(part in name for part in ("rnn.", "before.", "after."))
        for matrix in parameter.chunk(3 if is_gru else 1):
            (square if matrix.size(0) == matrix.size(1) else others).append(matrix)
    # Two directions' recurrences, those of f1 and f2, attention's query, the initial state.
    assert len(square) == 3 * 4 + 2
    for matrix in square:
        torch.testing.assert_close(matrix @ matrix.T, torch.eye(64), atol=1e-5, rtol=0)
    values = torch.cat([matrix.flatten() for matrix in others])
    assert values.mean().item() == pytest.approx(0, abs=1e-4)
    assert values.std().item() == pytest.approx(0.01, rel=0.02)


def checkpoint_of(model, **changes):
    state = copy.deepcopy(model.state_dict())
    return {
        "model": {name: p for name, p in state.items() if not name.startswith("generator")},
        "generator": copy.deepcopy(model.generator.state_dict()),
        "opt": make_opt(**{**DISTORTION, **changes}),
        "vocab": None,
    }


@pytest.mark.parametrize("context", CONTEXTS[1:])
def test_a_trained_rnnsearch_gets_jumps(context):
    trained = build(seed=5)
    given = {"distortion": context, "distortion_window": 2}
    warm = build(seed=6, checkpoint=checkpoint_of(trained), reset_optim="all", **given)
    parameters = dict(warm.named_parameters())
    for name, parameter in trained.named_parameters():
        assert parameters.pop(name).equal(parameter), name
    assert parameters.keys() == {"decoder.jumps.weight", "decoder.jumps.bias"}
    assert len(parameters["decoder.jumps.weight"]) == 5
    assert parameters["decoder.jumps.weight"].any()
    assert not parameters["decoder.jumps.bias"].any()
    warm(*make_batch())[0].sum().backward()
    assert warm.decoder.jumps.weight.grad.any()
    again = build(seed=2, checkpoint=checkpoint_of(warm, **given), **given)
    assert again.decoder.jumps.weight.equal(warm.decoder.jumps.weight)


@pytest.mark.parametrize(
    ("trained", "wanted", "message"),
    [
        ("none", {"distortion": "hidden"}, "the optimizer must begin anew, reset_optim: all"),
        (None, {"distortion": "hidden", "reset_optim": "all"}, "cannot be added to a model in safetensors"),
        ("target", {"distortion": "hidden"}, "distortion_window: 3, which cannot become hidden, 3"),
        ("target", {"distortion": "none"}, "has distortion: target, .* cannot become none, 3"),
        ("target", {"distortion": "target", "distortion_window": 5}, "cannot become target, 5"),
    ],
)
def test_jumps_that_cannot_be_added_or_changed(trained, wanted, message):
    changes = {"distortion": trained or "none"}
    checkpoint = checkpoint_of(build(**changes), **changes)
    if trained is None:
        del checkpoint["model"]
    with pytest.raises(UsageError, match=message):
        build(checkpoint=checkpoint, **wanted)


@pytest.mark.parametrize(("resumed", "learns"), [(False, True), (True, True), (False, False)])
def test_jumps_and_gates_each_learn_at_a_multiple_of_the_rate(resumed, learns):
    settings = {**SGD, "distortion": "target", "distortion_rate_factor": 3}
    settings |= {"local_reordering_window": 3, "local_reordering_rate_factor": 0.5}
    settings |= {"learning_rate_decay": 0.5, "start_decay_steps": 2, "decay_steps": 1}
    opt, model = make_opt(**{**DISTORTION, **settings}), build(**settings)
    model.encoder.embeddings.local_reordering.weight.requires_grad_(learns)  # else it is frozen
    optimizer = Optimizer.from_opt(model, opt)
    if resumed:
        checkpoint = {"opt": opt, "optim": optimizer.state_dict()}
        opt.reset_optim, opt.train_from = "none", "model.pt"
        optimizer = Optimizer.from_opt(model, opt, checkpoint)
    for rate in (0.1, 0.05, 0.025):
        moved = rates_of_change(optimizer, model)
        rates = {name: 3 * rate if ".jumps." in name else rate for name in moved}
        rates["encoder.embeddings.local_reordering.weight"] = 0.5 * rate * learns
        assert moved == pytest.approx(rates, rel=1e-3)
