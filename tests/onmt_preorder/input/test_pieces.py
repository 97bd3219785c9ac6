"""Pieces of words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmt_preorder.input.pieces import words_of_pieces

CAPITAL, UPPER, LOWER = (
    f"｟mrk_{name}｠" for name in ("case_modifier_C", "begin_case_region_U", "end_case_region_U")
)


@pytest.mark.parametrize(
    ("words", "pieces", "expected"),
    [
        ("the cat", "the cat", [0, 1]),
        ("unseen cats .", "un@@ seen cat@@ s .", [0, 0, 1, 1, 2]),
        ("unseen cats.", "un￭ seen cat ￭s ￭.", [0, 0, 1, 1, 1]),
        ("unseen cats", "▁un seen ▁cat s", [0, 0, 1, 1]),
        ("unseen cats", "▁ un seen ▁ cats ▁", [0, 0, 0, 1, 1, 1]),
        ("a ▁ b", "▁a ▁ ▁b", [0, 1, 2]),
        ("￭ a@@ b", "￭ a@@ b", [0, 1, 2]),
        ("a@@ bc", "a@@ b@@ c", [0, 1, 1]),
        ("Hello NASA.", f"{CAPITAL} hello {UPPER} na￭ sa {LOWER} ￭.", [0, 0, 1, 1, 1, 1, 1]),
        ("wait… ﬁne", "▁wait ... ▁fi ne", [0, 0, 1, 1]),
        ("東x y", "▁ <0xE6> <0x9D> <0xB1> x ▁y", [0, 0, 0, 0, 0, 1]),
        ("to Berlin", "｟de｠ to Berlin", [0, 0, 1]),
        ("one two three", "▁one ▁three", [0, 2]),
        ("one two three", "▁one ▁tw", [0, 1]),
        ("one", "one two", [0, 0]),
        ('he said “ no ” , then " yes "', 'he said " no " , then " yes "', [*range(10)]),
    ],
)
def test_examples(words, pieces, expected):
    assert words_of_pieces(pieces.split(), words.split()) == expected


words_of_text = st.lists(st.text("aabc.", min_size=1, max_size=6), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("inner", "first", "last"),
    [("{}@@", "{}@@", "{}"), ("￭{}", "{}", "￭{}"), ("{}", "▁{}", "{}")],
    ids=["bpe", "joiner", "spacer"],
)
@given(words=words_of_text, data=st.data())
def test_any_segmentation(inner, first, last, words, data):
    pieces, owners = [], []
    for index, word in enumerate(words):
        cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(word) - 1)), max_size=3)) - {len(word)})
        parts = [word[i:j] for i, j in zip([0, *cuts], [*cuts, len(word)], strict=True)]
        if len(parts) == 1:
            marked = [(first if "▁" in first else "{}").format(word)]
        else:
            marked = [first.format(parts[0]), *map(inner.format, parts[1:-1]), last.format(parts[-1])]
        pieces += marked
        owners += [index] * len(parts)
    assert words_of_pieces(pieces, words) == owners
