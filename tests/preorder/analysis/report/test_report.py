"""``preorder report``: the page as text, and in a browser."""

import html
import io
import json
import re
import sys

import pytest

from preorder.cli import main
from tests.support.browser import ENTER, SPACE, TAB, started
from tests.support.texts import write

pytest.importorskip("matplotlib")

HOSTILE = "<script>document.title='caught'</script> & \"quotes\""
SOURCE = ["a b c d", "a b c d e f g", f"a b {HOSTILE}"] * 4
REFERENCE = ["w x y z .", "the cat sat on the mat .", "it is cold , is it ?"] * 4
SYSTEMS = {
    "base": ["x y z .", "the cat sat on mat .", "it cold is ?"] * 4,
    "ours<b>": ["w x y z .", "the the cat sat on the mat", f"it is {HOSTILE} ?"] * 4,
    "third": ["z y x w", "mat the on cat the sat .", "it is cold , is it ?"] * 4,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run with everything that there can be."""
    folder = tmp_path_factory.mktemp("run")
    write(folder / "test.src", *SOURCE)
    write(folder / "test.ref", *REFERENCE)
    lengths = [len(text.split()) for text in SOURCE]
    write(folder / "align", *(" ".join(f"{i}-{min(n - 1 - i, 3)}" for i in range(n)) for n in lengths))
    write(folder / "positions", *(" ".join(str(n - 1 - i) for i in range(n)) for n in lengths))
    systems = {}
    for number, (name, texts) in enumerate(SYSTEMS.items()):
        write(folder / f"hyp{number}", *texts)
        systems[name] = {"runs": [f"hyp{number}"]}
    systems["ours<b>"] |= {"positions": "positions"}
    write(folder / "hyp1.again", *texts)
    systems["ours<b>"]["runs"].append("hyp1.again")
    for percent in (0, 50):
        write(folder / f"swapped.{percent}", *SYSTEMS["base"])
    manifest = {
        "title": f"Run {HOSTILE}",
        "source": "test.src",
        "references": ["test.ref"],
        "alignment": "align",
        "tokenize": "none",
        "systems": systems,
        "robustness": "robustness.json",
    }
    (folder / "report.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture(scope="module")
def page(folder, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        out = io.StringIO()
        patch.setattr(sys, "stdout", out)
        patterns = [f"base={folder}/swapped.{{}}", "--percent", "0,50", "--tokenize", "none", "--json"]
        assert main(["analyse", "robustness", "--ref", str(folder / "test.ref"), "--hyp", *patterns]) == 0
    (folder / "robustness.json").write_text(out.getvalue())
    assert main(["report", str(folder)]) == 0
    return folder / "report.html"


@pytest.mark.parametrize(
    "name", "report.json test.ref hyp1.again robustness.json notes ./link x.html".split()
)
def test_only_an_earlier_report_is_replaced(page, capsys, name):
    """Also by the name of a link, and what lies in the folder without being named in ``report.json``."""
    folder = page.parent
    for extra in ("notes", "x.html"):
        (folder / extra).write_text("<!doctype html>\n<html><head><title>notes</title>")
    if not (folder / "link").exists():
        (folder / "link").symlink_to("hyp0")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert main(["report", str(folder), "--out", f"{folder}/{name}"]) == 2
    error = f"{folder}/{name} would be overwritten, and is no report: name another output\n"
    assert capsys.readouterr().err == error
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    for path in ("notes", "x.html", "link"):
        (folder / path).unlink()


def test_what_a_run_names_elsewhere_is_not_replaced(folder, tmp_path, capsys):
    manifest = json.loads((folder / "report.json").read_text())
    manifest["robustness"] = None
    for name in ("test.src", "test.ref", "align", "positions", "hyp0", "hyp1", "hyp1.again", "hyp2"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    manifest["source"] = str(folder / "test.src")
    (tmp_path / "report.json").write_text(json.dumps(manifest))
    given = ["report", str(tmp_path), "--also", str(folder)]
    assert main([*given, "--out", str(folder / "test.src")]) == 2
    assert "test.src would be overwritten" in capsys.readouterr().err
    (tmp_path / "new.html").unlink(missing_ok=True)
    for _ in range(2):
        assert main([*given, "--out", str(tmp_path / "new.html")]) == 0


def headings(text):
    return list(map(html.unescape, re.findall(r"<h[123][^>]*>(.*?)</h[123]>", text)))


def test_page(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    assert headings(text) == [
        f"Run {HOSTILE}",
        "Scores",
        "By length",
        "By what the order of ours<b> gains",
        "Sentences in the order of ours<b>",
        "n-gram precisions",
        "Under- and over-generation",
        "Examples of ours<b>",
        "Examples of third",
        "Swapped words",
    ]
    assert re.findall(r'\s(?:src|href|data|action)="(?!#)', text) == []  # nothing from elsewhere
    assert text.count("<script") == 1  # ours
    names = re.findall(r'\sid="([^"]*)"', text)
    assert len(names) == len(set(names))
    assert text.count("<caption>") == text.count("<table>") == 1 + 3 + 2 + 1 + 1 + 1 + 2
    assert text.count("<svg") == text.count('role="img"') == text.count(" <title>") == 5 + 10
    assert "@import" not in text
    assert "url(http" not in text
    assert main(["report", str(page.parent), "--out", str(tmp_path / "again.html")]) == 0
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


def test_json(page, capsys):
    page.unlink()
    assert main(["report", str(page.parent), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert not page.exists()  # not asked for
    (run,) = found["runs"]
    assert set(run) == {"title", "sentences", "signature", "scores", "chapters"}
    chapters = {chapter["heading"]: chapter["content"] for chapter in run["chapters"]}
    assert run["sentences"] == 12
    assert chapters["By length"]["kind"] == "length"
    same = chapters["Swapped words"]["measures"]["bleu"]["base"]
    assert same[0] == same[1]
    files = ["--ref", str(page.parent / "test.ref"), "--hyp", f"base={page.parent}/hyp0"]
    assert main(["score", *files, "--tokenize", "none", "--json"]) == 0
    score = json.loads(capsys.readouterr().out)["systems"]["base"]["bleu"]
    assert run["scores"]["rows"][0][:1] == ["base"]
    assert run["scores"]["rows"][0][1].startswith(f"{score:.2f}")
    assert main(["report", str(page.parent)]) == 0


def test_galleries(page, tmp_path, capsys):
    """The sentences are drawn by the seed, the same in each order; tau is that of ``preorder score``."""
    for path in page.parent.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    manifest = json.loads((tmp_path / "report.json").read_text())
    lengths = [len(text.split()) for text in SOURCE]
    write(tmp_path / "same", *(" ".join(map(str, range(n))) for n in lengths))
    manifest["systems"]["third"]["positions"] = "same"
    (tmp_path / "report.json").write_text(json.dumps(manifest))

    def galleries(seed):
        assert main(["report", str(tmp_path), "--json", "--seed", seed]) == 0
        (run,) = json.loads(capsys.readouterr().out)["runs"]
        return [found["content"] for found in run["chapters"] if found["content"].get("kind") == "gallery"]

    ours, third = galleries("1")
    assert ours["chosen"] == "10 of 12 sentences of at most 40 tokens, drawn at random, seed 1"
    chosen = [one["line"] for one in ours["sentences"]]
    assert chosen == [one["line"] for one in third["sentences"]]
    assert chosen == sorted(set(chosen))
    assert len(chosen) == 10
    others = [[one["line"] for one in galleries(seed)[0]["sentences"]] for seed in "2345"]
    assert any(other != chosen for other in others)
    for mine, same in zip(ours["sentences"], third["sentences"], strict=True):
        assert mine["source"] == SOURCE[mine["line"] - 1].split()
        assert mine["target"] == REFERENCE[mine["line"] - 1].split()
        assert mine["preordered"] == mine["source"][::-1]
        assert mine["tau_nakagawa_preordered"] == 1 > mine["tau_nakagawa"]
        assert same["tau_nakagawa_preordered"] == same["tau_nakagawa"] == mine["tau_nakagawa"]


LONG = " ".join("a" * 41)


@pytest.mark.parametrize(
    ("first", "second", "drawn"),
    [
        (("a b", "x y", "0-1 1-0"), ("a b", "x y", "0-0"), [1, 2]),
        (("a b", "x y z", "0-0 0-2 1-1"), ("a b", "x y", "0-0"), [2]),  # cannot be sorted
        ((LONG, "x y", "0-1 1-0"), ("a b", LONG, "0-0"), []),
        (("", "x y", ""), ("a b", "", ""), []),
        (("a b", "x y", "0-1 1-0"), ("a b", "x y", "0-2"), None),
    ],
)
def test_sentences_that_are_not_drawn(tmp_path, capsys, first, second, drawn):
    positions = [" ".join(map(str, range(len(source.split())))) for source, *_ in (first, second)]
    names = ("test.src", "test.ref", "align", "positions")
    for name, texts in zip(names, (*zip(first, second, strict=True), positions), strict=True):
        write(tmp_path / name, *texts)
    manifest = {"title": "run", "source": "test.src", "references": ["test.ref"], "alignment": "align"}
    manifest["systems"] = {"ours": {"runs": ["test.ref"], "positions": "positions"}}
    (tmp_path / "report.json").write_text(json.dumps(manifest))
    assert main(["report", str(tmp_path), "--json", "--quiet"]) == 0
    out, error = capsys.readouterr()
    contents = [chapter["content"] for chapter in json.loads(out)["runs"][0]["chapters"]]
    galleries = [content["sentences"] for content in contents if content.get("kind") == "gallery"]
    found = [sentence["line"] for gallery in galleries for sentence in gallery]
    assert found == (drawn or [])
    reason = "the reference is not the text that was aligned, so no sentences are drawn"
    where = f"{tmp_path}/align:2: link 0-2 is out of range: the target has 2 tokens"
    assert error == ("" if drawn is not None else f"{where}: {reason}\n")


def test_several_runs(page, tmp_path, capsys):
    options = ["--title", "Both", "--out", str(tmp_path / "both.html")]
    assert main(["report", str(page.parent), str(page.parent), *options]) == 0
    text = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert headings(text)[:2] == ["Both", f"Run {HOSTILE}"]
    assert headings(text).count("Scores") == 2
    table = text[text.index("Scores of all runs") : text.index("</table>")]
    assert table.count("<tr>") == 1 + 2 * len(SYSTEMS)
    assert table.count('<th scope="col">') == 1 + 6
    names = re.findall(r'\sid="([^"]*)"', text)
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"robustness": "report.json"},
            "report.json: not what preorder analyse --json writes of curves: Key",
        ),
        ({"source": "none"}, "none: cannot be read"),
        ({"tokenize": 1}, "report.json: report.tokenize: 1 is none of"),
    ],
)
def test_mistakes(page, tmp_path, capsys, change, message):
    for path in page.parent.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    manifest = json.loads((tmp_path / "report.json").read_text())
    (tmp_path / "report.json").write_text(json.dumps(manifest | change))
    assert main(["report", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.fixture(scope="module")
def browser(page):
    with started() as browser:
        browser.open(page)
        yield browser


def heads(browser, table):
    return browser.run(f"""return [...document.querySelectorAll('table')[{table}].tHead.rows[0].cells]
        .map(head => head.getAttribute('aria-sort'))""")


def column(browser, table, number):
    return browser.run(f"""return [...document.querySelectorAll('table')[{table}].tBodies[0].rows]
        .map(row => row.cells[{number}].textContent)""")


def test_sorting(browser):
    def numbers():
        return [float(text.split(" ")[0].rstrip("*")) for text in column(browser, 0, 1)]

    before = numbers()
    assert heads(browser, 0) == ["none"] * 6
    for order in ("descending", "ascending"):
        browser.click("table thead th:nth-child(2) button")
        assert heads(browser, 0) == ["none", order, *["none"] * 4]
        assert numbers() == sorted(before, reverse=order == "descending")
    browser.run("document.querySelector('table').closest('.scroll').focus()")
    for keys, order in (((TAB, ENTER), "ascending"), ((SPACE,), "descending")):  # the first head of the table
        browser.press(*keys)
        assert heads(browser, 0)[0] == order
        assert column(browser, 0, 0) == sorted(SYSTEMS, reverse=order == "descending")
    assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_groups_are_sorted_as_numbers_and_nothing_comes_last(browser):
    table = "document.querySelectorAll('table')[1]"
    browser.run(f"{table}.tBodies[0].rows[0].cells[2].textContent = '–'")
    lengths = column(browser, 1, 0)
    for head, number, expected in ((2, 2, None), (2, 2, None), (0, 0, lengths[::-1]), (0, 0, lengths)):
        browser.run(f"{table}.tHead.rows[0].cells[{head}].firstChild.click()")
        found = column(browser, 1, number)
        assert found == expected if expected else found[-1] == "–"


def test_nothing_of_the_text_is_run(browser):
    assert browser.run("return document.title") == f"Run {HOSTILE}"
    assert HOSTILE in browser.run("return document.body.innerText")
    assert browser.messages() == []  # nor does the browser complain


@pytest.mark.parametrize("width", [1200, 390, 320])
def test_no_page_is_wider_than_its_screen(browser, width):
    browser.screen(width, 800)
    assert browser.run("return document.documentElement.scrollWidth") == width
    boxes = browser.run(
        "return [...document.querySelectorAll('.scroll, figure')].map(b => [b.clientWidth, b.scrollWidth])"
    )
    assert all(inner <= width for inner, _ in boxes)
    if width < 400:
        assert any(outer > inner for inner, outer in boxes)  # wide tables scroll inside their box


CONTRAST = """
const light = colour => colour.slice(0, 3)
  .map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
const numbers = text => text.match(/[\\d.]+/g).map(Number);
const ground = node => {
  for (; node; node = node.parentElement) {
    const colour = numbers(getComputedStyle(node).backgroundColor);
    if (colour.length === 3 || colour[3] > 0) return colour;
  }
};
return [...document.querySelectorAll('body *:not(svg *):not(script)')]
  .filter(node => [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim()))
  .map(node => {
    const pair = [light(numbers(getComputedStyle(node).color)), light(ground(node))].sort((a, b) => b - a);
    return [(pair[0] + 0.05) / (pair[1] + 0.05), node.tagName + ' ' + node.textContent.slice(0, 40)];
  }).sort((a, b) => a[0] - b[0])[0];
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_contrast(browser, dark):
    browser.screen(1200, 800, dark)
    ground = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(22, 24, 28)" if dark else "rgb(255, 255, 255)")
    least, where = browser.run(CONTRAST)
    assert least >= 4.5, where


def test_what_a_screen_reader_is_told(browser):
    assert browser.run("return document.documentElement.lang") == "en"
    names = browser.run(
        "return [...document.querySelectorAll('svg')].map(svg => svg.getAttribute('aria-label'))"
    )
    assert len(names) == 5 + 10
    assert sum(" of " in name for name in names) == 5
    assert sum(name.endswith(", its links, before and after preordering") for name in names) == 10
    assert browser.run("return document.querySelectorAll('th:not([scope])').length") == 0
    assert browser.run("return document.querySelectorAll('h1').length") == 1
