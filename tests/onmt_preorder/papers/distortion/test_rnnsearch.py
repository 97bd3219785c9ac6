"""The distortion models against a twin that goes by the paper's equations, a place at a time."""

import pytest
import torch
from torch.autograd import gradcheck
from torch.nn.functional import pad

from onmt_preorder.papers.distortion.attention import mix, start
from onmt_preorder.papers.distortion.rnnsearch import gru
from tests.support.distortion_models import CONTEXTS, make_batch, make_model

JUMPING = CONTEXTS[1:]


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
    decoder, options = model.decoder, model.decoder.options
    window, weight = options.window, options.weight
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
        if options.context != "none":
            probabilities = decoder.jumps(contexts[options.context]).softmax(0)
            jumps.append(probabilities)
            expected = torch.zeros_like(attention)
            for k, probability in zip(range(window, -window - 1, -1), probabilities, strict=True):
                shifted = first_shift(len(h), k) if alpha is None else shift(alpha, k)
                for j in range(len(h)):
                    expected[j] = expected[j] + probability * shifted[j]
            attention = weight * expected + (1 - weight) * attention
            if options.renormalise:
                attention = attention / attention.sum()
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
        {"distortion_window": 1, "distortion_lambda": 0.25, "distortion_renormalise": True},
        {"distortion_window": 9, "distortion_lambda": 1.0},
        {"distortion_lambda": 0.0},
        {"encoder_type": "preorder_transformer", "hidden_size": 8, "word_vec_size": 8},
    ],
    ids=["paper", "renormalised", "all jumps", "no jumps", "transformer"],
)
def test_a_padded_batch_is_what_the_equations_say(context, changes):
    model = make_model(distortion=context, **changes)
    src, tgt, lengths = make_batch()
    output, attention = model(src, torch.cat((tgt, tgt[:, :1]), 1), lengths)
    for i, length in enumerate(lengths):
        expected_output, expected_attention, _ = twin(model, src[i, :length], tgt[i])
        torch.testing.assert_close(output[i], expected_output)
        torch.testing.assert_close(attention["std"][i, :, :length], expected_attention)
        assert not attention["std"][i, :, length:].any()
        assert attention["align"] is attention["std"]


@pytest.mark.parametrize("context", JUMPING)
def test_the_jumps_of_each_word(context):
    model = make_model(distortion=context)
    src, tgt, lengths = make_batch()
    states, final, _ = model.encoder(src, lengths)
    model.decoder.init_state(src, states, final)
    jumps, attention = model.decoder.jump_probabilities(tgt, states, lengths)
    for i, length in enumerate(lengths):
        _, expected_attention, expected = twin(model, src[i, :length], tgt[i])
        torch.testing.assert_close(jumps[i], torch.stack(expected))
        torch.testing.assert_close(attention[i, :, :length], expected_attention)


def test_lambda_of_zero_and_no_jumps_are_the_same():
    with_jumps, without = make_model(distortion="hidden", distortion_lambda=0.0), make_model()
    state = with_jumps.state_dict()
    assert without.decoder.load_state_dict(
        {name[8:]: value for name, value in state.items() if name.startswith("decoder.")}, strict=False
    ).unexpected_keys == ["jumps.weight", "jumps.bias"]
    without.encoder.load_state_dict(with_jumps.encoder.state_dict())
    src, tgt, lengths = make_batch()
    torch.testing.assert_close(with_jumps(src, tgt, lengths)[0], without(src, tgt, lengths)[0])


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


@pytest.mark.parametrize("context", CONTEXTS)
def test_gradients(context):
    model = make_model(distortion=context, hidden_size=3, word_vec_size=2, distortion_window=2)
    src, tgt, lengths = make_batch((4, 2), words=3)
    names, parameters = zip(*model.decoder.named_parameters(), strict=True)
    enc_out, final, _ = (x.detach() for x in model.encoder(src, lengths))

    def decode(enc_out, final, *values):
        named = dict(zip((f"decoder.{name}" for name in names), values, strict=True))
        return torch.func.functional_call(_Decode(model.decoder), named, (src, tgt, enc_out, final, lengths))

    inputs = [x.clone().requires_grad_() for x in (enc_out, final, *(p.detach() for p in parameters))]
    assert gradcheck(decode, inputs)


class _Decode(torch.nn.Module):
    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder

    def forward(self, src, tgt, enc_out, final, lengths):
        self.decoder.init_state(src, enc_out, final)
        return self.decoder(tgt, enc_out, lengths)[0]


@pytest.mark.parametrize("context", CONTEXTS)
def test_every_parameter_gets_a_gradient(context):
    model = make_model(distortion=context)
    src, tgt, lengths = make_batch()
    model.generator(model(src, tgt, lengths)[0]).square().sum().backward()
    assert not [name for name, parameter in model.named_parameters() if not parameter.grad.any()]


