"""Resuming a training: what is compared and what is kept."""

import copy
from argparse import Namespace

import pytest
import torch
from onmt.train_single import _get_model_opts
from onmt.utils.parse import ArgumentParser

from preorder.errors import UsageError
from tests.support.opennmt import make_opt

PLAIN = {"encoder_type": "transformer", "preorder_encoding": []}


@pytest.fixture
def checkpoint(tmp_path):
    def make(**changes):
        path = tmp_path / "model.pt"
        torch.save({"opt": make_opt(**changes), "model": {}, "generator": {}}, path)
        return str(path)

    return make


@pytest.mark.parametrize(
    ("then", "now", "message"),
    [
        (
            {},
            PLAIN,
            r"^encoder_type is 'transformer', but in the model of train_from, .*model\.pt, 'preorder_tr",
        ),
        (PLAIN, {}, "^encoder_type is 'preorder_transformer', but in the model of train_from"),
        ({}, {"preorder_encoding": ["absolute"]}, r"^preorder_encoding is \['absolute'\], .*\['relative'\]$"),
        ({}, {"source_max_relative": 8}, "^source_max_relative is 8, .* 4$"),
    ],
)
def test_model_options_must_be_those_of_the_checkpoint(checkpoint, then, now, message):
    opt = make_opt(**now, train_from=checkpoint(**then))
    with pytest.raises(UsageError, match=message):
        ArgumentParser.validate_train_opts(opt)
    opt.override_opts = True
    ArgumentParser.validate_train_opts(opt)


def test_the_same_options_and_other_models_may_go_on(checkpoint):
    ArgumentParser.validate_train_opts(make_opt(train_from=checkpoint(dropout=[0.5])))
    ArgumentParser.validate_train_opts(make_opt(**PLAIN, train_from=checkpoint(**PLAIN)))


def test_an_older_checkpoint_that_lacks_an_option_may_go_on(tmp_path):
    trained = make_opt()
    del trained.source_max_relative_values
    torch.save({"opt": trained}, tmp_path / "model.pt")
    ArgumentParser.validate_train_opts(make_opt(train_from=str(tmp_path / "model.pt")))


def test_the_new_checkpoint_tells_of_the_new_text():
    trained = make_opt(transforms=["bpe"], src_subword_model="old", dropout=[0.1])
    now = copy.deepcopy(trained)
    now.__dict__.update(transforms=["preorder"], preorder_model="dir", src_subword_model="new", dropout=[0.9])
    now.__dict__.update(data={"train": {}}, _all_transform={"preorder"}, n_src_feats=1)
    kept = _get_model_opts(now, {"opt": trained})
    assert (kept.transforms, kept.preorder_model, kept.src_subword_model) == (["preorder"], "dir", "new")
    assert kept.dropout == [0.1]
    plain = make_opt(**PLAIN, transforms=["bpe"])
    now.__dict__.update(vars(make_opt(**PLAIN, transforms=[])))
    assert _get_model_opts(now, {"opt": plain}).transforms == ["bpe"]
    assert isinstance(_get_model_opts(now), Namespace)
