"""What the documents promise: pictures are current, links lead somewhere, recipes name real systems."""

import os
import re
import subprocess
from pathlib import Path

import pytest

import preorder
from preorder.cli import main
from recipes.configuration import read_system

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


def test_recipes_name_systems_that_have_a_configuration():
    script = (ROOT / "recipes/both_ways.sh").read_text()
    size = re.search(r"--size (\w+)", script)[1]
    for system in re.search(r"^systems=(.*)$", script, re.M)[1].split(","):
        assert read_system(system, size).name == system


def test_recipes_run_both_ways(tmp_path):
    """With a Python that only tells how it was called."""
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$@"\n')
    python.chmod(0o755)
    command = [str(ROOT / "recipes/both_ways.sh"), "enja", "en", "ja", "folder", "--jobs", "2"]
    environment = {**os.environ, "PYTHON": str(python)}
    calls = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    for source, target, call in zip(("en", "ja"), ("ja", "en"), calls.splitlines(), strict=True):
        assert f"-m recipes.run --data folder --src {source} --tgt {target} --run" in call
        assert f"runs/enja-{source}-{target} --size" in call
        assert call.endswith(" --jobs 2")
    failed = subprocess.run(command[:-3], env=environment, capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert failed.stderr.startswith("usage: recipes/both_ways.sh NAME LANGUAGE LANGUAGE DATA_FOLDER")


@pytest.mark.parametrize("name", ["phrases", "explicit_reordering", "distortion"])
def test_the_recipes_of_papers(tmp_path, name):
    """With a Python that only tells how it was called."""
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$@"\n')
    python.chmod(0o755)
    command = [str(ROOT / f"recipes/{name}.sh"), "folder", "en", "de", "--jobs", "2"]
    environment = {**os.environ, "PYTHON": str(python)}
    first, *more = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert "-m recipes.run --data folder --src en --tgt de --run" in first
    assert first.endswith(" --jobs 2")
    size, systems = re.search(r"--size (\w+)", first)[1], re.search(r"--systems ([\w,]+)", first)[1]
    for system in systems.split(","):
        assert read_system(system, size).name == system
    for folder in re.findall(r"systems/(\w+)/seed[12]/model.pt", "\n".join(more)):
        assert folder in systems.split(",")
    failed = subprocess.run(command[:-3], env=environment, capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert failed.stderr.startswith(f"usage: recipes/{name}.sh DATA_FOLDER SOURCE TARGET")


def test_the_reference_and_the_contents_are_whole():
    reference = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    assert set(re.findall(r":: preorder\.(\w+)$", reference, re.M)) == set(preorder.__all__) | {"api"}
    contents = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    listed = {os.path.normpath(f"docs/{line}.md") for line in re.findall(r"^[\w./-]+$", contents, re.M)}
    assert {str(page) for page in PAGES} - {"docs/index.md"} == listed - {"docs/notebook.md"}
