"""The documents: pictures are current, links lead somewhere, what is shown comes of what is run."""

import doctest
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

import preorder
from preorder.cli import main
from tests.support.running import ROOT, environment
from tests.support.tiny_model import train_tiny

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


# --- the README's Python, and the commands of the tutorial ---

# What is only shorter here: the bitext, the preorderers' learning and the training of three steps.
SHORTER = """\
set -euo pipefail
python() { command python "$@" --pairs 200 --held 20; }
preorder() {
    case "$1" in train) set -- "$@" --iterations 1 --classes 5 ;; esac
    command preorder "$@"
}
onmt_train() {
    command onmt_train "$@" -train_steps 3 -valid_steps 1 -save_checkpoint_steps 1 -bucket_size 300
}
"""


def test_the_python_of_the_readme_gives_what_it_shows():
    assert doctest.testfile(str(ROOT / "README.md"), module_relative=False, encoding="utf-8") == (0, 4)


@pytest.mark.parametrize(
    "module",
    ["preorder.alignment.tokens", "preorder.data.spellings"]
    + [f"onmt_preorder.input.{name}" for name in ("pipeline", "positions") if find_spec("onmt")],
)
def test_the_examples_of_docstrings(module):
    failed, attempted = doctest.testmod(importlib.import_module(module))
    assert (failed, attempted > 0) == (0, True)


def run_block(page, folder):
    """Run a page's block in a folder as `make setup` leaves it, with an environment to activate."""
    (block,) = re.findall(r"^```bash\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
    (folder / ".venv/bin").mkdir(parents=True, exist_ok=True)
    line = f'export PATH="{Path(sys.executable).parent}:$PATH" PYTHONPATH="{ROOT}"\n'
    (folder / ".venv/bin/activate").write_text(line)
    variables = {name: value for name, value in os.environ.items() if name in ("HOME", "TMPDIR", "LANG")}
    variables["PATH"] = os.defpath
    command, pipes = ["bash", "-c", SHORTER + block], {"capture_output": True, "text": True}
    done = subprocess.run(command, cwd=folder, env=variables, **pipes, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def test_the_block_of_the_readme_runs(tmp_path):
    pytest.importorskip("eflomal")
    run_block("README.md", tmp_path)
    assert "￨" in (tmp_path / "bitext/test.features").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_block_ends_in_figures(tmp_path):
    for program in ("onmt", "eflomal"):
        pytest.importorskip(program)
    checkout = tmp_path / "check out"
    for _ in range(2):  # what is there from the first time is replaced
        done = run_block("docs/tutorial.md", checkout)
        for row in ("aligned tokens", "unreordered"):
            assert re.search(rf"│ +{row} +│ +-?\d\.\d+ │", done.stdout), done.stdout
        assert re.search(r"┃ system +┃ +BLEU ┃(?:.*\n){2}│ test.hyp │ +\d+\.\d\d │", done.stdout), done.stdout
        best = r"Best checkpoint: step \d, validation perplexity \S+: (run/model_step_\d\.pt)"
        assert f"Loading checkpoint from {re.search(best, done.stderr)[1]}" in done.stderr
        assert len((checkout / "play/test.hyp").read_text(encoding="utf-8").splitlines()) == 20


# --- other pipelines: what docs/scale.md shows of them runs as it stands, and writes what `apply` writes ---

LINES = {"a": [f"S{i % 7} V{i % 5} O{i % 3}" for i in range(30)], "b": ["O1", "", "S3 V4 a￨b O2 V1"]}
PAGE = (ROOT / "docs/scale.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)


def script_of(module):
    (script,) = (script for script in SCRIPTS if module in script)
    return script


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """A folder with a model and text, and what ``preorder apply`` makes of it."""
    folder = tmp_path_factory.mktemp("pipelines")
    train_tiny(folder, classes=0)
    for name in ("in", "documents"):
        (folder / name).mkdir()
    found = {}
    for name, lines in LINES.items():
        text = "\n".join(lines)
        (folder / f"in/{name}.en").write_text(f"{text}\n")
        (folder / f"documents/{name}.jsonl").write_text(json.dumps({"id": name, "text": text}))
        command = f"apply -q --model {folder}/model --src {folder}/in/{name}.en --out {folder}/{name}"
        assert main(command.split()) == 0
        found[name] = (folder / name).read_text(encoding="utf-8").splitlines()
    return folder, found


PIPELINES = [("ray.data", "ray"), ("datasets", ""), ("datatrove", "")]


def test_all_scripts_are_run():
    assert sorted(script_of(module) for module, _ in PIPELINES) == sorted(SCRIPTS)


@pytest.mark.slow
@pytest.mark.parametrize(("module", "library"), PIPELINES)
def test_it_runs_as_it_stands(expected, tmp_path, module, library):
    for needed in (library or module, "pyarrow"):
        if find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed: pip install -e '.[test]'")
    folder, found = expected
    for name in ("model", "in", "documents"):
        (tmp_path / name).symlink_to(folder / name)
    (tmp_path / "script.py").write_text(script_of(module), encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="ray-") as short:  # Ray puts sockets there
        ray = {"RAY_TMPDIR": short, "RAY_USAGE_STATS_ENABLED": "0"}
        variables = environment(HOME=str(tmp_path), HF_HUB_OFFLINE="1", **ray)
        pipes = {"capture_output": True, "text": True, "timeout": 300}
        done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, env=variables, **pipes)
    assert done.returncode == 0, done.stderr[-3000:]
    written = [path.read_text(encoding="utf-8") for path in sorted(Path(tmp_path, "out").glob("*.json*"))]
    rows = [json.loads(line) for text in written for line in text.splitlines()]
    if module == "datatrove":
        features = {row["id"]: row["metadata"]["features"].split("\n") for row in rows}
        assert features == found
    else:
        assert [row["features"] for row in rows] == found["a"] + found["b"]
        assert [row["text"] for row in rows] == LINES["a"] + LINES["b"]


def test_the_workflow_tests_the_oldest_and_the_newest_python():
    settings = (ROOT / "pyproject.toml").read_text()
    versions = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', settings)
    tested = re.findall(r'"(3\.\d+)"', (ROOT / ".github/workflows/ci.yml").read_text())
    assert [tested[0], tested[-1]] == [versions[0], versions[-1]]
    assert f'requires-python = ">={versions[0]}"' in settings
