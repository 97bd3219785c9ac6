"""What a command imports before it does anything: a help text is there at once."""

import json
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec

import pytest

import preorder
from preorder.cli import SUMMARIES, main
from tests.support.running import environment
from tests.support.tiny_model import train_tiny

CODE = """
import sys
from preorder.cli import main
try:
    status = main(sys.argv[2:])
except SystemExit as end:
    status = end.code
assert status == 0
heavy = set(sys.argv[1].split(",")) & set(sys.modules)
assert not heavy, heavy
"""
APPLY = "apply --model model --src src --format text"


@pytest.mark.parametrize(
    ("command", "unused"),
    [
        ("--help", "numpy,preorder.cli.train,argcomplete"),
        ("--version", "numpy,preorder.cli.train"),
        ("train --help", "numba,scipy,sklearn,torch,stanza,rich,matplotlib,fsspec"),
        ("apply --help", "numba,scipy,sklearn,torch,stanza,rich,matplotlib,fsspec"),
        (APPLY, "scipy.linalg,sklearn,torch,stanza,rich,matplotlib,preorder.methods.perceptron_btg.learner"),
    ],
)
def test_nothing_is_imported_that_is_not_used(tmp_path, command, unused):
    assert all(map(find_spec, (name for name in unused.split(",") if name.startswith("preorder."))))
    if command == APPLY:
        train_tiny(tmp_path, classes=3)
    program = [sys.executable, "-c", CODE, unused, *command.split()]
    done = subprocess.run(program, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert command != APPLY or done.stdout.startswith("S1 O3 V2\n")
    if command == "--help":
        lines = done.stdout.splitlines()
        assert all(sum(line.startswith(f"  {name} ") for line in lines) == 1 for name in SUMMARIES)
        assert max(map(len, lines[: lines.index("options:")])) < 80


def test_the_version_of_the_package_and_of_models(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    model = preorder.train(["a b"] * 9, ["0-1 1-0"] * 9, classes=0, iterations=1, held_out=0)
    model.save(str(tmp_path / "model"))
    written = json.loads((tmp_path / "model/model.json").read_text())["version"]
    expected = f"preorder {version('onmt-preorder')} (models of format version {written})\n"
    assert capsys.readouterr().out == expected
