"""Lines that translation keeps."""

import pyonmttok
import pytest
import torch
from onmt.transforms import TransformPipe
from onmt.transforms.misc import FilterTooLongTransform
from onmt.transforms.tokenize import BPETransform
from onmt.translate import TranslationBuilder

from onmt_preorder.opennmt.transforms import PositionsTransform
from tests.support.opennmt import make_opt
from tests.support.transformers import PAD, SPECIALS, WORDS, make_vocabs


def test_filtertoolong_filters_pairs_only():
    transform = FilterTooLongTransform(make_opt(src_seq_length=2, tgt_seq_length=4))
    long = {"src": ["a"] * 3, "tgt": None}
    assert transform.apply(long) is long
    assert transform.apply({"src": ["a"] * 3, "tgt": ["b"]}) is None


def test_escapes_are_undone_in_words_that_were_pieces():
    pipe = TransformPipe.build_from([BPETransform(make_opt()), PositionsTransform(make_opt())])
    assert pipe.apply_reverse("a&#122@@ 88;b &#91; &#38;#3@@ 2; ||| 0-0") == "a\u3000b &#91; &#32; ||| 0-0"


def test_translations_of_other_models_keep_their_entities():
    vocabs = make_vocabs()
    vocabs["tgt"] = pyonmttok.build_vocab_from_tokens([*SPECIALS, "&#160;"])
    batch = {"src": torch.tensor([[[4]]]), "srclen": torch.tensor([1]), "ind_in_bucket": [0]}
    found = {
        "batch": batch,
        "predictions": [[torch.tensor([4, 3])]],
        "scores": [[-1.0]],
        "attention": [[None]],
    }
    [translated] = TranslationBuilder(vocabs).from_batch(found | {"gold_score": [0], "alignment": [[]]})
    assert translated.pred_sents == [["&#160;"]]


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
