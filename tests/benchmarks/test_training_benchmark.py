"""The benchmark of training runs on little, and every model learns the same."""

import argparse
import json

import pytest
import torch

from benchmarks import training
from benchmarks.batches import batches, random_pairs, vocabularies
from benchmarks.training import main
from preorder.errors import UsageError
from tests.support.opennmt import make_opt

FEW = ("--size", "tiny", "--pairs", "40", "--batch", "64", "--rounds", "1", "--steps", "2")
RANDOM = ("--words", "5", "--vocabulary", "30")


def test_all_models(capsys):
    assert main([*FEW, *RANDOM, "--json"]) == 0
    results = {result["model"]: result for result in json.loads(capsys.readouterr().out)["results"]}
    assert list(results) == ["opennmt", "preorder_relative", "opennmt_relative"]
    models = ("npmt_attention", "npmt", "distortion_hidden")  # whose batches count sentences
    assert main([*models, *FEW[:-4], "--steps", "2", *RANDOM, "--batch", "8", "--rounds", "2", "--json"]) == 0
    by_sentences = json.loads(capsys.readouterr().out)["results"]
    assert [result["model"] for result in by_sentences] == list(models)
    for result in by_sentences:
        assert result["quartiles"][0] <= result["relative_speed"] <= result["quartiles"][1]
    for result in results.values():
        assert result["relative_speed"] == pytest.approx(result["speed"] / results["opennmt"]["speed"])
        assert result["quartiles"] == [pytest.approx(result["relative_speed"])] * 2


def test_options_of_a_model_are_changed():
    arguments = argparse.Namespace(size="tiny", device="cpu", batch=None)
    assert training._options(arguments, "preorder_relative").position_encoding
    changed = training._options(arguments, "preorder_relative,position_encoding=false,dropout=0.4,layers=3")
    assert (changed.position_encoding, changed.dropout, changed.enc_layers) == (False, [0.4], 3)
    with pytest.raises(
        UsageError, match="^plain,hiden_size=3: unknown key 'hiden_size': did you mean 'hidden"
    ):
        training._options(arguments, "plain,hiden_size=3")


def test_batches_are_the_same_with_positions_and_without():
    pairs = random_pairs(60, 6, 20)
    assert sum(len(source) for source, _ in pairs) / 60 == pytest.approx(6, abs=1)
    made = []
    for features in (0, 1):
        opt = make_opt(n_src_feats=features, preorder_encoding=["relative"] * features, batch_size=50)
        opt.batch_type = "tokens"
        vocabs = vocabularies(opt, pairs)
        made.append(list(batches(pairs, vocabs, opt, "cpu")))
    assert sum(len(batch["srclen"]) for batch in made[0]) == 60
    by_sentences = list(batches(pairs, vocabs, make_opt(batch_type="sents", batch_size=7), "cpu"))
    assert sorted(len(batch["srclen"]) for batch in by_sentences) == [4, *[7] * 8]
    for plain, ours in zip(*made, strict=True):
        assert plain["src"].equal(ours["src"][:, :, :1])
        assert plain["tgt"].equal(ours["tgt"])
        assert (plain["tgt"] != 1).sum(1).flatten().equal(plain["tgtlen"])
        for row, length in zip(ours["src"][:, :, 1], ours["srclen"], strict=True):
            order = row[:length] - row[:length].min()
            assert order.sort()[0].equal(torch.arange(length))
