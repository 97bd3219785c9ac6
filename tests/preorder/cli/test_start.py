"""What a command imports before it does anything: a help text is there at once."""

import json
import subprocess
import sys
from importlib.metadata import version

import pytest

import preorder
from preorder.cli import SUMMARIES, main
from tests.support.running import environment
from tests.support.tiny_model import train_tiny

CODE = """
import sys
from preorder.cli import main
try:
    main(sys.argv[2:])
except SystemExit as end:
    assert end.code == 0
heavy = set(sys.argv[1].split(",")) & set(sys.modules)
assert not heavy, heavy
"""


@pytest.mark.parametrize(
    ("command", "unused"),
    [
        ("--help", "numpy,preorder.cli.train,argcomplete"),
        ("--version", "numpy,preorder.cli.train"),
        ("train --help", "numba,scipy,sklearn,torch,stanza,rich,matplotlib,fsspec"),
        ("apply --help", "numba,scipy,sklearn,torch,stanza,rich,matplotlib,fsspec"),
    ],
)
def test_help_imports_little(command, unused):
    program = [sys.executable, "-c", CODE, unused, *command.split()]
    done = subprocess.run(program, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
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


LIGHT = """
import sys
import preorder.cli.apply
heavy = {"numba", "scipy", "sklearn", "torch", "stanza", "matplotlib", "rich"} & set(sys.modules)
assert not heavy, heavy
from preorder.cli import main
assert main(sys.argv[1:]) == 0
heavy = {"scipy.linalg", "sklearn", "rich", "preorder.methods.perceptron_btg.learner"} & set(sys.modules)
assert not heavy, heavy
"""


def test_nothing_is_imported_that_is_not_used(tmp_path):
    model = train_tiny(tmp_path, classes=3)
    (tmp_path / "src").write_text("S1 V2 O3\n")
    options = f"apply --model {model} --src {tmp_path}/src --format text".split()
    command = [sys.executable, "-c", LIGHT, *options]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("S1 O3 V2\n", 0), done.stderr
