"""The command: what it takes and what it refuses."""

import logging
import sys

import pytest
import torch

from onmt_preorder.cli import _prompted, main
from onmt_preorder.input import raw_text
from preorder.annotate import tokenizers
from preorder.errors import MissingExtraError
from preorder.progress import LOGGER
from tests.support.opennmt import make_opt


def test_only_models_of_ours(tmp_path, capsys):
    torch.save({"opt": make_opt(encoder_type="transformer", preorder_encoding=[])}, tmp_path / "m.pt")
    assert main(["translate", "--model", str(tmp_path / "m.pt")]) == 2
    printed = capsys.readouterr().err
    assert printed.endswith("m.pt: not a model of onmt-preorder: use onmt_translate\n")


@pytest.mark.parametrize(
    "option",
    ["-src bad", "-model none.pt", "-output hyp", "-tgt test.tgt", "-tgt_file_prefix", "-align_output links"],
)
def test_files_of_onmt_translate_are_refused(tmp_path, capsys, option):
    torch.save({"opt": make_opt()}, tmp_path / "m.pt")
    given = ["--model", str(tmp_path / "m.pt"), "--src", "test.plain", "--onmt", *option.split()]
    assert main(["translate", *given]) == 2
    error = capsys.readouterr().err
    assert error.startswith("--onmt: models and files are those of --model, --src and --out; onmt_translate")


def test_without_opennmt(monkeypatch, capsys):
    monkeypatch.setattr("onmt_preorder.opennmt.registration.find_spec", lambda name: None)
    assert main(["translate", "--model", "m.pt"]) == 2
    assert capsys.readouterr().err == "OpenNMT-py is not installed: pip install --no-deps OpenNMT-py==3.5.1\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["translate"], "the following arguments are required: --model"),
        (["translate", "--model", "m", "--beam", "0"], "0 is not a whole number from 1 to 1000"),
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


@pytest.mark.parametrize("argument", ["--tokenize de:moses", "--detokenize de"])
def test_without_sacremoses(monkeypatch, capsys, argument):
    raw_text.make_tokenizer.cache_clear()
    raw_text.make_detokenizer.cache_clear()
    tokenizers.make_tokenizer.cache_clear()
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    assert main(["translate", "--model", "nowhere.pt", *argument.split()]) == 2
    assert capsys.readouterr().err == f"{MissingExtraError('sacremoses', 'text')}\n"


def test_typed_sentences_are_asked_for(monkeypatch, capsys):
    assert list(_prompted(iter(["a", "b"]))) == ["a", "b"]
    assert capsys.readouterr() == ("", "ready: type a sentence; Ctrl-D ends\n> > > \n")
    monkeypatch.setattr(LOGGER, "level", logging.WARNING)
    assert list(_prompted(iter(["a", "b"]))) == ["a", "b"]
    assert capsys.readouterr() == ("", "")
