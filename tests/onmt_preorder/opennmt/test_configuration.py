"""Our options in configuration files, and their checks."""

import re
from contextlib import nullcontext

import pytest
import yaml
from onmt.bin.build_vocab import _get_parser as vocabulary_parser
from onmt.bin.train import _get_parser as training_parser
from onmt.opts import translate_opts
from onmt.utils.parse import ArgumentParser

from onmt_preorder.opennmt.options import check_training
from onmt_preorder.opennmt.transforms import PreorderTransform
from preorder.errors import UsageError
from tests.support.distortion_models import DISTORTION
from tests.support.opennmt import BOTH_PARSERS, TINY, make_opt
from tests.support.texts import rows, write
from tests.support.transformers import OPENNMT, PLAIN, SWAN, WITHOUT_FEATURES


def parse(make_parser, folder, *arguments, without=(), **changes):
    if make_parser is vocabulary_parser:
        changes = {"save_data": "x", **changes}
    path = folder / "run.yaml"
    settings = {key: value for key, value in {**changes, **TINY}.items() if key not in without}
    path.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return make_parser().parse_known_args(["-config", str(path), *arguments])[0]


@BOTH_PARSERS
@pytest.mark.parametrize(
    ("changes", "arguments", "message"),
    [
        ({"hiden_size": 64}, [], r"run\.yaml:\d: unknown key 'hiden_size': did you mean 'hidden_size'\?"),
        ({"preorder_encodin": []}, [], r".*'preorder_encodin': did you mean 'preorder_encoding'\?"),
        ({"encoder_tipe": "preorder_transformer", "without": ["encoder_type"]}, [], r".*'encoder_tipe': .*"),
        ({}, ["-share_voca"], r"unknown key '-share_voca': did you mean '-share_vocab'\?"),
        ({}, ["--skip_empty=silent"], r"unknown key '--skip_empty': did you mean '--skip_empty_level'\?"),
    ],
)
def test_unknown_keys_and_prefixes_are_refused(tmp_path, capsys, make_parser, changes, arguments, message):
    with pytest.raises(SystemExit) as ended:
        parse(make_parser, tmp_path, *arguments, **changes)
    assert ended.value.code == 2
    assert re.fullmatch(".*" + message + "\n", capsys.readouterr().err)


