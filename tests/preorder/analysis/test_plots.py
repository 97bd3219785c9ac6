"""Pictures: well-formed, named, labelled, told apart without colour, and the same every time."""

import xml.etree.ElementTree as ElementTree
from functools import partial
from itertools import combinations

import pytest

from preorder.analysis.plots import (
    breakdown_title,
    curves_title,
    draw_breakdown,
    draw_curves,
    styles,
    svg_element,
    write_picture,
)
from preorder.analysis.results import Breakdown, Curves, Estimate, Group
from preorder.metrics.significance import Comparison

pytest.importorskip("matplotlib")

SVG = "{http://www.w3.org/2000/svg}"
LINE = (Estimate(20.0, (15.0, 25.0)), Estimate(30.0, (28.0, 31.0)))
GROUPS = (Group("1–10", 12), Group("11+", 7))


def curves(lines, groups=GROUPS):
    return Curves("length", "source length (tokens)", groups, lines, 0, {})


TAU = {"unreordered": (None, Estimate(0.5, (0, 1)))}
CURVES = curves({"bleu": {"base": LINE, "<b>ours</b>": LINE[::-1]}, "tau": TAU})
PARTS = {f"precision_{n}": Estimate(50.0 / n, (40.0 / n, 60.0 / n)) for n in range(1, 5)}
COMPARED = {"b": dict.fromkeys(PARTS, Comparison(0, (0, 0), 1, 1))}
BREAKDOWN = Breakdown("precision", {"a": PARTS, "b": PARTS}, COMPARED, {})
PICTURES = [
    (partial(draw_curves, CURVES), curves_title(CURVES)),
    (partial(draw_breakdown, BREAKDOWN), breakdown_title(BREAKDOWN)),
]


@pytest.mark.parametrize(("draw", "title"), PICTURES)
def test_files(tmp_path, caplog, draw, title):
    written = {}
    for name in ("1.svg", "2.svg", "1.png", "2.png"):
        write_picture(draw, title, str(tmp_path / name))
        written[name] = (tmp_path / name).read_bytes()
    data = written["1.svg"]
    assert data == written["2.svg"]
    assert written["1.png"].startswith(b"\x89PNG\r\n")
    assert written["1.png"] == written["2.png"]
    assert not caplog.messages
    root = ElementTree.fromstring(data)
    assert root.find(f"{SVG}title").text == root.get("aria-label") == title
    assert root.get("role") == "img"
    assert b"<dc:date>" not in data
    names = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(names) == len(set(names))


def texts(svg):
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_labels():
    curve, bars = (texts(svg_element(*picture)) for picture in PICTURES)
    titles = {"BLEU (0 to 100)", "Kendall's tau (−1 to 1)", "base", "<b>ours</b>", "unreordered"}
    assert {*titles, "source length (tokens), and how many sentences", "12"} <= set(curve)
    assert {"n-gram precision (%)", "1-gram", "a", "b"} <= set(bars)


def test_drawn_is_what_was_found():
    figure = draw_curves(CURVES)
    container = figure.axes[0].containers[0]
    assert container.lines[0].get_ydata().tolist() == [20.0, 30.0]
    segments = container.lines[2][0].get_segments()
    assert [segment[:, 1].tolist() for segment in segments] == [[15.0, 25.0], [28.0, 31.0]]
    bars = draw_breakdown(BREAKDOWN).axes[0].patches
    assert [bar.get_height() for bar in bars] == [50.0 / n for n in range(1, 5)] * 2


@pytest.mark.parametrize(("labels", "at"), [(("0", "5", "50"), [0, 5, 50]), (("0", "5+"), [0, 1])])
def test_groups_stand_at_their_numbers(labels, at):
    groups = tuple(Group(label, 3) for label in labels)
    (axes,) = draw_curves(curves({"bleu": {"one": LINE[:1] * len(labels)}}, groups)).axes
    assert axes.get_xticks().tolist() == at
    assert axes.get_xlabel() == "source length (tokens), 3 sentences each"


def test_systems_differ_in_grey():
    looks = list(styles("abcdefg").values())
    for one, other in combinations(looks, 2):
        assert one.marker != other.marker
        assert one.line != other.line
        assert one.hatch != other.hatch
