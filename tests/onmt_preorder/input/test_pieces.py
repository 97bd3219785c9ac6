"""Positions of the pieces that tokenisers really make, against each word split by itself."""

import io

import pytest
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from onmt_preorder.input.positions import positions_of_pieces

LINES = [
    "she said that he had seen it in the modern house",
    "It 's &quot; AT &amp; T &quot; &#91; 1 &#93; , isn 't it ?",
    "`` don't '' -LRB- 1\\/2 -RRB- a well @-@ known A-B NASA iPhone",
    "wait… ﬁne ＡＢＣ １０％ 東京 がぎ café cafe\u0301 naïve Straße ΣΊΣΥΦΟΣ",
    "a￨b c&#65512;d e#f ##g @@ h@@ i_j 👍 हिन्दी",
]
MODES = {
    "space": {"mode": "space"},
    "aggressive": {"mode": "aggressive"},
    "case": {"mode": "aggressive", "case_markup": True},
    "joiners": {"mode": "conservative", "joiner_new": True},
    "characters": {"mode": "char"},
}


def bpe(_):
    codes = io.StringIO()
    learn_bpe(io.StringIO("\n".join(LINES * 2)), codes, num_symbols=60)
    return BPE(io.StringIO(codes.getvalue())).segment_tokens


def sentencepiece(folder, **options):
    (folder / "text").write_text("\n".join(LINES * 5), encoding="utf-8")
    options |= {"hard_vocab_limit": False, "character_coverage": 0.98, "minloglevel": 3}
    SentencePieceTrainer.train(input=str(folder / "text"), model_prefix=str(folder / "model"), **options)
    model = SentencePieceProcessor(model_file=str(folder / "model.model"))
    return lambda words: model.encode(" ".join(words), out_type=str)


def onmt(name):
    pytest.importorskip("pyonmttok.version")  # not its stand-in
    import pyonmttok

    tokenizer = pyonmttok.Tokenizer(**{"joiner_annotate": True, **MODES[name]})
    return lambda words: tokenizer(" ".join(words))


MAKERS = {
    "subword-nmt": bpe,
    "SentencePiece": lambda folder: sentencepiece(folder, vocab_size=120),
    "bytes": lambda folder: sentencepiece(folder, vocab_size=330, byte_fallback=True),
    **{name: lambda _, name=name: onmt(name) for name in MODES},
}


@pytest.mark.parametrize("kind", MAKERS)
def test_pieces_of_tokenisers(kind, tmp_path):
    split = MAKERS[kind](tmp_path)
    for line in LINES:
        words = line.split(" ")
        by_word = [split([word]) for word in words]
        pieces = split(words)
        assert pieces == [piece for each in by_word for piece in each]
        numbers = [str(3 * index % 31) for index in range(len(words))]
        right = [number for number, each in zip(numbers, by_word, strict=True) for _ in each]
        assert positions_of_pieces(pieces, words, numbers) == right
        for prefix in ("de", "<2en>", words[-1]):
            assert positions_of_pieces([prefix, *pieces], words, numbers) == ["0", *right]
        for masked in range(len(pieces)):
            if not pieces[masked].startswith(("｟", "▁")) and pieces[masked] != "￭":
                changed = [*pieces[:masked], "<mask>", *pieces[masked + 1 :]]
                assert positions_of_pieces(changed, words, numbers) == right, pieces[masked]