def test_other_encoders_may_be_as_careless_as_before(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text(yaml.safe_dump({**TINY, **OPENNMT, "qqq": 1}))
    assert training_parser().parse_known_args(["-config", str(path)])[1] == ["--qqq=1"]


FAMILIES = {
    "relative": {},
    "plain": PLAIN,
    "distortion": DISTORTION,
    "hybrid": {**DISTORTION, "encoder_type": "preorder_transformer", "hidden_size": 8, "word_vec_size": 8},
    "swan": SWAN,
    "opennmt": OPENNMT,
}
CANNOT_BE = r"""
relative | encoder_type: transformer | ^preorder_encoding: \[relative\] needs encoder_type: preorder_t
relative | encoder_type: preorder_transfomer | did you mean 'preorder_transformer'
relative | num_kv: 2 | ^num_kv does not work with encoder_type: preorder_transformer$
relative | multiquery: true | ^multiquery does not work
relative | copy_attn: true | ^copy_attn does not work
relative | decoder_type: rnn | ^encoder_type: preorder_transformer does not work with decoder_type: rnn$
relative | parallel_mode: tensor_parallel | ^parallel_mode does not work
relative | heads: 5 | ^hidden_size 64 is not a multiple of heads 5$
relative | word_vec_size: 32 | ^hidden_size 64 is not word_vec_size 32$
relative | preorder_encoding: [absolute], position_encoding_type: SinusoidalConcat | \[absolute\] needs posit
relative | n_src_feats: 0 | ^preorder_encoding needs the positions as source feature: n_src_feats: 1
relative | n_src_feats: 2, preorder_encoding: [] | reads one source feature, the position, not 2$
relative | bfloat16: true, model_dtype: fp16 | ^bfloat16 needs model_dtype: fp32
plain | lambda_align: 1.0, alignment_layer: -4 | ^alignment_layer -4: the decoder has 1 layers, the last is -1
plain | lambda_align: 1.0, alignment_layer: 1 | ^alignment_layer 1: the decoder has 1 layers
plain | target_max_relative: 2, max_relative_positions: 3, position_encoding: false | ^max_relative_pos
plain | target_max_relative: 2, sliding_window: 3 | ^sliding_window does not work with target_max_relative$
plain | target_max_relative: 2, num_kv: 2, encoder_type: transformer | ^num_kv does not work with target_max_
plain | copy_attn: true, encoder_type: transformer | ^copy_attn does not work with decoder_type
plain | num_experts: 2 | ^num_experts does not work with decoder_type
plain | self_attn_type: average | ^self_attn_type: average does not work
plain | norm_placement: post, decoder_type: transformer | post needs decoder_type
plain | norm_placement: post, encoder_type: transformer | post needs encoder_type
plain | reordering_embedding: [decoder], decoder_type: transformer | needs decoder_type
plain | reordering_embedding: [encoder], additional_position_encoding: [encoder] | exclude each other in
plain | additional_position_encoding: [decoder], position_encoding_type: SinusoidalConcat | needs position_enc
plain | explicit_reordering: exgre, reordering_window: 0.3 | window 0.3 is below 0.5
plain | explicit_reordering: exgre | ^the reordering loss needs the positions
distortion | encoder_type: brnn | distortion_rnn needs encoder_type: .*, not brnn$
distortion | n_src_feats: 1 | ^n_src_feats does not work with encoder_type: bidirectional_gru without preorder
distortion | layers: 2 | has one layer: dec_layers: 1, not 2$
distortion | distortion_rate_factor: 3, optim: sparseadam | ^distortion_rate_factor does not work with optim
distortion | copy_attn: true | ^copy_attn does not work with decoder_type: distortion_rnn$
distortion | share_decoder_embeddings: true | needs word_vec_size 5 to be hidden_size 6$
distortion | decoder_type: rnn | bidirectional_gru needs decoder_type: distortion_rnn$
hybrid | distortion_source_end: true | ^distortion_source_end needs encoder_type: bidirectional_gru, not pre
swan | local_reordering_window: 4 | ^local_reordering_window is odd, or 0 for none, not 4$
swan | local_reordering_window: 2, decoder_type: rnn | ^local_reordering_window is odd, or 0
swan | local_reordering_window: -1 | ^local_reordering_window is odd, or 0 for none, not -1$
swan | local_reordering_window: 3, local_reordering_rate_factor: 0.1, optim: sparseadam | ^local_reordering_ra
swan | rnn_type: RNN | ^decoder_type: swan has rnn_type: GRU or LSTM, not RNN$
swan | label_smoothing: 0.1 | ^label_smoothing does not work with decoder_type: swan$
swan | share_decoder_embeddings: true, word_vec_size: 7 | ^share_decoder_embeddings needs word
swan | hidden_size: 33 | hidden_size / 2 units each way: 33 is odd$
swan | early_stopping_criteria: [ppl, accuracy] | early_stopping_criteria: swan knows no accuracy, take ppl
relative | early_stopping: 2, world_size: 2, gpu_ranks: [0, 1] | early_stopping: one process would end
relative | preorder_stanza_dir: stanza | ^preorder_stanza_dir has no effect without preorder_model$
opennmt | world_size: 2 | ^world_size 2 needs gpu_ranks
opennmt | valid_metrics: [BLUE] | ^valid_metrics: unknown metric 'BLUE': did you mean 'BLEU'
opennmt | preorder_model: dir | preorder_model is for models that read positions
"""


@pytest.mark.parametrize(("family", "changes", "message"), rows(CANNOT_BE))
def test_options_that_cannot_be(family, changes, message):
    ArgumentParser.validate_train_opts(make_opt(**FAMILIES[family]))
    with pytest.raises(UsageError, match=message):
        ArgumentParser.validate_train_opts(
            make_opt(**{**FAMILIES[family], **yaml.safe_load(f"{{{changes}}}")})
        )


def validated(tmp_path, corpus=None, vocabulary=None, **changes):
    """Return options whose data, one file for everything, have been checked."""
    paths = dict.fromkeys(("path_src", "path_tgt", "path_align"), write(tmp_path / "x", "a"))
    opt = make_opt(data=yaml.safe_dump({"train": {**paths, **(corpus or {})}}), **changes)
    vars(opt).update(vocabulary or {})  # options of onmt_build_vocab alone
    ArgumentParser._validate_data(opt)
    return opt


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("docify", {}, "docify joins lines"),
        ("docify", {**WITHOUT_FEATURES, "lambda_align": 1.0, "alignment_layer": -1}, "docify joins lines"),
        ("bart", {"rotate_ratio": 0.5}, "bart moves words"),
        ("bart", {"permute_sent_ratio": 0.5}, "bart moves words"),
        ("bart", {}, None),
        ("docify", WITHOUT_FEATURES, None),
    ],
)
def test_transforms_that_move_words(tmp_path, name, changes, message):
    """Their positions and links would be those of other words."""
    with pytest.raises(UsageError, match=message) if message else nullcontext():
        validated(tmp_path, {"transforms": [name]}, **changes)


def test_a_file_of_alignments_asks_for_them():
    translate_opts(parser := ArgumentParser())
    opt = parser.parse_args(["-model", "m", "-src", "s", "-align_output", "f"])
    ArgumentParser.validate_translate_opts(opt)
    assert opt.report_align


def test_swan_has_no_accuracy_to_stop_by():
    opt = make_opt(**SWAN)
    check_training(opt)
    assert opt.early_stopping_criteria == ["ppl"]


def test_training_that_stops_early_needs_a_corpus_to_validate_on(tmp_path):
    with pytest.raises(UsageError, match="early_stopping needs the corpus valid in data"):
        validated(tmp_path, early_stopping=2)


def test_positions_are_implied(tmp_path, preorderer):
    changes = {"preorder_model": str(preorderer), "n_src_feats": 0, "src_feats_defaults": None}
    opt = validated(tmp_path, {"transforms": ["filtertoolong"]}, **changes)
    assert opt.n_src_feats == 1
    assert opt.data["train"]["transforms"] == ["filtertoolong", "preorder", "preorder_positions"]
    assert opt.transforms == ["preorder", "preorder_positions"]


@pytest.mark.parametrize(("dump", "expected"), [(False, []), (True, ["preorder"])])
def test_a_vocabulary_is_counted_without_preordering(tmp_path, preorderer, dump, expected):
    opt = validated(tmp_path, vocabulary={"dump_samples": dump}, preorder_model=str(preorderer))
    assert opt.data["train"]["transforms"] == [*expected, "preorder_positions"]


def test_other_encoders_cannot_use_it():
    recurrent = {**DISTORTION, "preorder_encoding": ["recurrent"], "preorder_model": "dir"}
    assert make_opt(**recurrent).n_src_feats == 1  # a GRU reads positions, too
    opt = make_opt(**OPENNMT, transforms=["preorder"])
    with pytest.raises(UsageError, match="preorder_model is for models that read positions"):
        PreorderTransform._validate_options(opt)
