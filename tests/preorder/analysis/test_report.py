"""``preorder report``: what its manifest may say, the page as text, and in a browser."""

import html
import io
import json
import re
import shutil
import sys

import pytest
from markupsafe import escape

from preorder.analysis.report import read_manifest, report_run
from preorder.analysis.sentence_view import Gallery
from preorder.cli import main
from preorder.errors import DataError
from preorder.metrics import MetricOptions
from tests.support.browser import started
from tests.support.texts import content, write

pytest.importorskip("matplotlib")

LEAST = {
    "title": "A run",
    "source": "test.en",
    "references": ["test.ja"],
    "systems": {"base": {"runs": ["a"]}},
}


def manifest(folder, **changes):
    path = folder / "report.json"
    path.write_text(json.dumps(LEAST | changes))
    return path


def test_everything(tmp_path):
    systems = {"one": {"runs": ["a", "/b"], "positions": "p"}, "two": {"runs": ["c"]}}
    options = {"tokenize": "none", "words": "intl", "case_sensitive": True, "alignment": "links"}
    found = read_manifest(manifest(tmp_path, systems=systems, robustness="r/curves", **options), ["/b"])
    assert found.options == MetricOptions("none", True, "intl")
    assert found.robustness == str(tmp_path / "r/curves")
    assert found.files.systems == {"one": [str(tmp_path / "a"), "/b"], "two": [str(tmp_path / "c")]}
    assert found.files.positions == {"one": str(tmp_path / "p")}
    assert found.files.alignment == str(tmp_path / "links")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"title": None}, "report.title: not a text"),
        ({"references": []}, "report.references: not a list of texts"),
        ({"references": ["a", "a"]}, "report.references: not a list of texts, each once"),
        ({"references": [1]}, "report.references: not a list of texts"),
        ({"title": "a" * 4097}, "report.title: not a text of at most 4,096 characters"),
        ({"systems": {}}, "report.systems: not an object"),
        ({"systems": {"a" * 4097: {"runs": ["b"]}}}, "report.systems: not an object with names of at most"),
        ({"systems": {"a": "b"}}, "report.systems.a: not an object"),
        ({"systems": {"a": {"runs": ["b"], "order": 1}}}, "report.systems.a: unknown field 'order'"),
        ({"titel": "A"}, "report: unknown field 'titel', only title"),
        ({"tokenize": "moses"}, "report.tokenize: 'moses' is none of 13a"),
        ({"facts": {"steps": 5}}, "report.facts: not an object of texts"),
        ({"warnings": []}, "report.warnings: not a list of texts"),
        ({"case_sensitive": 1}, "report.case_sensitive: neither true nor false"),
    ],
)
def test_mistakes(tmp_path, changes, message):
    with pytest.raises(DataError, match=message) as caught:
        read_manifest(manifest(tmp_path, **changes))
    assert caught.value.file == str(tmp_path / "report.json")


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
    texts = {"source": "test.src", "references": ["test.ref"], "alignment": "align", "tokenize": "none"}
    title = f"Run {HOSTILE}"
    systems["base"]["about"] = f"all of {HOSTILE}"
    told = {
        "facts": {f"steps {HOSTILE}": "3,000", "control": "a\0b\x1bc"},
        "warnings": [f"beware of {HOSTILE}"],
    }
    manifest(folder, title=title, systems=systems, robustness="robustness.json", **texts, **told)
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


@pytest.mark.parametrize("name", ["report.json", "test.ref"])
def test_what_the_page_is_made_of_is_not_replaced(page, tmp_path, capsys, name):
    folder = shutil.copytree(page.parent, tmp_path, dirs_exist_ok=True)
    before = content(folder)
    assert main(["report", str(folder), "--out", f"{folder}/{name}"]) == 2
    error = f"{folder}/{name} would be overwritten while it is needed: name another output\n"
    assert capsys.readouterr().err == error
    assert content(folder) == before


def headings(text):
    return list(map(html.unescape, re.findall(r"<h[123][^>]*>(.*?)</h[123]>", text)))


