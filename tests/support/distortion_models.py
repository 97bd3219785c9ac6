"""Small distortion models for the tests."""

import torch
from onmt.model_builder import build_model

from tests.support.opennmt import make_opt
from tests.support.transformers import BEGIN, FEATURES, PAD, WITHOUT_FEATURES, WORDS, make_vocabs

CONTEXTS = ["none", "source", "target", "hidden"]
DISTORTION = {
    **WITHOUT_FEATURES,
    "encoder_type": "bidirectional_gru",
    "decoder_type": "distortion_rnn",
    "position_encoding": False,
    "hidden_size": 6,
    "word_vec_size": 5,
    "param_init": 0.1,
}


def build(seed=1, checkpoint=None, **changes):
    """Build a model of DISTORTION with changes, as a training does."""
    torch.manual_seed(seed)
    opt = make_opt(**{**DISTORTION, **changes})
    vocabs = make_vocabs(FEATURES if opt.n_src_feats else None)
    return build_model(opt, opt, vocabs, checkpoint, -1)


def make_model(**changes):
    """Build a model in double precision, with parameters large enough to matter."""
    model = build(**changes).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model


def make_batch(lengths=(7, 5, 2), words=6, seed=2):
    """Return ``src``, ``tgt`` and ``src_len`` of sentences of random words."""
    generator = torch.Generator().manual_seed(seed)
    src = torch.randint(4, len(WORDS), (len(lengths), max(lengths), 1), generator=generator)
    tgt = torch.randint(4, len(WORDS), (len(lengths), words, 1), generator=generator)
    tgt[:, 0] = BEGIN
    lengths = torch.tensor(lengths)
    for sentence, length in zip(src, lengths, strict=True):
        sentence[length:] = PAD
    return src, tgt, lengths
