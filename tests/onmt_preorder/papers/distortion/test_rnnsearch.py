"""The distortion models against a twin that goes by the paper's equations; how they begin and learn."""

import copy

import pytest
import torch
from onmt.utils.optimizers import Optimizer

from preorder.errors import UsageError
from tests.support.distortion_models import CONTEXTS, DISTORTION, build, make_batch, make_model
from tests.support.opennmt import make_opt, rates_of_change
from tests.support.transformers import LONG, SHORT, SPECIALS, batch_of, position_encoding, without_gradient


def shift(attention, k):
    """Eq. 9: Γ(α, k), on a list."""
    if k < 0:
        return (attention[-k:] + [0.0] * -k)[: len(attention)]
    return ([0.0] * k + attention)[: len(attention)]


def first_shift(length, k):
    """Γ(α_0, k): all of α_0 stands on the place before the first word."""
    return [1.0 if k >= 1 and j == k - 1 else 0.0 for j in range(length)]


def twin(model, src, tgt):
    """Return output, attention and P(k), if any, of one sentence without padding, ``(words, …)``."""
    decoder = model.decoder
    window, weight, kind = decoder.window, decoder.weight, decoder.context
    h, final, _ = model.encoder(src.unsqueeze(0), torch.tensor([len(src)]))
    h = h[0]
    s = torch.tanh(decoder.initial(final[0]))
    contexts = {"source": torch.zeros_like(h[0]), "hidden": s}
    alpha, outputs, attentions, jumps = None, [], [], []
    for y in tgt:
        word = decoder.embeddings(y.view(1, 1, 1))[0, 0]
        contexts["target"] = word
        between = decoder.before(word, s)
        energies = [
            decoder.attention.score(
                torch.tanh(decoder.attention.query(between) + decoder.attention.keys(h[j]))
            )
            for j in range(len(h))
        ]
        attention = torch.cat(energies).softmax(0)
        if kind != "none":
            probabilities = decoder.jumps(contexts[kind]).softmax(0)
            jumps.append(probabilities)
            expected = torch.zeros_like(attention)
            for k, probability in zip(range(window, -window - 1, -1), probabilities, strict=True):
                shifted = first_shift(len(h), k) if alpha is None else shift(alpha, k)
                for j in range(len(h)):
                    expected[j] = expected[j] + probability * shifted[j]
            attention = weight * expected + (1 - weight) * attention
        alpha = list(attention)
        context = sum(attention[j] * h[j] for j in range(len(h)))
        contexts["source"], contexts["hidden"] = context, between
        s = decoder.after(context, between)
        outputs.append(torch.tanh(decoder.readout(torch.cat((s, word, context)))))
        attentions.append(attention)
    return torch.stack(outputs), torch.stack(attentions), jumps


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"distortion_window": 1, "distortion_lambda": 0.25},
        {"distortion_window": 9, "distortion_lambda": 1.0},
        {"distortion_lambda": 0.0},
        {"encoder_type": "preorder_transformer", "hidden_size": 8, "word_vec_size": 8},
    ],
    ids=["paper", "others", "all jumps", "no jumps", "transformer"],
)
def test_a_padded_batch_is_what_the_equations_say(context, changes):
    model = make_model(distortion=context, **changes)
    src, tgt, lengths = make_batch()
    output, attention = model(src, torch.cat((tgt, tgt[:, :1]), 1), lengths)
    assert attention["align"] is attention["std"]
    if context != "none":
        states, final, src_len = model.encoder(src, lengths)
        model.decoder.init_state(src, states, final)
        jumps, again = model.decoder.jump_probabilities(tgt, states, src_len)
        torch.testing.assert_close(again, attention["std"])
    for i, length in enumerate(lengths):
        expected_output, expected_attention, expected_jumps = twin(model, src[i, :length], tgt[i])
        torch.testing.assert_close(output[i], expected_output)
        torch.testing.assert_close(attention["std"][i, :, :length], expected_attention)
        assert not attention["std"][i, :, length:].any()
        if context != "none":
            torch.testing.assert_close(jumps[i], torch.stack(expected_jumps))


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_word_at_a_time_is_all_at_once(context):
    model = make_model(distortion=context)
    src, tgt, lengths = make_batch()
    expected, attention = model(src, torch.cat((tgt, tgt[:, :1]), 1), lengths)
    enc_out, final, _ = model.encoder(src, lengths)
    order = torch.arange(3)
    model.decoder.init_state(src, enc_out, final)
    for step in range(tgt.size(1)):
        output, weights = model.decoder(tgt[order, step : step + 1], enc_out, lengths, step=step)
        torch.testing.assert_close(output[:, 0], expected[order, step])
        torch.testing.assert_close(weights["std"][:, 0], attention["std"][order, step])
        if step == 2:  # as beam search does when it reorders, repeats and drops
            order = torch.tensor([2, 0, 0])
            enc_out, lengths = enc_out[order], lengths[order]
            model.decoder.map_state(lambda state, dim: state.index_select(dim, torch.tensor([2, 0, 0])))
    model.decoder.detach_state()
    assert not any(tensor.requires_grad for tensor in model.decoder.state.values())


