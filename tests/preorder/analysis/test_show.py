"""A sentence shown: counts against brute force, every word, label and link in its place."""

import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.analysis.plots import svg_element
from preorder.analysis.sentence_picture import draw_sentence, sentence_title
from preorder.analysis.sentence_view import SentenceView, crossings, text_lines
from preorder.data import Alignment, BinaryTree, Permutation
from preorder.data.formats import parse_alignment
from preorder.errors import DataError

pytest.importorskip("matplotlib")

WORDS = tuple("I like the pen".split())
TARGET = tuple("私 は ペン が 好き だ".split())
ORDER = Permutation((0, 3, 1, 2))
LONG = Permutation.identity(60)
TREE = BinaryTree.from_permutation(ORDER)
LINKS = parse_alignment("0-0 1-4 2?3 3-2")
VIEW = SentenceView(WORDS, ORDER, TREE, TARGET, LINKS)
SVG = "{http://www.w3.org/2000/svg}"


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_crossings(links):
    """Count the pairs with the one link strictly left of the other above, strictly right of it below."""
    expected = sum(i < k and j > m for i, j in links for k, m in links)
    assert crossings(links) == crossings(sorted(links)) == expected


def svg(view):
    return svg_element(partial(draw_sentence, view), sentence_title(view))


def links_of(axes):
    """The ends and the line style of each link."""
    return [(*patch.get_path().vertices[[0, -1]], patch.get_linestyle()) for patch in axes.patches]


def test_picture_has_everything_once():
    figure = draw_sentence(VIEW)
    (axes,) = figure.axes
    links = links_of(axes)
    assert len(links) == 2 * 4
    assert [style for *_, style in links].count("--") == 2
    tree, nodes = axes.collections
    assert len(tree.get_paths()) == 2 * 3
    assert [colour[0] < 0.5 for colour in nodes.get_facecolor()] == [node.inverted for node in TREE.nodes]
    texts = Counter(text.get_text() for text in axes.texts)
    assert texts["like"] == texts["ペン"] == 2  # both orders
    assert (texts["S"], texts["I"]) == (2, 1 + 2)  # nodes, and the word
    assert texts["S straight, I inverted; as it is written: 3 crossings of links, tau_nakagawa 0.667"] == 1
    assert texts["preordered: 1 crossing of links, tau_nakagawa 1.000"] == 1
    width, height = axes.get_xlim()[1], axes.get_ylim()[0]
    assert figure.get_size_inches() * 100 == pytest.approx((width, height))
    points = [text.get_position() for text in axes.texts]
    points += [point for begin, end, _ in links for point in (begin, end)]
    points += [point for path in tree.get_paths() for point in path.vertices]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in points)


def test_links_join_their_words():
    (axes,) = draw_sentence(SentenceView(WORDS, ORDER, None, TARGET, LINKS)).axes
    links = links_of(axes)
    words = [(text.get_text(), *text.get_position()) for text in axes.texts]
    for panel in (links[:4], links[4:]):
        for (i, j), (begin, end, _) in zip(VIEW.links, panel, strict=True):
            assert any(word == WORDS[i] and x == begin[0] and y < begin[1] for word, x, y in words)
            assert any(word == TARGET[j] and x == end[0] and y > end[1] for word, x, y in words)
    assert links[1][0][0] < links[5][0][0]  # like moves right


def test_svg_is_well_formed_and_escaped():
    words = ("<script>", "&", '"', "\x1b[0m", "$b$")
    text = svg(SentenceView(words, Permutation((2, 1, 0, 3, 4))))
    root = ElementTree.fromstring(text)
    assert words[0] in root.find(f"{SVG}title").text
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {*words[:3], "\ufffd[0m", "$b$"} <= set(texts)
    assert b"<dc:date>" not in text.encode()
    assert svg(VIEW) == svg(VIEW)
    assert "好き" in {element.text for element in ElementTree.fromstring(svg(VIEW)).iter(f"{SVG}text")}


@pytest.mark.parametrize(
    "view",
    [
        SentenceView((), Permutation(())),
        SentenceView(("one",), Permutation((0,)), BinaryTree(1, ()), (), Alignment(frozenset())),
        SentenceView(("a",) * 60, LONG, BinaryTree.from_permutation(LONG)),
    ],
    ids=["empty", "one word", "long"],
)
def test_odd_sentences(view):
    assert ElementTree.fromstring(svg(view)).get("viewBox")
    lines = list(text_lines(view))
    assert lines[0].split()[1:] == list(view.words)


def test_text():
    assert (
        "\n".join(text_lines(VIEW))
        == """\
source      I like the pen
preordered  I the pen like
positions   0 3 1 2
target      私 は ペン が 好き だ

straight
├─ I
└─ inverted
   ├─ like
   └─ straight
      ├─ the
      └─ pen

as it is written: 3 crossings of links, tau_nakagawa 0.667; target tokens across
      012345
I     ●·····
like  ····●·
the   ···○··
pen   ··●···

preordered: 1 crossing of links, tau_nakagawa 1.000; target tokens across
      012345
I     ●·····
the   ···○··
pen   ··●···
like  ····●·"""
    )


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"permutation": Permutation((0,))}, "positions of 1 tokens for 4 words"),
        ({"target": None}, "an alignment links the source to a target, and none is given"),
        ({"target": ("x",)}, "link .* is out of range: the target has 1 tokens"),
    ],
)
def test_parts_that_do_not_fit(parts, message):
    with pytest.raises(DataError, match=message):
        replace(VIEW, **parts)
