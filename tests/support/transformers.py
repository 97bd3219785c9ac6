"""Small Transformers of ours for the tests, and the papers' formulas in Python's own floats."""

import math

import pyonmttok
import torch
from onmt.model_builder import build_model

from onmt_preorder.input.positions import feature_vocabulary
from tests.support.opennmt import make_opt

SPECIALS = ["<unk>", "<blank>", "<s>", "</s>"]
WORDS = [*SPECIALS, *(f"w{i}" for i in range(20))]
FEATURES = [*SPECIALS, *feature_vocabulary()]
PAD = SPECIALS.index("<blank>")
PLAIN = {
    "preorder_encoding": [],
    "n_src_feats": 0,
    "src_feats_defaults": None,
    "decoder_type": "preorder_transformer",
}


def make_vocabs(features=FEATURES):
    words = pyonmttok.build_vocab_from_tokens(WORDS)
    return {
        "src": words,
        "tgt": words,
        "src_feats": [pyonmttok.build_vocab_from_tokens(features)],
        "data_task": "seq2seq",
    }


def make_encoder(features=FEATURES, **changes):
    torch.manual_seed(1)
    opt = make_opt(**changes)
    return build_model(opt, opt, make_vocabs(features), None, -1).encoder.eval()


def batch_of(*sentences, features=FEATURES):
    """Return ``src`` and ``src_len`` of sentences given as lists of (word, position)."""
    length = max(map(len, sentences))
    rows = [
        [[WORDS.index(word), features.index(str(position))] for word, position in sentence]
        + [[WORDS.index("<blank>"), features.index("<blank>")]] * (length - len(sentence))
        for sentence in sentences
    ]
    return torch.tensor(rows), torch.tensor([len(sentence) for sentence in sentences])


LONG = [("w1", 2), ("w2", 0), ("w3", 4), ("w4", 1), ("w5", 3), ("w6", 5)]
SHORT = [("w7", 1), ("w8", 2), ("w9", 0)]


def make_model(**changes):
    torch.manual_seed(1)
    opt = make_opt(**{**PLAIN, **changes})
    words = pyonmttok.build_vocab_from_tokens([*SPECIALS, *(f"w{i}" for i in range(20))])
    return build_model(opt, opt, {"src": words, "tgt": words, "data_task": "seq2seq"}, None, -1).eval()


def batch():
    """Return sources, their lengths and targets, of which the second are shorter."""
    generator = torch.Generator().manual_seed(2)
    src = torch.randint(4, 24, (2, 7, 1), generator=generator)
    tgt = torch.randint(4, 24, (2, 6, 1), generator=generator)
    src[1, 4:] = PAD
    tgt[1, 4:] = PAD
    return src, torch.tensor([7, 4]), tgt


def decode(model, src, src_len, tgt, **kwargs):
    enc_out, final, src_len = model.encoder(src, src_len)
    model.decoder.init_state(src, enc_out, final)
    return model.decoder(tgt, enc_out, src_len=src_len, **kwargs)


def position_encoding(position, size):
    angles = [position / 10000 ** ((k - k % 2) / size) for k in range(size)]
    return [math.cos(angle) if k % 2 else math.sin(angle) for k, angle in enumerate(angles)]


def times(matrix, vector):
    return [sum(m * x for m, x in zip(row, vector, strict=True)) for row in matrix.tolist()]


def randomise(module, seed=1):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype))
    return module