@pytest.mark.parametrize("window", [1, 3, 8])
def test_shifting(window):
    """One distance at a time: what leaves the sentence is lost, what was never there does not come."""
    length = 5
    attention = torch.rand(2, length, dtype=torch.float64)
    nothing, mask = torch.zeros_like(attention), torch.ones_like(attention)
    for index, k in enumerate(range(window, -window - 1, -1)):
        jumps = torch.zeros(2, 2 * window + 1, dtype=torch.float64)
        jumps[:, index] = 1
        shifted = mix(nothing, pad(attention, (window, window)), jumps, 1.0, mask, renormalise=False)
        assert shifted.tolist() == [shift(row, k) for row in attention.tolist()]
        begun = mix(nothing, start(attention, length, window), jumps, 1.0, mask, renormalise=False)
        assert begun.tolist() == [first_shift(length, k)] * 2


def test_mass_that_reaches_padding_does_not_come_back():
    mask = torch.tensor([[1.0, 1.0, 0.0, 0.0]])
    forward, back = torch.eye(3)[0:1], torch.eye(3)[2:3]  # distances 1, 0, -1
    attention = torch.tensor([[0.25, 0.75, 0.0, 0.0]])
    once = mix(torch.zeros(1, 4), pad(attention, (1, 1)), forward, 1.0, mask, renormalise=False)
    assert once.tolist() == [[0.0, 0.25, 0.0, 0.0]]
    again = mix(torch.zeros(1, 4), pad(once, (1, 1)), back, 1.0, mask, renormalise=False)
    assert again.tolist() == [[0.25, 0.0, 0.0, 0.0]]


def test_renormalisation():
    jumps = torch.full((1, 3), 1 / 3)
    previous = pad(torch.tensor([[0.0, 0.0, 1.0]]), (1, 1))
    content, mask = torch.tensor([[0.5, 0.25, 0.25]]), torch.ones(1, 3)
    lost = mix(content, previous, jumps, 0.5, mask, renormalise=False)
    assert lost.sum().item() == pytest.approx(5 / 6)
    kept = mix(content, previous, jumps, 0.5, mask, renormalise=True)
    torch.testing.assert_close(kept, lost / (5 / 6))
    nowhere = mix(content, torch.zeros(1, 5), jumps, 1.0, mask, renormalise=True)
    assert nowhere.tolist() == [[0.0, 0.0, 0.0]]


def test_the_encoder_gives_the_backward_state_of_the_first_word():
    encoder = make_model(enc_layers=2, layers=-1, dec_layers=1).encoder
    src, _, lengths = make_batch()
    states, final, _ = encoder(src, lengths)
    assert states.shape == (3, 7, 12)
    assert final.equal(states[:, 0, 6:])
    assert not states[2, 2:].any()


def test_the_gated_step_is_that_of_torch():
    cell = torch.nn.GRUCell(4, 3)
    inputs, hidden = torch.randn(5, 4), torch.randn(5, 3)
    products = (
        inputs @ cell.weight_ih.T + cell.bias_ih,
        hidden @ cell.weight_hh.T + cell.bias_hh,
    )
    torch.testing.assert_close(gru(*products, hidden), cell(inputs, hidden))


def test_dropout_is_on_the_output_alone():
    model = make_model(distortion="source", dropout=[0.5]).train()
    src, tgt, lengths = make_batch()
    outputs = [model(src, tgt, lengths) for _ in range(2)]
    assert outputs[0][1]["std"].equal(outputs[1][1]["std"])
    zeros = (outputs[0][0] == 0).double().mean().item()
    assert 0.3 < zeros < 0.7
    model.update_dropout(0.0, 0.0)
    assert model(src, tgt, lengths)[0].equal(model.eval()(src, tgt, lengths)[0])


def test_detached_state_carries_no_gradient():
    model = make_model(distortion="hidden")
    src, tgt, lengths = make_batch()
    model(src, tgt, lengths)
    model.decoder.detach_state()
    assert {"hidden", "attention", "logits"} == model.decoder.state.keys()
    assert not any(tensor.requires_grad for tensor in model.decoder.state.values())


@pytest.mark.parametrize("context", JUMPING)
def test_half_precision(context):
    model = make_model(distortion=context, hidden_size=16, word_vec_size=16).float()
    batch = make_batch()
    exact = model(*batch)[0]
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(model(*batch)[0].float(), exact, atol=0.15, rtol=0.1)
    torch.testing.assert_close(model.half()(*batch)[0].float(), exact, atol=0.05, rtol=0.02)