def test_page(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    assert headings(text) == [
        f"Run {HOSTILE}",
        "Scores",
        "Examples of ours<b>",
        "By length",
        "n-gram precisions",
        "By what the order of ours<b> gains",
        "Sentences in the order of ours<b>",
        "Order headroom of base",
        "What is left of base",
        "Under- and over-generation",
        "Examples of third",
        "Swapped words",
    ]
    for told in (f"beware of {HOSTILE}", f"steps {HOSTILE}", f"all of {HOSTILE}", "ours<b> "):
        assert str(escape(told)) in text
    assert "<dd>a\ufffdb\ufffdc</dd>" in text
    assert re.findall(r'\s(?:src|href|data|action)="(?!#)', text) == []  # nothing from elsewhere
    assert text.count("<script") == 1  # ours
    names = re.findall(r'\sid="([^"]*)"', text)
    assert len(names) == len(set(names))
    assert text.count("<caption>") == text.count("<table>") == 1 + 5 + 2 + 1 + 2 + 1 + 1 + 2
    assert text.count("<svg") == text.count('role="img"') == text.count(" <title>") == 5 + 10
    assert "@import" not in text
    assert "url(http" not in text
    assert main(["report", str(page.parent), "--out", str(tmp_path / "again.html")]) == 0
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


def reported(folder, seed=1):
    """Return the report of a run, and its chapters by their headings."""
    run = report_run(read_manifest(folder / "report.json"), seed)
    return run, {chapter.heading: chapter.content for chapter in run.chapters}


def test_scores_and_sentences(page, tmp_path, capsys):
    """Scores are those of ``preorder score``; sentences are drawn by the seed, in each order the same."""
    folder = shutil.copytree(page.parent, tmp_path, dirs_exist_ok=True)
    write(folder / "same", *(" ".join(map(str, range(len(text.split())))) for text in SOURCE))
    given = json.loads((folder / "report.json").read_text())
    given["systems"]["third"]["positions"] = "same"
    manifest(folder, **given)
    run, chapters = reported(folder)
    assert run.sentences == 12
    assert chapters["By length"].kind == "length"
    same = chapters["Swapped words"].measures["bleu"]["base"]
    assert same[0] == same[1]
    files = ["--ref", str(folder / "test.ref"), "--hyp", f"base={folder}/hyp0"]
    assert main(["score", *files, "--tokenize", "none", "--json"]) == 0
    score = json.loads(capsys.readouterr().out)["systems"]["base"]["bleu"]
    name, bleu, *_ = run.scores.rows[0]
    assert (name, bleu.startswith(f"{score:.2f}")) == ("base", True)
    titles = (f"Sentences in the order of {system}" for system in ("ours<b>", "third"))
    ours, third = (chapters[title].as_json() for title in titles)
    assert ours["chosen"] == "10 of 12 sentences of at most 40 tokens, chosen at random, seed 1"
    chosen = [one["line"] for one in ours["sentences"]]
    assert chosen == [one["line"] for one in third["sentences"]] == sorted(set(chosen))
    assert len(chosen) == 10
    for mine, same in zip(ours["sentences"], third["sentences"], strict=True):
        assert mine["source"] == SOURCE[mine["line"] - 1].split()
        assert mine["target"] == REFERENCE[mine["line"] - 1].split()
        assert mine["preordered"] == mine["source"][::-1]
        assert mine["tau_nakagawa_preordered"] == 1 > mine["tau_nakagawa"]
        assert same["tau_nakagawa_preordered"] == same["tau_nakagawa"] == mine["tau_nakagawa"]
    given["systems"]["third"]["positions"] = "positions"  # both have one order
    manifest(folder, **given)
    drawn = {heading: one for heading, one in reported(folder, 2)[1].items() if "in the order of" in heading}
    assert list(drawn) == ["Sentences in the order of ours<b>, third"]
    assert [line for line, _ in drawn.popitem()[1].sentences] != chosen


LONG = " ".join("a" * 41)


@pytest.mark.parametrize(
    ("first", "second", "drawn"),
    [
        (("a b", "x y", "0-1 1-0"), ("a b", "x y", "0-0"), [1, 2]),
        (("a b", "x y z", "0-0 0-2 1-1"), ("a b", "x y", "0-0"), [2]),  # cannot be sorted
        ((LONG, "x y", "0-1 1-0"), ("a b", LONG, "0-0"), []),
        (("", "x y", ""), ("a b", "x y", "0-0"), [2]),
        (("a b", "x y", "0-1 1-0"), ("a b", "x y", "0-2"), None),
    ],
)
def test_sentences_that_are_not_drawn(tmp_path, caplog, first, second, drawn):
    positions = [" ".join(map(str, range(len(source.split())))) for source, *_ in (first, second)]
    names = ("source", "ref", "alignment", "positions")
    for name, texts in zip(names, (*zip(first, second, strict=True), positions), strict=True):
        write(tmp_path / name, *texts)
    systems = {"ours": {"runs": ["ref"], "positions": "positions"}}
    manifest(tmp_path, source="source", references=["ref"], alignment="alignment", systems=systems)
    _, chapters = reported(tmp_path)
    galleries = [content.sentences for content in chapters.values() if isinstance(content, Gallery)]
    assert [line for gallery in galleries for line, _ in gallery] == (drawn or [])
    reason = "the reference is not the text that was aligned, so no sentences are drawn"
    where = f"{tmp_path}/alignment:2: link 0-2 is out of range: the target has 2 tokens"
    assert caplog.messages == ([] if drawn is not None else [f"{where}: {reason}"])


def test_several_runs(page, tmp_path):
    """The second lacks a score."""
    folder = shutil.copytree(page.parent, tmp_path / "other")
    given = json.loads((folder / "report.json").read_text())
    for one in (given, *given["systems"].values()):
        one.pop("alignment", None)
        one.pop("positions", None)
    manifest(folder, **given)
    assert main(["report", str(page.parent), str(folder), "--out", str(tmp_path / "both.html")]) == 0
    text = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert headings(text)[:2] == ["2 runs", f"Run {HOSTILE}"]
    assert headings(text).count("Scores") == 2
    table = text[text.index("Scores of all runs") : text.index("</table>")]
    assert table.count("<tr>") == 1 + 2 * len(SYSTEMS)
    assert table.count('<th scope="col">') == 1 + 8
    assert table.count("<td>–</td></tr>") == len(SYSTEMS)
    names = re.findall(r'\sid="([^"]*)"', text)
    assert len(names) == len(set(names))


@pytest.fixture(scope="module")
def browser(page):
    with started() as browser:
        browser.open(page)
        yield browser


def test_sorting(browser):
    def numbers():
        rows = "[...document.querySelector('table').tBodies[0].rows]"
        cells = browser.run(f"return {rows}.map(row => row.cells[1].textContent)")
        return [float(text.split(" ")[0].rstrip("*")) for text in cells]

    before = numbers()
    for order in ("descending", "ascending"):
        browser.click("table thead th:nth-child(2) button")
        heads = "[...document.querySelector('table').tHead.rows[0].cells]"
        sorts = browser.run(f"return {heads}.map(head => head.getAttribute('aria-sort'))")
        assert sorts == ["none", order, *["none"] * 6]
        assert numbers() == sorted(before, reverse=order == "descending")


def test_a_phone_scrolls_tables_and_pictures_alone(browser):
    """The page is as wide as the screen, and the name of a system stays in its cell."""
    browser.resize(375, 700)
    assert browser.run("return document.documentElement.scrollWidth") <= 375
    heads = "[...document.querySelectorAll('tbody th')]"
    assert browser.run(f"return {heads}.every(head => head.scrollWidth <= head.clientWidth + 1)")


def test_nothing_of_the_text_is_run(browser):
    assert browser.run("return document.title") == f"Run {HOSTILE}"
    assert HOSTILE in browser.run("return document.body.innerText")
    assert browser.messages() == []  # nor does the browser complain
