"""``preorder show``, end to end."""

import itertools
import json
import random
import re
import statistics
from pathlib import Path

import pytest

from preorder.cli import main
from tests.preorder.cli.test_errors import FILES
from tests.support.texts import write


@pytest.fixture
def files(tmp_path):
    """Two sentences; the order of the second is no BTG order of five tokens."""
    names = ("src", "tgt", "align", "positions", "order")
    return {name: write(tmp_path / name, *FILES[f"h.{name}"]) for name in names}


def show(capsys, files, *options, names=("src", "positions", "tgt", "align")):
    line = [part for name in names for part in (f"--{name}", files[name])]
    status = main(["show", *line, *options, "--quiet"])
    out, error = capsys.readouterr()
    assert status == (2 if error else 0), error
    return error or out


def test_text(files, capsys):
    out = show(capsys, files)
    assert out.startswith("source      I like the pen\npreordered  I the pen like\npositions   0 3 1 2\n")
    assert "as it is written: 1 crossing of links" in out
    assert "preordered: 0 crossings of links" in out
    assert show(capsys, files, names=("src", "order", "tgt", "align")) == out
    assert "straight" not in show(capsys, files, "--line", "2")  # there is no tree


def test_json(files, capsys):
    assert json.loads(show(capsys, files, "--json")) == {
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
    }
    alone = json.loads(show(capsys, files, "--json", "--line", "2", names=("src", "positions")))
    unknown = ("tree", "target", "crossings", "crossings_preordered", "tau_nakagawa")
    assert [alone[name] for name in unknown] == [None] * 5


