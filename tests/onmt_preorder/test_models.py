"""What translation gets back from the checkpoint."""

from types import SimpleNamespace

import pytest

from onmt_preorder.host.models import _load_test_model
from tests.onmt_preorder.helpers import make_opt


def load(model_opt, **given):
    opt = SimpleNamespace(**{"transforms": [], "n_src_feats": 0, "src_feats_defaults": None, **given})
    _load_test_model(lambda opt: ("vocabs", "model", model_opt), opt)
    return opt


def test_features_come_from_the_checkpoint():
    opt = load(make_opt())
    assert (opt.encoder_type, opt.n_src_feats, opt.src_feats_defaults) == ("preorder_transformer", 1, "0")
    assert opt.transforms == opt._all_transform == ["preorder_positions"]


def test_tokenisation_comes_from_the_checkpoint_and_filters_do_not():
    trained = make_opt(transforms=["filtertoolong", "bpe", "preorder_positions"], src_subword_model="codes")
    opt = load(trained, src_subword_model=None, src_seq_length=192)
    assert opt.transforms == ["bpe", "preorder_positions"]
    assert opt.src_subword_model == "codes"


def test_what_the_user_says_counts():
    trained = make_opt(transforms=["bpe"], src_subword_model="codes")
    opt = load(trained, transforms=["onmt_tokenize"], src_subword_model="mine")
    assert (opt.transforms, opt.src_subword_model) == (["onmt_tokenize", "preorder_positions"], "mine")


@pytest.mark.parametrize("transforms", [[], ["bpe"]])
def test_other_models_are_left_alone(transforms):
    opt = load(make_opt(encoder_type="transformer", preorder_encoding=[]), transforms=transforms)
    assert (opt.transforms, opt.n_src_feats, hasattr(opt, "encoder_type")) == (transforms, 0, False)
