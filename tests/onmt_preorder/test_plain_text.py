"""Plain sentences in, translations out: every way to a model that has learned from positions in files."""

import json
import sys
from unittest import mock

import pytest
import torch
import yaml

import preorder
from onmt_preorder.cli import main
from onmt_preorder.input import raw_text
from onmt_preorder.input.raw_text import make_detokenizer
from onmt_preorder.opennmt.server import prepare
from preorder.cli import main as preorder_command
from preorder.io import files
from preorder_recipes.pipeline import subwords
from tests.support.language import features, sentence, translation, write_texts
from tests.support.opennmt import TINY, call, server_app, train, write_vocabularies
from tests.support.running import ROOT
from tests.support.texts import links, read, write

pytestmark = pytest.mark.slow

STEPS = 70
TEST = [sentence(seed) for seed in range(5000, 5020)]
PLAIN = [" ".join(words) for words in TEST]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a trained model."""
    folder = tmp_path_factory.mktemp("plain")
    for name, seeds in (("train", range(3000)), ("valid", range(4000, 4100)), ("test", range(5000, 5020))):
        write_texts(folder, name, list(map(sentence, seeds)))
    write_vocabularies(folder)
    train(folder, train_steps=STEPS, valid_steps=STEPS, batch_size=1024, learning_rate=0.005)
    return folder


MODEL = f"model_step_{STEPS}.pt"


@pytest.fixture(scope="module")
def expected(folder):
    """Return the translations of lines with positions."""
    call(folder, "onmt_translate", "-model", MODEL, "-src", "test.src", "-output", "test.hyp")
    lines = read(folder / "test.hyp")
    assert sum(line == translation(words) for line, words in zip(lines, TEST, strict=True)) > 15
    return lines


@pytest.mark.parametrize("workers", [0, 1])
def test_training_on_plain_text(folder, preorderer, workers):
    """In validation and its BLEU, and in a data worker; the checkpoint remembers by which model."""
    names = ("train",) if workers else ("train", "valid")
    data = {name: {"path_src": f"{name}.plain", "path_tgt": f"{name}.tgt"} for name in names}
    changes = {"data": data, "preorder_model": str(preorderer), "transforms": ["preorder"]}
    changes |= {"train_steps": 2, "valid_steps": 2, "save_model": "fly", "valid_metrics": ["BLEU"]}
    config = {key: value for key, value in TINY.items() if key not in ("n_src_feats", "src_feats_defaults")}
    (folder / "fly.yaml").write_text(yaml.safe_dump({**config, **changes, "num_workers": workers}))
    call(folder, "onmt_train", "-config", "fly.yaml", "-train_from", MODEL, "-reset_optim", "all")
    opt = torch.load(folder / "fly_step_2.pt", weights_only=True)["opt"]
    assert (opt.preorder_model, opt.n_src_feats) == (str(preorderer), 1)
    translated = []
    for name in ("src", "plain"):
        given = ("-model", "fly_step_2.pt", "-src", f"test.{name}", "-output", f"fly.{name}")
        call(folder, "onmt_translate", *given)
        translated.append(read(folder / f"fly.{name}"))
    assert translated[0] == translated[1]


def test_errors_of_the_shortcut(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("onmt_preorder.cli.CHUNK_LINES", 2)
    write(folder / "bad", *["Sue1 Verb1"] * 3 + ["Sue1￨0 Verb1￨x"])
    assert main(["translate", "--model", MODEL, "--src", "bad", "--out", "none"]) == 2
    assert capsys.readouterr().err == "bad:4: not a token with its position: 'Verb1￨x'\n"
    assert not (folder / "none").exists()
    given = ["translate", "--model", MODEL, "--preorder-model", "nowhere"]
    assert main([*given, "--src", "test.plain", "--out", "none"]) == 2
    assert capsys.readouterr().err.startswith("nowhere/model.json: cannot be read")


RAW = [line.replace(" ", "  ") for line in PLAIN]


def test_raw_text_in_and_out(folder, preorderer, monkeypatch, capsys):
    """Our command and ``onmt_translate``; Japanese and the like have no spaces but between Latin words."""
    pytest.importorskip("sacremoses", reason="needs sacremoses: pip install 'onmt-preorder[text]'")
    monkeypatch.chdir(folder)
    write(folder / "raw", *[f"{line}￨0" for line in RAW], "")
    write(folder / "split", *[f"{line} ￨ 0" for line in PLAIN], "")
    model = ["--model", MODEL, "--preorder-model", str(preorderer)]
    assert main(["translate", *model, "--src", "split"]) == 0
    tokens = capsys.readouterr().out.splitlines()
    assert len(set(tokens)) > 10
    assert tokens[-1] == ""
    assert main(["translate", *model, "--src", "raw", "--tokenize", "en"]) == 0
    assert capsys.readouterr().out.splitlines() == tokens
    monkeypatch.setattr(raw_text, "_is_spaced", lambda character: False)
    assert main(["translate", *model, "--src", "raw", "--tokenize", "en", "--detokenize", "ja"]) == 0
    assert capsys.readouterr().out.splitlines() == [line.replace(" ", "") for line in tokens]
    options = ("-preorder_model", preorderer, "-tokenize", "en", "-detokenize", "ja", "-n_best", 2)
    call(folder, "onmt_translate", "-model", MODEL, "-src", "raw", "-output", "raw.hyp", *options)
    assert read(folder / "raw.hyp")[::2] == [line.replace(" ", "") for line in tokens]
    assert main(["translate", *model, "--src", "split", "--detokenize", "ja", "--onmt", "-report_align"]) == 2
    message = "report_align counts tokens: it does not go with detokenize\n"
    assert capsys.readouterr().err.endswith(message)


def test_plain_words_through_a_model_of_pieces(folder, preorderer):
    texts = [str(folder / "train.plain"), str(folder / "train.tgt")]
    command = ["--kind", "bpe", "--size", "12", "--out", str(folder / "pieces"), "--text", *texts]
    assert subwords.main(command) == 0
    settings = {**TINY, **yaml.safe_load((ROOT / "config/subwords.yaml").read_text(encoding="utf-8"))}
    settings |= {f"{side}_subword_model": "pieces" for side in ("src", "tgt")}
    settings |= {f"{side}_vocab": f"pieces.{side}" for side in ("src", "tgt")}
    settings |= {"train_steps": 90, "valid_steps": 90, "learning_rate": 0.005, "save_model": "pieces"}
    (folder / "pieces.yaml").write_text(yaml.safe_dump({**settings, "save_data": "data"}))
    call(folder, "onmt_build_vocab", "-config", "pieces.yaml", "-n_sample", "-1")
    call(folder, "onmt_train", "-config", "pieces.yaml")
    given = ("-src", "test.plain", "-output", "pieces.hyp", "-preorder_model", preorderer)
    call(folder, "onmt_translate", "-model", "pieces_step_90.pt", *given)
    found = read(folder / "pieces.hyp")
    known = {word for line in read(folder / "train.tgt") for word in line.split()}
    assert {word for line in found for word in line.split()} <= known
    assert sum(line.split()[-1].startswith("verb") for line in found) > 15


def test_a_conversation(folder, expected, preorderer, monkeypatch, capsys):
    """Each line is answered before the next is asked."""

    def asked(path):
        for line, answer in zip(PLAIN, expected, strict=True):
            yield line
            assert capsys.readouterr().out == answer + "\n"

    monkeypatch.chdir(folder)
    monkeypatch.setattr(files, "read_lines", asked)
    given = ["translate", "--model", MODEL, "--preorder-model", str(preorderer)]
    assert main([*given, "--line-by-line"]) == 0
    monkeypatch.setattr(sys, "stdin", mock.Mock(isatty=lambda: True))
    assert main(given) == 0


def test_the_server(folder, expected, preorderer, monkeypatch):
    monkeypatch.chdir(folder)
    options = {"preorder_model": str(preorderer)}
    first = {"id": 7, "model": MODEL, "load": True, "opt": options}
    second = {"id": 8, "model": MODEL, "opt": {**options, "n_best": 2, "beam_size": 3}}
    third = {"id": 9, "model": MODEL, "opt": {**options, "tokenize": "conservative", "detokenize": "ja"}}
    models = [first, second, third]
    (folder / "server.json").write_text(json.dumps({"models_root": ".", "models": models}))
    app = server_app("server.json")
    prepare(app)

    def ask(*sources, model=7):
        asked = [{"src": source, "id": model} for source in sources]
        return app.test_client().post("/t/translate", json=asked).json

    assert [len(best) for best in ask(*PLAIN, model=8)] == [len(PLAIN)] * 2
    answer = ask(*PLAIN, "", features(TEST[0]))
    assert [line["tgt"] for line in answer[0]] == [*expected, "", expected[0]]
    raw = ask("Sue1, Verb2: Obj3!", "Sue1￨0", model=9)[0]
    split = ask("Sue1 , Verb2 : Obj3 !", "Sue1 │ 0")[0]
    assert [line["tgt"] for line in raw] == [make_detokenizer("ja")(line["tgt"]) for line in split]
    error = "sentence 1: not a token with its position: 'Sue1￨x'"
    assert ask("Sue1￨x") == {"status": "error", "error": error}
    assert ask(PLAIN[0])[0][0]["tgt"] == expected[0]


def test_tags_for_a_preorderer_that_reads_them(folder, tmp_path, monkeypatch, capsys):
    """``preorder apply`` reads them, which alone say how a sentence is ordered; on the fly there are none."""
    monkeypatch.chdir(folder)
    texts = [sentence(seed) for seed in range(60)]
    orders = [range(len(words))[:: 1 - 2 * (seed % 2)] for seed, words in enumerate(texts)]
    tags = [" ".join(["Reversed" if seed % 2 else "Kept"] * len(words)) for seed, words in enumerate(texts)]
    trained = preorder.train([*map(" ".join, texts)], [*map(links, orders)], tags=tags, iterations=5)
    trained.save(str(tmp_path / "tagged"))
    write(folder / "some", *map(" ".join, texts))
    write(folder / "some.pos", *tags)
    given = f"--model {tmp_path}/tagged --src some --pos some.pos --out some.features".split()
    assert preorder_command(["apply", *given]) == 0
    assert read(folder / "some.features") == list(map(features, texts, orders))
    given = ["translate", "--model", MODEL, "--preorder-model", str(tmp_path / "tagged"), "--src", "some"]
    assert main(given) == 2
    assert "POS tags" in capsys.readouterr().err
