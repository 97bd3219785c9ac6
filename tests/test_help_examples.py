"""Every example of a ``--help`` runs, on tiny files of the names that it has."""

import gzip
import importlib
import re
import shutil

import pytest

from onmt_preorder import cli as onmt_cli
from preorder.cli import COMMANDS, EPILOG, main
from preorder_recipes.synthetic import generate
from tests.test_documented_commands import bash, train

PREFIXES = ("preorder ", "onmt_preorder ", "onmt_translate ", "zcat ", "echo ", "PYTHONPATH=", "curl ")
ELSEWHERE = (
    *("--lang ", "--stanza-dir"),  # need Stanza's models: tests/doors/test_stanza.py
    *("preorder serve", "curl "),  # tests/preorder/cli/test_serve.py
    "preorder report",  # needs a run: tests/recipes/test_run.py
    "PYTHONPATH=",  # tests/onmt_preorder
)
"""Parts of examples that are not run here."""
QUICK = ("map", "gold", "models", "evaluate", "score", "swap")


def examples(text):
    """Return the commands of a help text, which are indented, each as one line."""
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    indented = [line.strip() for line in lines if re.match(r"  +\S", line)]
    return [line for line in indented if line.startswith(PREFIXES)]


def of_command(name):
    return examples(importlib.import_module(f"preorder.cli.{name}").EXAMPLES)


OF_ONMT = examples(onmt_cli.EXAMPLES + onmt_cli.EXAMPLES_OF_BEST + onmt_cli.EXAMPLES_OF_RUN)


def is_run(command):
    return not any(part in command for part in ELSEWHERE)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with all files that the examples read."""
    folder = tmp_path_factory.mktemp("examples") / "made"
    assert generate.main(["--out", str(folder), "--pairs", "80", "--held", "24"]) == 0
    for path in [*folder.iterdir()]:
        path.rename(folder / path.name.replace("svo", "en").replace("sov", "ja"))

    def copies(given, *names):
        for name in names:
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(folder / given, folder / name)

    given = [f"--src={folder}/test.en", f"--align={folder}/test.align"]
    for form, name in (("order", "test.order"), ("positions", "test.positions")):
        assert main(["gold", *given, "--format", form, "--out", str(folder / name), "-q"]) == 0
    copies("test.positions", "positions", "btg.positions")
    copies("test.align", "gold.align", "en-ja.align", "hand.align")
    copies("test.en", "hand.en", "my.en", "test.raw")
    runs = [f"{system}/seed{k}.ja" for system in ("base", "ours") for k in (1, 2, 3)]
    swapped = [f"swapped/{system}.{p}.ja" for system in ("base", "btg") for p in range(0, 101, 10)]
    copies("test.ja", "base.ja", "ours.ja", "btg.ja", "llm.ja", "hand.ja", "hand.unidic.ja", "my.ja")
    copies("test.ja", "test.ja.1", "test.ja.2", *runs, *swapped)
    copies("train.en", "ja.en", "tr.en")
    copies("train.align", "ja.align", "tr.align")
    from_one = re.sub(r"\d+", lambda match: str(int(match[0]) + 1), (folder / "gold.align").read_text())
    (folder / "gold.from-one").write_text(from_one)
    text = (folder / "test.en").read_bytes()
    (folder / "big.en.gz").write_bytes(gzip.compress(text))
    for name, content in (("in/a.en.gz", text), ("tags/a.pos.gz", (folder / "test.en.pos").read_bytes())):
        (folder / name).parent.mkdir()
        (folder / name).write_bytes(gzip.compress(content))
    files = ["--src", str(folder / "train.en"), "--pos", str(folder / "train.en.pos")]
    assert main(["annotate", *files, "--out", str(folder / "train.annot"), "-q"]) == 0
    model = ["--align", str(folder / "train.align"), "--model", str(folder / "model"), "--iterations", "2"]
    assert main(["train", "--method", "btg", *files[:2], *model, "--classes", "8", "-q"]) == 0
    return folder


def run(made, tmp_path, commands):
    shutil.copytree(made, tmp_path / "here")
    for command in filter(is_run, commands):
        bash(tmp_path / "here", command)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS]
)
def test_of_each_command(name, made, tmp_path):
    if name in ("align", "train", "diagnose"):
        pytest.importorskip("eflomal")
    assert of_command(name)
    run(made, tmp_path, of_command(name))


@pytest.mark.slow
def test_of_preorder_itself(made, tmp_path):
    pytest.importorskip("eflomal")
    assert len(examples(EPILOG)) == 6
    run(made, tmp_path, examples(EPILOG))


@pytest.mark.slow
def test_of_onmt_preorder(made, tmp_path):
    pytest.importorskip("sacremoses")
    here = shutil.copytree(made, tmp_path / "trained")
    for part in ("train", "dev", "test"):
        given = ["--src", str(here / f"{part}.en"), "--out", str(here / f"{part}.features"), "-q"]
        assert main(["apply", "--model", str(here / "model"), *given]) == 0
    train(here, "preorder_relative", "tiny", "a", "features")
    (here / "run").mkdir()
    for name in ("b.pt", "run/model.pt", "run/model_step_3250.pt"):
        shutil.copy(here / "a_step_1.pt", here / name)
    shutil.copy(here / "a_step_1.pt", here / "a.pt")
    run(here, tmp_path, OF_ONMT)


def test_what_is_not_run_is_still_there():
    found = [command for name in COMMANDS for command in of_command(name)] + OF_ONMT
    assert len(found) > 50
    assert not [part for part in ELSEWHERE if not any(part in command for command in found)]
