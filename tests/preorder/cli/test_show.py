"""``preorder show``, end to end."""

import itertools
import json
import random
import re
import statistics

import pytest

from tests.support.command_files import FILES
from tests.support.texts import write

MANY = 40
LINKED = "--src src --positions positions --tgt tgt --align align"


@pytest.fixture
def show(run, tmp_path):
    """Give a function that shows two sentences; the order of the second is no BTG order of five tokens."""
    for name in ("src", "tgt", "align", "positions", "order"):
        write(tmp_path / name, *FILES[f"h.{name}"])
    return lambda options, status=0: run(f"show -q {options}", status)


def gallery(show, options):
    return json.loads(show(f"{LINKED} --json {options}").out)


def lines_of(found):
    return [one["line"] for one in found["sentences"]]


def test_text(show):
    out = show(LINKED).out
    assert out.startswith("source      I like the pen\npreordered  I the pen like\npositions   0 3 1 2\n")
    assert "as it is written: 1 crossing of links" in out
    assert "preordered: 0 crossings of links" in out
    assert show("--src src --order order --tgt tgt --align align").out == out
    assert "straight" not in show(f"{LINKED} --line 2").out  # there is no tree


def test_json(show):
    assert gallery(show, "") == {
        "line": 1,
        "source": ["I", "like", "the", "pen"],
        "preordered": ["I", "the", "pen", "like"],
        "positions": [0, 3, 1, 2],
        "order": [0, 2, 3, 1],
        "tree": "[I <like [the pen]>]",
        "target": ["watashi", "wa", "pen", "ga", "suki"],
        "crossings": 1,
        "crossings_preordered": 0,
        "tau_nakagawa": pytest.approx(2 / 3),
        "tau_nakagawa_preordered": 1.0,
        "confidence": None,
    }
    alone = json.loads(show("--src src --positions positions --json --line 2").out)
    unknown = ("tree", "target", "crossings", "crossings_preordered", "tau_nakagawa")
    assert [alone[name] for name in unknown] == [None] * 5


def test_model(run, tmp_path):
    write(tmp_path / "src", *["i like the pen"] * 4)
    write(tmp_path / "links", *["0-0 1-3 2-1 3-2"] * 4)
    options = "--model en-verb-final --src src"
    shown = json.loads(run(f"show {options} --json").out)
    assert run(f"apply {options} --format tree").out.splitlines()[0] == shown["tree"]
    write(tmp_path / "loud", "I LIKE the pen")
    loud = run("show --model en-verb-final --src loud --json")
    assert loud.err == ""
    assert json.loads(loud.out)["preordered"] == ["I", "the", "pen", "LIKE"]
    write(tmp_path / "tgt", *["i like the pen"] * 4)
    found = json.loads(run(f"show {options} --json --tgt tgt --align links --gain 2").out)
    assert lines_of(found) == [1, 2]  # of equal gains the first
    assert found["chosen"] == "the 2 of 4 sentences whose tau_nakagawa rises most"
    for one in found["sentences"]:
        assert one["preordered"] == ["i", "the", "pen", "like"]
        assert (one["tau_nakagawa"], one["tau_nakagawa_preordered"]) == (pytest.approx(2 / 3), 1)


def test_pictures(show, tmp_path):
    pytest.importorskip("matplotlib")
    found = show(f"{LINKED} --out s.svg --out s.png")
    assert (found.out, found.err) == ("", "")
    assert "<title>“I like the pen”" in (tmp_path / "s.svg").read_text()
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    write(tmp_path / "src", "I like the \ue123")
    said = show("--src src --positions positions --out s.png").err
    assert "s.png: no installed font has all" in said


