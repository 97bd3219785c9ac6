"""Lines that translation keeps."""

import pytest
import torch
from onmt.transforms.misc import FilterTooLongTransform
from onmt.translate import TranslationBuilder

from preorder.data.formats import unescape_token
from tests.support.opennmt import make_opt
from tests.support.transformers import PAD, WORDS, make_vocabs


def test_filtertoolong_filters_pairs_only():
    transform = FilterTooLongTransform(make_opt(src_seq_length=2, tgt_seq_length=4))
    long = {"src": ["a"] * 3, "tgt": None}
    assert transform.apply(long) is long
    assert transform.apply({"src": ["a"] * 3, "tgt": ["b"]}) is None


def test_white_space_is_itself_again_in_a_translation():
    words = ["&#12288;", "a&#160;b", "&#38;#32;", "&#91;", "&#99999;", "&#9999999999;", "plain"]
    assert list(map(unescape_token, words)) == ["\u3000", "a\u00a0b", "&#32;", *words[3:]]


@pytest.mark.parametrize("source", [PAD, WORDS.index("w1")])  # an empty line, and one that gives no words
def test_alignments_of_a_translation_without_words_are_none(source):
    end = torch.tensor([WORDS.index("</s>")])
    batch = {"src": torch.tensor([[[source]]]), "srclen": torch.tensor([1]), "ind_in_bucket": [0]}
    found = {"batch": batch, "predictions": [[end, end]], "scores": [[-1.0, -2.0]], "attention": [[None] * 2]}
    builder = TranslationBuilder(make_vocabs(), n_best=2)
    [aligned] = builder.from_batch({**found, "gold_score": [0], "alignment": [[None, None]]})
    assert [rows.tolist() for rows in aligned.word_aligns] == [[], []]
    assert "ALIGN: \n" in aligned.log(1)
    [plain] = builder.from_batch({**found, "gold_score": [0], "alignment": [[]]})
    assert plain.word_aligns is None
