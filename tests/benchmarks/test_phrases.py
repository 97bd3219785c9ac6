"""The benchmark of phrases, on a model that was never trained."""

import re

import pytest

pytest.importorskip("onmt", reason="OpenNMT-py is not installed: see the README")

import torch
import yaml
from onmt.bin.train import _get_parser
from onmt.inputters import build_vocab
from onmt.inputters.inputter import vocabs_to_dict
from onmt.model_builder import build_model
from onmt.utils.parse import ArgumentParser

from benchmarks.phrases import main
from recipes.systems import path_of

TEXT = ["a b c d", "b c", "d a a", "c"]


def save_model(folder, system):
    """Save an untrained model of a configuration as ``onmt_train`` would."""
    data = {
        name: {"path_src": str(folder / "text"), "path_tgt": str(folder / "text")}
        for name in ("train", "valid")
    }
    given = ["-config", str(path_of(system)), "-size", "tiny", "-data", yaml.safe_dump(data)]
    given += [f"-{side}_vocab={folder / 'vocab'}" for side in ("src", "tgt")]
    opt = _get_parser().parse_known_args(given)[0]
    opt.data_task = "seq2seq"
    ArgumentParser.validate_prepare_opts(opt)
    ArgumentParser.validate_train_opts(opt)
    ArgumentParser.update_model_opts(opt)
    ArgumentParser.validate_model_opts(opt)
    vocabs = build_vocab(opt, {"src": [], "tgt": []})
    model = build_model(opt, opt, vocabs, None, -1)
    generator = model.generator.state_dict()
    weights = {k: v for k, v in model.state_dict().items() if not k.startswith("generator")}
    path = folder / f"{system}.pt"
    torch.save({"model": weights, "generator": generator, "vocab": vocabs_to_dict(vocabs), "opt": opt}, path)
    return str(path)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in TEXT))
    (tmp_path / "vocab").write_text("".join(f"{word}\t3\n" for word in "abcd"))
    return tmp_path


def test_memory(capsys):
    main("memory --length 5 --batch 2 --size 8 --vocabulary 20 --longest 2".split())
    assert re.fullmatch(r"\d+ MiB beside \d+ MiB of model, gradient and batch\n", capsys.readouterr().out)


def test_training(folder, capsys):
    main(["training", "--model", save_model(folder, "npmt"), "--batches", "1"])
    rows = [line.split("│")[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert len(rows) == 5
    assert [float(cell) for cell in rows[0][4:]] == [0, 0]
    assert all(0 <= float(row[4]) < 0.1 and 0 <= float(row[5]) < 0.5 for row in rows)


def test_decoding(folder, capsys):
    models = ["--model", save_model(folder, "npmt"), "--attention", save_model(folder, "npmt_attention")]
    main(["decoding", *models, "--source", str(folder / "text"), "--turns", "1"])
    printed = capsys.readouterr().out
    for name in (
        "attention, beam 5",
        "attention, beam 10",
        "phrases, greedy",
        "phrases, beam 5",
        "phrases, beam 10",
    ):
        assert name in printed