def tau(alignment, positions):
    """The share of the pairs of linked tokens that are not reversed; None without an order of the targets."""
    targets = {}
    for link in alignment.split():
        i, j = map(int, link.split("-"))
        targets.setdefault(i, []).append(j)
    extents = [(min(targets[i]), max(targets[i])) for i in sorted(targets, key=positions.__getitem__)]
    pairs = list(itertools.combinations(extents, 2))
    if any((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in pairs):
        return None
    return 1 - sum(a > b for a, b in pairs) / max(len(pairs), 1)


@pytest.fixture
def truth(show, tmp_path):
    """Write random sentences, links and orders; give line → tau before and after."""
    numbers = random.Random(1)
    rows, truth = [], {}
    for line in range(1, MANY + 1):
        n, m = numbers.randint(1, 7), numbers.randint(1, 7)
        align = " ".join(sorted({f"{numbers.randrange(n)}-{numbers.randrange(m)}" for _ in range(n)}))
        positions = numbers.sample(range(n), n)
        words = [" ".join(f"{side}{line}.{i}" for i in range(k)) for side, k in (("s", n), ("t", m))]
        truth[line] = tau(align, range(n)), tau(align, positions)
        rows.append((*words, align, " ".join(map(str, positions))))
    for name, column in zip(("src", "tgt", "align", "positions"), zip(*rows, strict=True), strict=True):
        write(tmp_path / name, *column)
    return truth


def test_tau_of_each_sentence(run, show, truth):
    """As counted by hand; and their mean is what ``preorder evaluate`` says of the corpus."""
    found = gallery(show, f"--lines 1-{MANY}")
    assert found["chosen"] == f"{MANY} sentences, chosen by their lines"
    told = {one["line"]: (one["tau_nakagawa"], one["tau_nakagawa_preordered"]) for one in found["sentences"]}
    known = {line: pair for line, pair in truth.items() if None not in pair}
    assert MANY / 3 < len(known) < MANY  # some cannot be sorted
    assert {line for line, pair in told.items() if None not in pair} == set(known)
    assert told == {line: pytest.approx(pair) if line in known else pair for line, pair in truth.items()}
    whole = json.loads(run("evaluate --align align --positions positions --json").out)
    before, after = (statistics.fmean(column) for column in zip(*known.values(), strict=True))
    assert (whole["monotone"]["tau_nakagawa"], whole["tau_nakagawa"]) == pytest.approx((before, after))


def test_which_sentences(show, truth):
    assert lines_of(gallery(show, "--lines 7,3-5,4")) == [3, 4, 5, 7]
    known = {line: pair for line, pair in truth.items() if None not in pair}
    gains = sorted(known, key=lambda line: known[line][0] - known[line][1])
    found = gallery(show, "--gain 5")
    assert found["chosen"] == f"the 5 of {len(known)} sentences whose tau_nakagawa rises most"
    assert lines_of(found) == gains[:5]
    worst = sorted((line for line in known if line <= 20), key=lambda line: known[line][1])
    found = gallery(show, "--worst 4 --lines 1-20")
    assert lines_of(found) == worst[:4]
    assert found["chosen"] == f"the 4 of {len(worst)} sentences with the least tau_nakagawa, preordered"


def test_sample(show, truth):
    found = gallery(show, "--sample 10 --min-length 2 --max-length 6")
    lengths = [[len(one[side]) for side in ("source", "target")] for one in found["sentences"]]
    assert all(2 <= length <= 6 for pair in lengths for length in pair)
    assert " sentences of at least 2 and at most 6 tokens, chosen at random, seed 1" in found["chosen"]
    assert gallery(show, "--sample 10 --min-length 2 --max-length 6") == found
    assert lines_of(found) == sorted(set(lines_of(found)))
    drawn = [lines_of(gallery(show, f"--sample 1 --seed {seed}")) for seed in range(40)]
    assert len(set(map(tuple, drawn))) > 15  # about 40 · (1 - 1/e) = 25 different lines
    assert lines_of(gallery(show, "--sample 1000")) == list(range(1, MANY + 1))


def test_several_as_text(show, truth):
    out = show(f"{LINKED} --lines 2-3").out
    assert out.startswith("2 sentences, chosen by their lines\n\nline 2\n")
    assert out.endswith(f"\n\nline 3\n{show(f'{LINKED} --lines 3').out}")


def test_a_page(show, truth, tmp_path):
    pytest.importorskip("matplotlib")
    names = ("g.html", "g.svg", "again.html")
    show(f"{LINKED} --sample 10 --seed 3 --out {' --out '.join(names)}")
    page, svg, again = ((tmp_path / name).read_text(encoding="utf-8") for name in names)
    assert page == again
    assert page.count("<svg") == page.count('class="sentence"') == 10
    assert svg.count("<svg") == 1
    for line in lines_of(gallery(show, "--sample 10 --seed 3")):
        assert f'href="#gallery-line-{line}"' in page
        assert f'<figure id="gallery-line-{line}"' in page
        assert f">line {line}</text>" in svg
        if None not in truth[line]:
            before, after = (f"{number:.3f}" for number in truth[line])
            assert re.search(rf'<th scope="row">{line}</th>.*<td>{before}</td><td>{after}</td>', page)
    assert "http:" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)  # it needs nothing from elsewhere


def test_a_page_without_links(show, tmp_path):
    pytest.importorskip("matplotlib")
    show("--src src --positions positions --lines 1-2 --out g.html")
    page = (tmp_path / "g.html").read_text(encoding="utf-8")
    assert "<table" not in page
    assert page.count("<svg") == 2
    assert "S straight, I inverted" in page  # the tree stays, since nothing else shows the order


def test_what_cannot_be_sorted(show, tmp_path):
    for name, line in {"src": "a b", "tgt": "x y z", "align": "0-0 0-2 1-1", "positions": "1 0"}.items():
        write(tmp_path / name, line)
    told = "1 crossing of links, no tau_nakagawa, since the links cannot be sorted"
    assert f"as it is written: {told}" in show(LINKED).out
    assert show(f"{LINKED} --gain 1", 2).err == "src: no sentence is left to be shown\n"


@pytest.mark.parametrize(
    ("words", "lines", "out", "message"),
    [
        (2, 101, "x.html", "101 sentences: a picture holds at most 100; choose some (--sample)"),
        (700, 1, "x.png", "too large for a .png: give fewer or shorter sentences, or write an .svg"),
    ],
)
def test_too_much_for_a_picture(show, tmp_path, words, lines, out, message):
    pytest.importorskip("matplotlib")
    write(tmp_path / "src", *[" ".join(["word"] * words)] * lines)
    write(tmp_path / "positions", *[" ".join(map(str, range(words)))] * lines)
    said = show(f"--src src --positions positions --lines 1-{lines} --out {out}", 2).err
    assert said == f"{message}\n"
    assert not (tmp_path / out).exists()
