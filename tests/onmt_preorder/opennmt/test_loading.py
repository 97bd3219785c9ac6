"""What translation gets back from the checkpoint."""

import json
from types import SimpleNamespace

import pytest
from onmt import opts
from onmt.inputters.text_corpus import get_corpora
from onmt.train_single import _get_model_opts
from onmt.utils.parse import ArgumentParser

from onmt_preorder.opennmt.checkpoints import digest
from onmt_preorder.opennmt.loading import _load
from preorder.errors import UsageError
from tests.support.opennmt import make_opt
from tests.support.transformers import OPENNMT

DECODER = SimpleNamespace(alignment_layer=-3, transformer_layers=["first", "second"])


def load(model_opt, *arguments):
    parser = ArgumentParser()
    opts.translate_opts(parser)
    opt = parser.parse_args(["-model", "m", "-src", "s", *arguments])
    _load(lambda opt: ("vocabs", SimpleNamespace(decoder=DECODER), model_opt), opt)
    return opt


def test_features_come_from_the_checkpoint():
    opt = load(make_opt())
    assert (opt.encoder_type, opt.n_src_feats, opt.src_feats_defaults) == ("preorder_transformer", 1, "0")
    assert opt.transforms == opt._all_transform == ["preorder_positions"]


ON_THE_FLY = ["preorder", "bpe", "preorder_positions"]
SPLIT = {"transforms": ["filtertoolong", "bpe"], "src_subword_model": "codes", "tgt_subword_model": "target"}
TRAINED_SO = {"preorder_model": "dir", "transforms": ON_THE_FLY}
SHARED, OTHER = {**SPLIT, "share_vocab": True}, "onmt_tokenize"


@pytest.mark.parametrize(
    ("trained", "arguments", "transforms", "expected"),
    [
        # tokenisation comes from the checkpoint, and filters do not
        (SPLIT, "", "bpe", {"src_subword_model": "codes"}),
        (SPLIT, "-transforms onmt_tokenize -src_subword_model x", OTHER, {"src_subword_model": "x"}),
        (SPLIT, "-src_subword_model x", "bpe", {"src_subword_model": "x", "tgt_subword_model": "target"}),
        # the preorderer comes from the checkpoint or the user
        (TRAINED_SO, "", "preorder bpe", {"preorder_model": "dir"}),
        (TRAINED_SO, "-preorder_model new", "preorder bpe", {"preorder_model": "new"}),
        (TRAINED_SO, "-transforms onmt_tokenize", f"preorder {OTHER}", {"preorder_model": "dir"}),
        (SPLIT, "-preorder_model new", "preorder bpe", {"preorder_model": "new"}),
        (SPLIT, "-transforms preorder -preorder_model x", "preorder bpe", {"preorder_model": "x"}),
        # words are always split alike
        ({**SPLIT, "src_subword_alpha": 0.1, "tgt_subword_nbest": 5}, "", "bpe", {"src_subword_alpha": 0}),
        # one subword model for both sides
        (SHARED, "", "bpe", {"share_vocab": True}),
        (SHARED, "-transforms onmt_tokenize", OTHER, {"share_vocab": False}),
    ],
)
def test_what_counts(trained, arguments, transforms, expected):
    opt = load(make_opt(**trained), *arguments.split())
    assert opt.transforms == opt._all_transform == [*transforms.split(), "preorder_positions"]
    assert {name: getattr(opt, name) for name in expected} == expected
    assert opt.tgt_subword_nbest == 1


OF_POSITIONS = "preorder_model is for models that read positions"
RAW = "^tokenize and detokenize are for models of onmt-preorder$"
UNREAD = {"n_src_feats": 0, "preorder_encoding": []}
TWO_WAYS = {"data": {"one": {"transforms": ["filtertoolong", "bpe"]}, "two": {}}, "transforms": []}


