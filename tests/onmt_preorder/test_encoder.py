"""The encoder for any program in torch: its example, encodings against naive twins, what torch does to it."""

import cmath
import math
import re
import subprocess
import sys

import pytest
import torch

from onmt_preorder import Absolute, EncoderConfig, PreorderedEncoder, Relative, Rotary
from onmt_preorder.transformer.attention import Positions
from onmt_preorder.transformer.encodings import ORIGINAL, PREORDERED
from onmt_preorder.transformer.self_attention import SelfAttention, SourceBatch
from preorder.errors import UsageError
from tests.support.running import ROOT
from tests.support.transformers import randomise, without_gradient

SIZES = {"hidden_size": 16, "heads": 2, "transformer_ff": 24, "layers": 2}
ENCODINGS = {
    "none": (),
    "absolute": (Absolute(ORIGINAL), Absolute(PREORDERED)),
    "relative": (Relative(ORIGINAL, 2), Relative(PREORDERED, 3)),
    "rotary": (Absolute(ORIGINAL), Rotary(PREORDERED)),
    "rotary original": (Rotary(ORIGINAL),),
}
EACH = pytest.mark.parametrize("encodings", ENCODINGS.values(), ids=ENCODINGS)
WORDS = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 3, 0, 0]])
POSITIONS = torch.tensor([[2, 0, 4, 1, 3], [1, 2, 0, 0, 0]])
MASK = WORDS != 0


def make(encodings, vocabulary=10, **changes):
    torch.manual_seed(1)
    return PreorderedEncoder(EncoderConfig(**{**SIZES, **changes}, encodings=encodings), vocabulary).eval()


def test_the_example_learns():
    text = (ROOT / "docs/layer.md").read_text(encoding="utf-8")
    program = re.search(r"```python\n(.*?)```", text, re.S)[1]
    assert program.count("\n") <= 30
    command = [sys.executable, "-c", "import sys; sys.modules['onmt'] = None\n" + program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    losses = [float(number) for number in re.findall(r"loss (\S+)", done.stdout)]
    assert len(losses) == 4, done.stderr
    assert losses[0] > 2.5
    assert losses[-1] < 0.5


@EACH
def test_padding_does_not_matter_and_positions_do_where_they_are_encoded(encodings):
    encoder = make(encodings)
    together = encoder(WORDS, POSITIONS, MASK)
    torch.testing.assert_close(together[1, :3], encoder(WORDS[1:, :3], POSITIONS[1:, :3])[0])
    numbers = POSITIONS * 7 + 2  # in the same order
    assert encoder(WORDS, numbers, MASK).equal(together)
    other = encoder(WORDS, POSITIONS.flip(1), MASK)
    preordered = any(encoding.order == PREORDERED for encoding in encodings)
    assert torch.allclose(other[0], together[0]) != preordered


@EACH
def test_what_torch_does_with_modules(encodings):
    encoder = make(encodings)
    states = encoder(WORDS, POSITIONS, MASK)
    copy = make(encodings)
    randomise(copy).load_state_dict(encoder.state_dict())
    assert copy(WORDS, POSITIONS, MASK).equal(states)
    torch._dynamo.reset()
    compiled = torch.compile(encoder, backend="aot_eager")
    torch.testing.assert_close(compiled(WORDS, POSITIONS, MASK)[MASK], states[MASK])
    compiled.train()
    compiled(WORDS, POSITIONS, MASK).square().cumsum(-1).sum().backward()
    assert not without_gradient(encoder, "linear_keys.bias")
    encoder.eval().bfloat16()
    low = encoder(WORDS, POSITIONS, MASK)
    assert low.dtype == torch.bfloat16
    torch.testing.assert_close(low.float()[MASK], states[MASK], atol=0.15, rtol=0.05)


@pytest.mark.parametrize("order", [ORIGINAL, PREORDERED])
def test_rotary_attention_pair_by_pair(order):
    """Su et al. 2021: pairs of numbers are complex numbers, which the position turns."""
    config = EncoderConfig(hidden_size=8, heads=2, transformer_ff=8, encodings=(Rotary(order),))
    attention = randomise(SelfAttention(config).double()).eval()
    states = torch.randn(1, 5, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    preordered = [2, 0, 4, 1, 3]
    positions = Positions(torch.arange(5)[None]), Positions(torch.tensor([preordered]))
    source = SourceBatch(torch.zeros(1, 5, dtype=torch.bool), torch.tensor([5]), *positions)
    result = attention(states, source)[0]
    query, key, value = (
        linear(states[0]).view(5, 2, 4).tolist()
        for linear in (attention.linear_query, attention.linear_keys, attention.linear_values)
    )
    places = preordered if order == PREORDERED else range(5)

    def turned(vector, position):
        return [
            complex(*vector[2 * q : 2 * q + 2]) * cmath.exp(1j * position / 10000 ** (2 * q / 4))
            for q in (0, 1)
        ]

    for i in range(5):
        heads = []
        for head in range(2):
            one = turned(query[i][head], places[i])
            others = [turned(key[j][head], places[j]) for j in range(5)]
            scores = [sum((a * b.conjugate()).real for a, b in zip(one, o, strict=True)) for o in others]
            weights = torch.tensor([score / math.sqrt(4) for score in scores]).softmax(0).double()
            heads.append(weights @ torch.tensor([value[j][head] for j in range(5)], dtype=torch.float64))
        expected = attention.final_linear(torch.cat(heads))
        torch.testing.assert_close(result[i], expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("encoding", [Absolute, Relative, Rotary])
def test_preordered_positions_are_those_of_the_reordered_text(encoding):
    """What a token knows by positions in an order, it knows if the text stands in that order."""
    by_position, by_text = make((encoding(PREORDERED),)), make((encoding(ORIGINAL),))
    names = (
        (name.replace("preordered", "original"), value) for name, value in by_position.state_dict().items()
    )
    by_text.load_state_dict(dict(names))
    order = POSITIONS[:1].argsort(1)
    reordered = by_text(WORDS[:1].gather(1, order))
    torch.testing.assert_close(by_position(WORDS[:1], POSITIONS[:1])[0, order[0]], reordered[0])


def test_checkpoints_keep_the_tables_of_keys_apart_from_those_of_values():
    tables = Relative(ORIGINAL, 2).tables(4)
    (part,) = Relative(ORIGINAL, 2).parts(tables, Positions(POSITIONS[:1]))
    assert part.keys is tables.keys.weight
    assert part.values is tables.values.weight


def test_vectors_in_place_of_ids():
    encoder, vectors = make(ENCODINGS["relative"], None), torch.randn(2, 5, 16)
    assert encoder(vectors, POSITIONS, MASK).shape == vectors.shape
    assert "embeddings.weight" not in encoder.state_dict()


def test_what_is_refused():
    encoder = make(ENCODINGS["rotary"])
    with pytest.raises(ValueError, match="need preordered positions"):
        encoder(WORDS)
    with pytest.raises(ValueError, match="padding comes before a token"):
        encoder(WORDS, POSITIONS, MASK.flip(1))
    for wrong, message in (
        ({"heads": 3}, "hidden_size 16 is not a multiple of heads 3"),
        ({"heads": 16}, "heads of an even size, not 1"),
    ):
        with pytest.raises(UsageError, match=message):
            make((Rotary(),), **wrong)
    for other in (Rotary(ORIGINAL), Relative(ORIGINAL)):
        with pytest.raises(UsageError, match="neither relative nor other rotary"):
            make((Rotary(), other))
