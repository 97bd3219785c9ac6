"""Small distortion models for the tests."""

import pyonmttok
import torch
from onmt.model_builder import build_model

from tests.support.opennmt import make_opt
from tests.support.transformers import WORDS

PAD, BEGIN = 1, 2
CONTEXTS = ["none", "source", "target", "hidden"]
DISTORTION = {
    "encoder_type": "bidirectional_gru",
    "decoder_type": "distortion_rnn",
    "preorder_encoding": [],
    "n_src_feats": 0,
    "src_feats_defaults": None,
    "position_encoding": False,
    "hidden_size": 6,
    "word_vec_size": 5,
    "param_init": 0.1,
}


def make_distortion_opt(**changes):
    """Return the options of a training, DISTORTION with changes."""
    return make_opt(**{**DISTORTION, **changes})


def make_vocabs():
    """Return vocabularies of WORDS."""
    words = pyonmttok.build_vocab_from_tokens(WORDS)
    return {"src": words, "tgt": words, "data_task": "seq2seq"}


def make_model(**changes):
    """Build a model in double precision, with parameters large enough to matter."""
    torch.manual_seed(1)
    opt = make_distortion_opt(**changes)
    model = build_model(opt, opt, make_vocabs(), None, -1).double().eval()
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
