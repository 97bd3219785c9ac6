"""Small models for the tests, and the papers' formulas in Python's own floats."""

import math

import pyonmttok
import torch
from onmt.model_builder import build_model
from onmt.utils.loss import LossCompute

from onmt_preorder import register
from onmt_preorder.input.positions import feature_vocabulary
from tests.support.opennmt import make_opt

register()

SPECIALS = ["<unk>", "<blank>", "<s>", "</s>"]
WORDS = [*SPECIALS, *(f"w{i}" for i in range(20))]
FEATURES = [*SPECIALS, *feature_vocabulary()]
PAD, BEGIN = SPECIALS.index("<blank>"), SPECIALS.index("<s>")
LONG = [("w1", 2), ("w2", 0), ("w3", 4), ("w4", 1), ("w5", 3), ("w6", 5)]
SHORT = [("w7", 1), ("w8", 2), ("w9", 0)]
WITHOUT_FEATURES = {"preorder_encoding": [], "n_src_feats": 0, "src_feats_defaults": None}
OPENNMT = {"encoder_type": "transformer", "preorder_encoding": []}
PLAIN = {**WITHOUT_FEATURES, "decoder_type": "preorder_transformer"}
SWAN = {
    **WITHOUT_FEATURES,
    "encoder_type": "brnn",
    "decoder_type": "swan",
    "rnn_type": "GRU",
    "position_encoding": False,
    "param_init": 0.1,
    "param_init_glorot": False,
}


def make_vocabs(features=FEATURES):
    """Return vocabularies of WORDS, and of the position feature; None: without it."""
    words = pyonmttok.build_vocab_from_tokens(WORDS)
    of_features = {} if features is None else {"src_feats": [pyonmttok.build_vocab_from_tokens(features)]}
    return {"src": words, "tgt": words, **of_features, "data_task": "seq2seq"}


def make_model(features=None, **changes):
    """Build a model that reads no positions, or that of other options."""
    torch.manual_seed(1)
    opt = make_opt(**{**PLAIN, **changes})
    return build_model(opt, opt, make_vocabs(features), None, -1).eval()


def make_encoder(features=FEATURES, **changes):
    """Build an encoder that reads positions."""
    torch.manual_seed(1)
    opt = make_opt(**changes)
    return build_model(opt, opt, make_vocabs(features), None, -1).encoder.eval()


def batch_of(*sentences, features=FEATURES):
    """Return ``src`` and ``src_len`` of sentences given as lists of (word, position)."""
    length = max(map(len, sentences))
    rows = [
        [[WORDS.index(word), features.index(str(position))] for word, position in sentence]
        + [[PAD, features.index("<blank>")]] * (length - len(sentence))
        for sentence in sentences
    ]
    return torch.tensor(rows), torch.tensor([len(sentence) for sentence in sentences])


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


def learn_from_a_batch(opt, precision=None, weights=()):
    """Return the model of these options, its loss on one batch, and all its gradients by name.

    It begins with those of the weights given that have a name and shape of its own.
    """
    torch.manual_seed(1)
    vocabs = make_vocabs(FEATURES if opt.n_src_feats else None)
    model = build_model(opt, opt, vocabs, None, -1)
    for name, own in model.state_dict().items():
        if name in weights and weights[name].shape == own.shape:
            own.copy_(weights[name])
    torch.manual_seed(2)  # one batch, however many numbers the model has taken
    src = torch.stack([torch.randint(4, 24, (6, 9)), torch.randint(5, 14, (6, 9))], dim=-1)
    batch = {"src": src[..., : 1 + opt.n_src_feats], "srclen": torch.tensor([9, 8, 7, 5, 3, 2])}
    batch |= {"tgt": torch.randint(4, 24, (6, 7, 1)), "tgtlen": torch.full((6,), 7)}
    compute = LossCompute.from_opts(opt, model, vocabs["tgt"])
    with torch.autocast("cpu", precision, enabled=precision is not None):
        states, attention = model(batch["src"], batch["tgt"], batch["srclen"])
        loss, _ = compute(batch, states, attention)
    loss.backward()
    return model, loss.detach(), {name: weight.grad for name, weight in model.named_parameters()}


def dropout_rates(module):
    return [part.p for part in module.modules() if isinstance(part, torch.nn.Dropout)]


def without_gradient(module, *but):
    """Return the names of the parameters without a gradient other than 0, but those with parts of a name.

    Softmax does not see a shift of all keys: their bias has none.
    """
    names = {name for name, part in module.named_parameters() if part.grad is None or not part.grad.any()}
    return {name for name in names if not any(part in name for part in ("keys.bias", *but))}


def position_encoding(position, size):
    angles = [position / 10000 ** ((k - k % 2) / size) for k in range(size)]
    return [math.cos(angle) if k % 2 else math.sin(angle) for k, angle in enumerate(angles)]


def times(matrix, vector):
    return [sum(m * x for m, x in zip(row, vector, strict=True)) for row in matrix.tolist()]


def randomise(module):
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype))
    return module