@pytest.mark.parametrize(
    ("trained", "arguments", "message"),
    [
        (OPENNMT, "-preorder_model dir", OF_POSITIONS),
        (OPENNMT, "-transforms preorder", OF_POSITIONS),
        (UNREAD, "-preorder_model dir", "the translation model was trained without positions"),
        ({}, "-transforms preorder", r"transforms: \[preorder\] needs preorder_model: DIR"),
        (OPENNMT, "-tokenize en", RAW),
        (OPENNMT, "-detokenize en", RAW),
        ({}, "-precision int8", "precision: int8 does nothing in OpenNMT-py 3.5: take fp32 or fp16"),
        (TWO_WAYS, "", "those of the training's corpora differ: give -transforms"),
    ],
)
def test_what_is_refused(trained, arguments, message):
    with pytest.raises(UsageError, match=message):
        load(make_opt(**trained), *arguments.split())


@pytest.mark.parametrize("encoder", ["preorder_transformer", "transformer"])
def test_alignments_are_read_in_a_layer_that_there_is(monkeypatch, encoder):
    monkeypatch.setattr(DECODER, "alignment_layer", -3)
    load(make_opt(encoder_type=encoder, preorder_encoding=["relative"] * (encoder != "transformer")))
    assert DECODER.alignment_layer == -2


@pytest.mark.parametrize(
    ("data", "arguments", "expected"),
    [
        ({"train": {}, "valid": {"transforms": ["bpe"]}}, [], "bpe"),
        ({"one": {"transforms": ["filtertoolong", "bpe"]}, "two": {"transforms": ["bpe"]}}, [], "bpe"),
        (TWO_WAYS["data"], ["-transforms", "onmt_tokenize"], "onmt_tokenize"),
    ],
)
def test_the_source_is_split_as_the_corpora_were(data, arguments, expected):
    found = load(make_opt(data=data, transforms=[]), *arguments)
    assert found.transforms == [expected, "preorder_positions"]


def test_what_the_training_read_with_has_been_replaced(tmp_path):
    codes = tmp_path / "codes"
    trained = make_opt(transforms=["bpe"], src_subword_model=str(codes))
    load(_get_model_opts(trained))  # nothing is there, which is said later
    codes.write_text("a b\n")
    trained = _get_model_opts(trained)
    load(trained)
    codes.write_text("a c\n")
    with pytest.raises(UsageError, match="^m was trained with another src_subword_model than "):
        load(trained)
    assert load(trained, "-src_subword_model", str(codes)).src_subword_model == str(codes)


def test_a_preorderer_is_the_same_whenever_it_was_trained(tmp_path):
    description = {"method": "btg", "checksums": {"weights.safetensors": "1"}, "training": {"seconds": 1}}
    digests = []
    for changes in ({}, {"training": {"seconds": 2}}, {"checksums": {"weights.safetensors": "2"}}):
        (tmp_path / "model.json").write_text(json.dumps({**description, **changes}))
        digests.append(digest(str(tmp_path)))
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("changes", "translates", "trains"),
    [
        ({}, True, True),
        ({"preorder_model": "dir", "transforms": ON_THE_FLY}, False, False),
        ({"preorder_encoding": []}, False, False),
        ({"preorder_encoding": [], "explicit_reordering": "exgre"}, False, True),
        ({"preorder_encoding": [], "explicit_reordering": "refsr"}, False, True),
        ({"preorder_encoding": [], "n_src_feats": 0}, False, False),
        ({**OPENNMT, "decoder_type": "preorder_transformer"}, True, True),
    ],
)
def test_who_misses_positions_on_plain_lines(caplog, changes, translates, trains):
    corpus = {"path_src": ["a b"], "path_tgt": ["x"], "path_align": None}
    trained = make_opt(data={"train": corpus}, **changes)
    for opt, task, expected in ((load(trained), "infer", translates), (trained, "train", trains)):
        caplog.clear()
        [corpus] = get_corpora(opt, task, src=["a b"]).values()
        assert len(list(corpus.load())) == 1
        assert ("a line without positions, and no preorderer" in caplog.text) == expected


@pytest.mark.parametrize("transforms", [[], ["bpe"]])
def test_other_models_are_left_alone(transforms):
    plain = make_opt(**OPENNMT)
    opt = load(plain, *(["-transforms", *transforms] if transforms else []))
    assert (opt.transforms, opt.n_src_feats, hasattr(opt, "encoder_type")) == (transforms, 0, False)
