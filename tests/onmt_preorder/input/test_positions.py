"""From features to positions, also of the pieces that tokenisers really make."""

import io
import logging
import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from onmt_preorder.input.positions import (
    NO_POSITION,
    PositionCheck,
    ReadsPositions,
    is_permutation,
    positions_of_pieces,
    rank_positions,
    without_unknown,
)

NONE = -1


def ranks(*sentences):
    length = max(map(len, sentences))
    numbers = torch.tensor([list(s) + [NONE] * (length - len(s)) for s in sentences])
    padding = torch.arange(length) >= torch.tensor([[len(s)] for s in sentences])
    ranked = rank_positions(numbers, padding).tolist()
    return [row[: len(s)] for row, s in zip(ranked, sentences, strict=True)]


def by_definition(sentence):
    keys = [(number if number >= 0 else i, i) for i, number in enumerate(sentence)]
    return [sorted(keys).index(key) for key in keys]


sentences = st.lists(st.lists(st.integers(-1, 12), min_size=1, max_size=9), min_size=1, max_size=5)


@given(sentences)
def test_rank_within_the_sentence(batch):
    assert ranks(*batch) == [by_definition(sentence) for sentence in batch]


def test_numbers_come_from_the_vocabulary_not_from_ids():
    tokens = ["<unk>", "12", "<s>", "0", NO_POSITION, "٣", "²", "9" * 18, "9" * 5000]
    reader = ReadsPositions()
    reader.read_positions_with(tokens)
    assert reader._numbers.tolist() == [NONE, 12, NONE, 0, NONE, NONE, NONE, 10**18 - 1, NONE]


def test_a_position_that_the_vocabulary_lacks_is_not_known():
    assert without_unknown(["4999", "5000", "9" * 5000, "_", "007"]) == ["4999", "_", "_", "_", "_"]


def test_what_is_a_permutation():
    right = ["0 1 2", "2 0 1", "1 1 0 2 2", "0 0 0", "1 0 _", "1 1 _ 0 0"]
    wrong = ["0 7 7", "0 1 0", "1 2 3", f"0 {'9' * 5000}"]
    assert [line for line in (*right, *wrong) if is_permutation(line.split())] == right


ODD = ["0 1", "_ _", "0 7 7", "_", "", "_ _", "5 5 1"]


@pytest.mark.parametrize(
    ("lacks_positions", "lines", "expected"),
    [
        (True, ODD, ["f:2: a line without", "the positions of 2 of 7 .* first f:3$"]),
        (False, ODD, ["the positions of 2 of 7 .* first f:3$"]),
        (True, ["1 0", "_", ""], []),
    ],
)
def test_each_kind_of_odd_lines_is_told_once(caplog, lacks_positions, lines, expected):
    check = PositionCheck(lacks_positions)
    with caplog.at_level(logging.WARNING, "onmt"):
        for number, line in enumerate(lines, 1):
            check.see(line.split(), "f", number)
        check.finish()
        check.finish()
    for record, beginning in zip(caplog.records, expected, strict=True):
        assert re.match(beginning, record.getMessage())


def test_odd_lines_that_come_after_others_are_told_too(caplog):
    """As in a server's second request, or in eole, which never says which line is the last."""
    check = PositionCheck(True)
    for number, line in enumerate(["1 0", "0 2", "5 5 1"], 1):
        check.see(line.split(), "f", number)
        check.finish()
    [message] = caplog.messages
    assert re.match("the positions of 1 of 2 .* first f:2$", message)


# --- pieces ---

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