def encoder_twin(encoder, words, positions):
    """Return the states of one sentence, ``(tokens, 2 size)``: a GRU for each order, joined word by word."""
    size = encoder.embeddings.embedding_size
    embedded = encoder.embeddings(words.view(1, -1, 1))[0]
    if encoder.absolute:
        told = [[x / size**0.5 for x in position_encoding(place, size)] for place in positions]
        embedded = embedded + torch.tensor(told, dtype=embedded.dtype)
    states, final = encoder.rnn(embedded.unsqueeze(0))
    if encoder.recurrent:
        inverse = [positions.index(rank) for rank in range(len(positions))]
        second = encoder.preordered_rnn(embedded[inverse].unsqueeze(0))[0][0]
        pairs = [torch.cat((states[0, i], second[place])) for i, place in enumerate(positions)]
        return encoder.join(torch.stack(pairs)), final[-1, 0]
    return states[0], final[-1, 0]


@pytest.mark.parametrize("has_end", [False, True])
@pytest.mark.parametrize("kinds", [[], ["recurrent"], ["absolute"], ["absolute", "recurrent"]])
def test_the_encoder_reads_words_in_preordered_order_too(kinds, has_end):
    features = {"n_src_feats": len(kinds) and 1, "distortion_source_end": has_end}
    features |= {"layers": -1, "enc_layers": 1 + has_end, "dec_layers": 1}
    encoder = make_model(preorder_encoding=kinds, **features).encoder
    sentences = [LONG, SHORT, [("w7", 0)], [(word, "_") for word, _ in SHORT]]
    src, lengths = batch_of(*sentences)
    before = src.clone()
    states, final, found_lengths = encoder(src, lengths)
    assert src.equal(before)
    for i, (sentence, length) in enumerate(zip(sentences, lengths.tolist(), strict=True)):
        words = src[i, :length, 0]
        positions = [place if place != "_" else j for j, (_, place) in enumerate(sentence)]
        if has_end:
            words = torch.cat((words, torch.tensor([SPECIALS.index("</s>")])))
            positions.append(length)
        expected, expected_final = encoder_twin(encoder, words, positions)
        assert found_lengths[i] == len(words)
        torch.testing.assert_close(states[i, : len(words)], expected)
        torch.testing.assert_close(final[i], expected_final)
        assert not states[i, len(words) :].any()
    states.sum().backward()
    assert not without_gradient(encoder)


def test_dropout_is_on_the_output_alone():
    model = make_model(distortion="source", dropout=[0.5]).train()
    src, tgt, lengths = make_batch()
    outputs = [model(src, tgt, lengths) for _ in range(2)]
    assert outputs[0][1]["std"].equal(outputs[1][1]["std"])
    zeros = (outputs[0][0] == 0).double().mean().item()
    assert 0.3 < zeros < 0.7
    model.update_dropout(0.0, 0.0)
    assert model(src, tgt, lengths)[0].equal(model.eval()(src, tgt, lengths)[0])


# --- training ---

SGD = {"optim": "sgd", "learning_rate": 0.1, "max_grad_norm": 0}


def test_norms_of_a_transformer_begin_as_norms():
    model = build(hidden_size=8, word_vec_size=8, encoder_type="preorder_transformer", param_init=0.1)
    norms = [module for module in model.modules() if isinstance(module, torch.nn.LayerNorm)]
    assert norms
    for norm in norms:
        assert (norm.weight == 1).all()
        assert not norm.bias.any()


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
