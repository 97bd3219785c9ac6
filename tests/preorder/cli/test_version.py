"""``preorder --version``, beside what is installed and what is written."""

import json
from importlib.metadata import version

import pytest

import preorder
from preorder.cli import main


def test_the_version_of_the_package_and_of_models(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    model = preorder.train(["a b"] * 9, ["0-1 1-0"] * 9, classes=0, iterations=1, held_out=0)
    model.save(str(tmp_path / "model"))
    written = json.loads((tmp_path / "model/model.json").read_text())["version"]
    assert (
        capsys.readouterr().out
        == f"preorder {version('onmt-preorder')} (models of format version {written})\n"
    )
