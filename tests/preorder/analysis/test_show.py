"""A sentence shown: counts against brute force, every word, label and link in its place."""

import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.analysis.show.drawing import Box, Disc, Drawing, Line, Link, Text
from preorder.analysis.show.layout import draw, text_width
from preorder.analysis.show.png import png
from preorder.analysis.show.sentence import Shown, crossings, hard_attention
from preorder.analysis.show.svg import svg
from preorder.analysis.show.text import text_lines
from preorder.data.errors import DataError
from preorder.data.formats import parse_alignment, parse_attention
from preorder.data.types import Alignment, BinaryTree, Permutation

WORDS = tuple("I like the pen".split())
TARGET = tuple("私 は ペン が 好き だ".split())
ORDER = Permutation((0, 3, 1, 2))
TREE = BinaryTree.from_permutation(ORDER)
LINKS = parse_alignment("0-0 1-4 2?3 3-2")
ATTENTION = tuple(tuple(1.0 if (i, j) in LINKS.links else 0.25 for i in range(4)) for j in range(6))
SHOWN = Shown(WORDS, ORDER, TREE, TARGET, LINKS, ATTENTION)
SVG = "{http://www.w3.org/2000/svg}"


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_crossings(links):
    """Count the pairs with the one link strictly left of the other above, strictly right of it below."""
    expected = sum(i < k and j > m for i, j in links for k, m in links)
    assert crossings(links) == crossings(sorted(links)) == expected


def test_reordered():
    after = SHOWN.reordered()
    assert after.words == ("I", "the", "pen", "like")
    assert after.links == [(0, 0), (1, 3), (2, 2), (3, 4)]
    assert (crossings(SHOWN.links), crossings(after.links)) == (3, 1)
    assert after.alignment.possible == {(1, 3)}


def test_drawing_has_everything_once():
    drawing = draw(SHOWN)
    kinds = Counter(map(type, drawing.shapes))
    assert kinds[Link] == 2 * 4
    assert sum(shape.dashed for shape in drawing.shapes if isinstance(shape, Link)) == 2
    assert kinds[Disc] == len(TREE.nodes) == 3
    assert kinds[Line] == 2 * 3
    assert kinds[Box] == 4 * 6
    texts = Counter(shape.text for shape in drawing.shapes if isinstance(shape, Text))
    assert texts["like"] == 3  # both orders, attention
    assert texts["ペン"] == 3
    assert (texts["S"], texts["I"]) == (2, 1 + 3)  # nodes, and the word
    assert texts["S straight, I inverted; as it is written: 3 crossings of links"] == 1
    assert texts["preordered: 1 crossing of links"] == 1
    for shape in drawing.shapes:
        for name, most in (("x", drawing.width), ("y", drawing.height)):
            values = [value for key, value in vars(shape).items() if key.rstrip("12") == name]
            assert all(0 <= value <= most for value in values)


def test_links_join_their_words():
    shapes = draw(Shown(WORDS, ORDER, None, TARGET, LINKS)).shapes
    links = [shape for shape in shapes if isinstance(shape, Link)]
    place = {(text.text, text.y): text.x for text in shapes if isinstance(text, Text)}
    for panel in (links[:4], links[4:]):
        for (i, j), link in zip(SHOWN.links, panel, strict=True):
            assert any(word == WORDS[i] and x == link.x1 and y < link.y1 for (word, y), x in place.items())
            assert any(word == TARGET[j] and x == link.x2 and y > link.y2 for (word, y), x in place.items())
    assert all(
        link.x1 < after.x1 for link, after in zip(links[1:2], links[5:6], strict=True)
    )  # like moves right


def test_svg_is_well_formed_and_escaped():
    words = ("<script>", "&", '"', "\x1b[0m")
    root = ElementTree.fromstring(svg(draw(Shown(words, Permutation((2, 1, 0, 3))))))
    assert words[0] in root.find(f"{SVG}title").text
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {*words[:3], "\ufffd[0m"} <= set(texts)
    assert svg(draw(SHOWN)) == svg(draw(SHOWN))
    numbers = Counter(
        element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg(draw(SHOWN))).iter()
    )
    assert (numbers["circle"], numbers["path"], numbers["rect"]) == (3, 8 + 6, 24 + 1)


