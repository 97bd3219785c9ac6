"""The command: what it takes and what it refuses."""

import pytest
import torch

from onmt_preorder.cli import _chunks, main
from tests.support.opennmt import ROOT, make_opt


def test_only_models_of_ours(tmp_path, capsys):
    torch.save({"opt": make_opt(encoder_type="transformer", preorder_encoding=[])}, tmp_path / "m.pt")
    assert main(["translate", "--model", str(tmp_path / "m.pt")]) == 2
    printed = capsys.readouterr().err
    assert printed.endswith("m.pt: not a model of onmt-preorder: use onmt_translate\n")


def test_without_opennmt(monkeypatch, capsys):
    monkeypatch.setattr("onmt_preorder.plugin.find_spec", lambda name: None)
    assert main(["translate", "--model", "m.pt"]) == 2
    assert capsys.readouterr().err == "OpenNMT-py is not installed: the README tells how to install it\n"


def test_a_missing_checkpoint(capsys):
    assert main(["translate", "--model", "nowhere.pt"]) == 2
    assert capsys.readouterr().err == "nowhere.pt: No such file or directory\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["translate"], "the following arguments are required: --model"),
        (["translate", "--model", "m", "--beam", "0"], "not a whole number from 1: '0'"),
        (["translate", "--model", "m", "--tokenize", "moses"], "invalid choice: 'moses'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_usage(capsys, arguments, message):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") == 1


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("onmt_preorder ")


def test_lines_come_in_chunks():
    assert list(_chunks("abcde", 2)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(_chunks("", 2)) == []


def test_the_script_is_declared():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '\nonmt_preorder = "onmt_preorder.__main__:main"\n' in project
