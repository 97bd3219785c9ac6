"""The file of alignments beside the translations."""

import io
from types import SimpleNamespace

import pytest
import torch
from onmt.translate import translator
from onmt.utils.misc import tile

from onmt_preorder.opennmt.alignments import _align, _AttentionKeeper
from onmt_preorder.plugin import register

register()


def test_translations_and_attention_part(tmp_path):
    paths = tmp_path / "alignments", tmp_path / "attention"
    translations = io.StringIO()
    keeper = _AttentionKeeper(translations, *map(str, paths))
    keeper.write("a ||| b ||| [[0.25,0.75],[1.0,0.0]]\n ||| []\n")  # one holds the separator, one is empty
    keeper.write("c ||| [[1.0]]\t-1.5\n")  # with its score
    keeper.flush()
    keeper.finish()
    assert translations.getvalue() == "a ||| b\n\nc\t-1.5\n"
    assert paths[0].read_text() == "0-1 1-0\n\n0-0\n"
    assert paths[1].read_text() == "[[0.25,0.75],[1.0,0.0]]\n[]\n[[1.0]]\n"


def test_weights_are_not_printed(capsys):
    pairs, _ = translator.build_align_pharaoh(torch.tensor([[0.1, 0.9], [0.7, 0.3]]))
    assert pairs == ["0-1", "1-0"]
    assert capsys.readouterr().out == ""


def test_states_of_an_ensemble_are_repeated():
    parts = tile((torch.tensor([1, 2]), torch.tensor([3, 4])), 2)
    assert [part.tolist() for part in parts] == [[1, 1, 2, 2], [3, 3, 4, 4]]


@pytest.mark.parametrize(("symbol", "words"), [(7, 2), (None, 3)])
def test_an_end_symbol_after_the_source_is_no_word_of_it(symbol, words):
    weights, encoder = torch.tensor([[0.1, 0.2, 0.7]]), SimpleNamespace(end_symbol=symbol)
    for one in (encoder, SimpleNamespace(model_encoders=[encoder] * 2)):
        inference = SimpleNamespace(model=SimpleNamespace(encoder=one))
        ((found, nothing),) = _align(lambda _: [[weights, None]], inference)
        assert found.equal(weights[:, :words])
        assert nothing is None
