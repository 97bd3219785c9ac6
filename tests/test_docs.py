"""What the documents promise: pictures are current, links lead somewhere, recipes name real systems."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    path.relative_to(ROOT)
    for path in sorted(ROOT.rglob("*.md"))
    if not {".venv", "runs"} & set(path.relative_to(ROOT).parts)
]


def anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_picture_is_what_its_script_draws():
    script = runpy.run_path(str(ROOT / "docs/picture.py"))
    assert script["draw"]() + "\n" == (ROOT / "docs/example.svg").read_text(encoding="utf-8")


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


@pytest.mark.parametrize("recipe", ["enja", "multi30k"])
def test_recipes_name_systems_that_have_a_configuration(recipe):
    script = (ROOT / "recipes" / recipe / "run.sh").read_text()
    systems = re.search(r"^systems=(.*)$", script, re.M)[1].split(",")
    size = re.search(r"--size (\w+)", script)[1]
    assert {path.stem for path in (ROOT / "config" / size).glob("*.yaml")} == set(systems)
