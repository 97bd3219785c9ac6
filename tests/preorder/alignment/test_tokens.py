"""Links mapped to other tokens, against asking every pair of characters."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.alignment.tokens import map_links, overlapping
from preorder.data.alignment import Alignment
from preorder.data.errors import DataError


def tokenised(text, ends):
    """Cut a text after the given characters."""
    cuts = [0, *sorted({end for end in ends if 0 < end < len(text)}), len(text)]
    return [text[begin:end] for begin, end in pairwise(cuts)]


texts = st.text("abcdef", min_size=1, max_size=12)
ends = st.lists(st.integers(0, 12), max_size=6)


@given(texts, ends, ends)
def test_tokens_overlap_where_they_share_a_character(text, first, second):
    old, new = tokenised(text, first), tokenised(text, second)

    def spans(tokens):
        ends_ = [sum(map(len, tokens[: k + 1])) for k in range(len(tokens))]
        return [set(range(end - len(token), end)) for token, end in zip(tokens, ends_, strict=True)]

    expected = [[k for k, span in enumerate(spans(new)) if span & own] for own in spans(old)]
    assert overlapping(old, new) == expected


@given(texts, ends)
def test_the_same_tokens_keep_their_links(text, cuts):
    tokens = tokenised(text, cuts)
    links = Alignment(frozenset((k, k) for k in range(len(tokens))))
    assert map_links(links, (tokens, tokens), (tokens, tokens)) == links


def test_width_and_case_do_not_count():
    assert overlapping(["（", "Ｋyoto", "㈱"], ["(kyo", "to", "(", "株)"]) == [[0], [0, 1], [2, 3]]


def test_confidences_and_possible_links_follow():
    links = Alignment.weighted({(0, 0): 0.5, (0, 1): 0.75, (1, 2): 1.0})
    links = replace(links, possible=frozenset({(1, 0), (1, 1)}))
    mapped = map_links(links, None, (["a", "b", "c"], ["ab", "c"]))
    assert mapped.confidences() == {(0, 0): 0.75, (1, 1): 1.0}
    assert mapped.possible == {(1, 0)}


def test_other_characters_are_refused():
    with pytest.raises(DataError, match="not the same characters: ab and ac"):
        overlapping(["a", "b"], ["ac"])


def test_a_link_out_of_range_is_refused():
    with pytest.raises(DataError, match="link 0-2 is out of range"):
        map_links(Alignment(frozenset({(0, 2)})), None, (["a", "b"], ["ab"]))