def test_model(tmp_path, capsys):
    source = write(tmp_path / "source", *["i like the pen"] * 4)
    links = write(tmp_path / "links", *["0-0 1-3 2-1 3-2"] * 4)
    options = ["--model", "en-ja-demo", "--src", source, "--json"]
    assert main(["show", *options]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert main(["apply", *options[:-1], "--format", "tree"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == shown["tree"]
    assert main(["show", *options, "--tgt", source, "--align", links, "--gain", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert lines_of(found) == [1, 2]  # of equal gains the first
    assert found["chosen"] == "the 2 of 4 sentences whose tau_nakagawa rises most"
    for one in found["sentences"]:
        assert one["preordered"] == ["i", "the", "pen", "like"]
        assert (one["tau_nakagawa"], one["tau_nakagawa_preordered"]) == (pytest.approx(2 / 3), 1)


def test_pictures(tmp_path, files, capsys):
    pytest.importorskip("matplotlib")
    paths = [tmp_path / "s.svg", tmp_path / "s.png"]
    assert show(capsys, files, "--out", str(paths[0]), "--out", str(paths[1])) == ""
    assert "<title>“I like the pen”" in paths[0].read_text()
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    (tmp_path / "src").write_text("I like the \ue123\n")
    options = ["--src", files["src"], "--positions", files["positions"], "--out", str(paths[1])]
    assert main(["show", *options]) == 0
    assert "s.png: no installed font has all" in capsys.readouterr().err


MANY = 40


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
def corpus(tmp_path):
    """Random sentences, links and orders, with the truth: line → tau before and after."""
    numbers = random.Random(1)
    rows, truth = [], {}
    for line in range(1, MANY + 1):
        n, m = numbers.randint(1, 7), numbers.randint(1, 7)
        align = " ".join(sorted({f"{numbers.randrange(n)}-{numbers.randrange(m)}" for _ in range(n)}))
        positions = numbers.sample(range(n), n)
        words = [" ".join(f"{side}{line}.{i}" for i in range(k)) for side, k in (("s", n), ("t", m))]
        truth[line] = tau(align, range(n)), tau(align, positions)
        rows.append((*words, align, " ".join(map(str, positions))))
    columns = zip(("src", "tgt", "align", "positions"), zip(*rows, strict=True), strict=True)
    return {name: write(tmp_path / name, *column) for name, column in columns}, truth


def gallery(capsys, files, *options):
    return json.loads(show(capsys, files, "--json", *options))


def lines_of(found):
    return [one["line"] for one in found["sentences"]]


def test_tau_of_each_sentence(corpus, capsys):
    """As counted by hand; and their mean is what ``preorder evaluate`` says of the corpus."""
    files, truth = corpus
    found = gallery(capsys, files, "--lines", f"1-{MANY}")
    assert found["chosen"] == f"{MANY} sentences, chosen by their lines"
    told = {one["line"]: (one["tau_nakagawa"], one["tau_nakagawa_preordered"]) for one in found["sentences"]}
    known = {line: pair for line, pair in truth.items() if None not in pair}
    assert MANY / 3 < len(known) < MANY  # some cannot be sorted
    assert {line for line, pair in told.items() if None not in pair} == set(known)
    assert told == {line: pytest.approx(pair) if line in known else pair for line, pair in truth.items()}
    given = ["--align", files["align"], "--positions", files["positions"]]
    assert main(["evaluate", *given, "--json", "--quiet"]) == 0
    whole = json.loads(capsys.readouterr().out)
    before, after = (statistics.fmean(column) for column in zip(*known.values(), strict=True))
    assert (whole["monotone"]["tau_nakagawa"], whole["tau_nakagawa"]) == pytest.approx((before, after))


def test_which_sentences(corpus, capsys):
    files, truth = corpus
    assert lines_of(gallery(capsys, files, "--lines", "7,3-5,4")) == [3, 4, 5, 7]
    known = {line: pair for line, pair in truth.items() if None not in pair}
    gains = sorted(known, key=lambda line: known[line][0] - known[line][1])
    found = gallery(capsys, files, "--gain", "5")
    assert found["chosen"] == f"the 5 of {len(known)} sentences whose tau_nakagawa rises most"
    assert lines_of(found) == gains[:5]
    worst = sorted((line for line in known if line <= 20), key=lambda line: known[line][1])
    found = gallery(capsys, files, "--worst", "4", "--lines", "1-20")
    assert lines_of(found) == worst[:4]
    assert found["chosen"] == f"the 4 of {len(worst)} sentences with the least tau_nakagawa, preordered"


def test_sample(corpus, capsys):
    files, _ = corpus
    found = gallery(capsys, files, "--sample", "10", "--min-length", "2", "--max-length", "6")
    lengths = [[len(one[side]) for side in ("source", "target")] for one in found["sentences"]]
    assert all(2 <= length <= 6 for pair in lengths for length in pair)
    assert " sentences of at least 2 and at most 6 tokens, drawn at random, seed 1" in found["chosen"]
    assert gallery(capsys, files, "--sample", "10", "--min-length", "2", "--max-length", "6") == found
    assert lines_of(found) == sorted(set(lines_of(found)))
    drawn = [lines_of(gallery(capsys, files, "--sample", "1", "--seed", str(seed))) for seed in range(40)]
    assert len(set(map(tuple, drawn))) > 15  # about 40 · (1 - 1/e) = 25 different lines
    assert lines_of(gallery(capsys, files, "--sample", "1000")) == list(range(1, MANY + 1))


def test_several_as_text(corpus, capsys):
    files, _ = corpus
    out = show(capsys, files, "--lines", "2-3")
    assert out.startswith("2 sentences, chosen by their lines\n\nline 2\n")
    text = Path(files["src"]).with_name("shown.txt")
    assert show(capsys, files, "--lines", "2-3", "--out", str(text)) == ""
    assert text.read_text(encoding="utf-8") == out
    assert out.endswith(f"\n\nline 3\n{show(capsys, files, '--lines', '3')}")


def test_a_page(corpus, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    files, truth = corpus
    paths = [tmp_path / name for name in ("g.html", "g.svg", "again.html")]
    options = [part for path in paths for part in ("--out", str(path))]
    assert show(capsys, files, "--sample", "10", "--seed", "3", *options) == ""
    page, svg, again = (path.read_text(encoding="utf-8") for path in paths)
    assert page == again
    chosen = lines_of(gallery(capsys, files, "--sample", "10", "--seed", "3"))
    assert page.count("<svg") == page.count('class="sentence"') == 10
    assert svg.count("<svg") == 1
    for line in chosen:
        assert f'href="#gallery-line-{line}"' in page
        assert f'<figure id="gallery-line-{line}"' in page
        assert f">line {line}</text>" in svg
        if None not in truth[line]:
            before, after = (f"{number:.3f}" for number in truth[line])
            assert re.search(rf'<th scope="row">{line}</th>.*<td>{before}</td><td>{after}</td>', page)
    assert "http:" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)  # it needs nothing from elsewhere


def test_a_page_without_links(files, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "g.html"
    show(capsys, files, "--lines", "1-2", "--out", str(out), names=("src", "positions"))
    page = out.read_text(encoding="utf-8")
    assert "<table" not in page
    assert page.count("<svg") == 2
    assert "S straight, I inverted" in page  # the tree stays, since nothing else shows the order


def test_what_cannot_be_sorted(tmp_path, capsys):
    texts = {"src": "a b", "tgt": "x y z", "align": "0-0 0-2 1-1", "positions": "1 0"}
    paths = {name: write(tmp_path / name, text) for name, text in texts.items()}
    told = "1 crossing of links, no tau_nakagawa, since the links cannot be sorted"
    assert f"as it is written: {told}" in show(capsys, paths)
    assert show(capsys, paths, "--gain", "1").endswith("src: no sentence is left to be shown\n")


@pytest.mark.parametrize(
    ("words", "lines", "out", "message"),
    [
        (2, 101, "x.html", "101 sentences: a picture holds at most 100; choose some (--sample)"),
        (700, 1, "x.png", "too large for a .png: give fewer or shorter sentences, or write an .svg"),
    ],
)
def test_too_much_for_a_picture(tmp_path, capsys, words, lines, out, message):
    pytest.importorskip("matplotlib")
    texts = {"src": " ".join(["word"] * words), "positions": " ".join(map(str, range(words)))}
    paths = {name: write(tmp_path / name, *[text] * lines) for name, text in texts.items()}
    options = ["--lines", f"1-{lines}", "--out", str(tmp_path / out)]
    assert show(capsys, paths, *options, names=tuple(paths)) == f"{message}\n"
    assert not (tmp_path / out).exists()
