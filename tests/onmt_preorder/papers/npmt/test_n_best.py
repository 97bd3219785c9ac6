"""Several translations of a source: all of them are translations, even of one token."""

import pytest
import torch
from onmt.model_builder import build_model
from onmt.opts import translate_opts
from onmt.translate import GNMTGlobalScorer, Translator
from onmt.utils.parse import ArgumentParser

from onmt_preorder.plugin import register
from preorder.errors import UsageError
from tests.support.distortion_models import make_vocabs
from tests.support.opennmt import make_opt

register()

SWAN = {
    "encoder_type": "brnn",
    "decoder_type": "swan",
    "rnn_type": "GRU",
    "preorder_encoding": [],
    "n_src_feats": 0,
    "src_feats_defaults": None,
    "position_encoding": False,
    "embedding_init": 1,
}


def make_translator(count, longest=2):
    torch.manual_seed(1)
    model_opt, vocabs = make_opt(**SWAN, swan_segment_length=longest), make_vocabs()
    model = build_model(model_opt, model_opt, vocabs, None, -1).eval()
    parser = ArgumentParser()
    translate_opts(parser)
    size = ("-beam_size", str(count), "-n_best", str(count))
    opt = parser.parse_args(["-model", "m", "-src", "s", *size])
    vocabs["decoder_start_token"] = "<s>"
    return Translator.from_opt(model, vocabs, opt, model_opt, global_scorer=GNMTGlobalScorer.from_opt(opt))


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_as_many_translations_as_are_asked_for(count):
    translator = make_translator(count)
    batch = {"src": torch.tensor([[[5], [1], [1]], [[4], [5], [6]]]), "srclen": torch.tensor([1, 3])}
    found = translator.translate_batch(batch)
    assert found["scores"][:, :count].isfinite().all()
    for predictions in found["predictions"]:
        assert len({tuple(words.tolist()) for words in predictions}) == count


def test_more_than_there_are():
    words = len(make_vocabs()["tgt"]) - 3  # without padding, begin and end
    assert make_translator(1 + words, longest=1).n_best == 1 + words
    with pytest.raises(
        UsageError, match=f"^n_best {words + 2} is more than the {words + 1} segments that a "
    ):
        make_translator(words + 2, longest=1)
