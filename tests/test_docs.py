"""What the documents promise: pictures are current, links lead somewhere."""

import os
import re
from pathlib import Path

import pytest

import preorder
from preorder.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [
    path.relative_to(ROOT)
    for path in sorted(ROOT.rglob("*.md"))
    if not re.match(r"\.|build/|runs/", str(path.relative_to(ROOT)))
]


def anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_picture_is_what_the_command_draws(tmp_path):
    pytest.importorskip("matplotlib", minversion="3.11")  # older ones write the same text in other words
    sentence = {
        name: str(ROOT / f"docs/example/sentence.{name}") for name in ("en", "ja", "align", "positions")
    }
    files = ["--src", sentence["en"], "--positions", sentence["positions"]]
    files += ["--tgt", sentence["ja"], "--align", sentence["align"]]
    assert main(["show", *files, "--out", str(tmp_path / "example.svg")]) == 0
    assert (tmp_path / "example.svg").read_bytes() == (ROOT / "docs/example.svg").read_bytes()


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if target.startswith("http"):
            continue
        file, _, anchor = target.partition("#")
        linked = (ROOT / page).parent / file if file else ROOT / page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


def test_the_reference_and_the_contents_are_whole():
    reference = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    assert set(re.findall(r":: preorder\.(\w+)$", reference, re.M)) == set(preorder.__all__) | {"api"}
    contents = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    listed = {os.path.normpath(f"docs/{line}.md") for line in re.findall(r"^[\w./-]+$", contents, re.M)}
    assert {str(page) for page in PAGES} - {"docs/index.md"} == listed - {"docs/notebook.md"}