@pytest.mark.parametrize(
    "shown",
    [
        Shown((), Permutation(())),
        Shown(("one",), Permutation((0,)), BinaryTree(1, ()), (), Alignment(frozenset()), ()),
        Shown(("a",) * 60, Permutation.identity(60), BinaryTree.from_permutation(Permutation.identity(60))),
    ],
    ids=["empty", "one word", "long"],
)
def test_odd_sentences(shown):
    assert ElementTree.fromstring(svg(draw(shown))).get("viewBox")
    lines = list(text_lines(shown))
    assert lines[0].split()[1:] == list(shown.words)


def test_wide_characters_take_more_room():
    assert text_width("好き") == 2 * text_width("x") / 0.6


def test_text():
    assert (
        "\n".join(text_lines(SHOWN))
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

as it is written: 3 crossings of links; target tokens across
      012345
I     ●·····
like  ····●·
the   ···○··
pen   ··●···

preordered: 1 crossing of links; target tokens across
      012345
I     ●·····
the   ···○··
pen   ··●···
like  ····●·

attention of target tokens, source tokens across; darker is more
      0123
私    █░░░
は    ░░░░
ペン  ░░░█
が    ░░░░
好き  ░█░░
だ    ░░░░"""
    )


def test_png():
    pytest.importorskip("matplotlib")
    data, complete = png(draw(Shown(("a", "$b$"), Permutation((1, 0)))))
    assert data.startswith(b"\x89PNG")
    assert complete
    drawing = Drawing(50, 50, "", (Text(10, 10, "\ue123"),))  # no font has it
    assert not png(drawing)[1]
    assert png(draw(SHOWN))[0] == png(draw(SHOWN))[0]


def test_hard_attention():
    assert hard_attention(parse_alignment("0-1 1?0"), 2, 3) == ((0, 0.5), (1, 0), (0, 0))
    with pytest.raises(DataError, match="link 0-1 is out of range: the target has 1 tokens"):
        hard_attention(parse_alignment("0-1"), 1, 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[[1", "attention is not JSON: Expecting"),
        ("[1]", "attention is not a list of rows"),
        ('{"a": []}', "attention is not a list of rows"),
        ("[[1.5]]", "not a weight of attention from 0 to 1: 1.5"),
        ("[[NaN]]", "not a weight of attention from 0 to 1: nan"),
        ("[[true]]", "not a weight of attention from 0 to 1: True"),
        ('[["1"]]', "not a weight of attention from 0 to 1: '1'"),
        ("[[1], [1, 0]]", "rows of attention differ in length"),
    ],
)
def test_bad_attention(line, message):
    with pytest.raises(DataError, match=message.replace("[", r"\[")):
        parse_attention(line)


def test_attention():
    assert parse_attention("[[1, 0.5], [0, 1e-3]]") == ((1.0, 0.5), (0.0, 0.001))
    assert parse_attention("[]") == ()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"permutation": Permutation((0,))}, "positions of 1 tokens for 4 words"),
        ({"target": None}, "an alignment links the source to a target, and none is given"),
        ({"target": ("x",)}, "link .* is out of range: the target has 1 tokens"),
        ({"target": None, "alignment": None}, "attention is of target tokens, and no target is given"),
        ({"attention": ATTENTION[1:]}, "attention of 5 target tokens, the target has 6"),
        ({"attention": ((1.0,),) * 6}, "attention to 1 source tokens, the source has 4"),
    ],
)
def test_parts_that_do_not_fit(parts, message):
    with pytest.raises(DataError, match=message):
        Shown(**{**{name: getattr(SHOWN, name) for name in Shown.__dataclass_fields__}, **parts})
