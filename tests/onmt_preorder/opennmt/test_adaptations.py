"""The adaptations of OpenNMT-py, each by itself."""

import re
import subprocess
import sys
import types

import pytest
import yaml
from onmt.bin.build_vocab import _get_parser as vocabulary_parser
from onmt.bin.train import _get_parser as training_parser
from onmt.inputters import build_vocab
from onmt.inputters.dynamic_iterator import DynamicDatasetIter, WeightedMixer
from onmt.inputters.text_corpus import ParallelCorpus, get_corpora
from onmt.transforms.misc import FilterTooLongTransform
from onmt.utils.distributed import ErrorHandler
from onmt.utils.parse import ArgumentParser

from onmt_preorder.input.positions import NO_POSITION
from onmt_preorder.input.transforms import PositionsTransform
from onmt_preorder.opennmt import configuration, wrapping
from onmt_preorder.opennmt.corpora import PositionedCorpus, parse_source
from onmt_preorder.transformer.options import EncodingOptions, Limits
from preorder.data.errors import DataError, MissingExtraError, PreorderError, UsageError
from preorder.data.formats import unescape_spaces
from tests.support.opennmt import TINY, make_opt, write

# --- configuration ---


def parse(make_parser, folder, *arguments, **changes):
    if make_parser is vocabulary_parser:
        changes = {"save_data": "x", **changes}
    path = folder / "run.yaml"
    path.write_text(yaml.safe_dump({**changes, **TINY}, sort_keys=False), encoding="utf-8")
    return make_parser().parse_known_args(["-config", str(path), *arguments])[0]


BOTH_PARSERS = pytest.mark.parametrize("make_parser", [training_parser, vocabulary_parser])


@BOTH_PARSERS
@pytest.mark.parametrize(
    ("changes", "arguments", "message"),
    [
        ({"hiden_size": 64}, [], r"run\.yaml:\d: unknown key 'hiden_size': did you mean 'hidden_size'\?"),
        ({"hidden": 64}, [], r"run\.yaml:\d: unknown key 'hidden'.*"),
        ({"preorder_encodin": []}, [], r".*'preorder_encodin': did you mean 'preorder_encoding'\?"),
        ({"qqqqqq": 1}, [], r".*unknown key 'qqqqqq'"),
        ({"encoder_tipe": "preorder_transformer"}, [], r".*did you mean 'encoder_type'\?"),
        ({}, ["-share_voca"], r"unknown key '-share_voca': did you mean '-share_vocab'\?"),
        ({}, ["--skip_empty=silent"], r"unknown key '--skip_empty': did you mean '--skip_empty_level'\?"),
    ],
)
def test_unknown_keys_and_prefixes_are_refused(tmp_path, capsys, make_parser, changes, arguments, message):
    with pytest.raises(SystemExit) as ended:
        parse(make_parser, tmp_path, *arguments, **changes)
    assert ended.value.code == 2
    assert re.fullmatch(".*" + message + "\n", capsys.readouterr().err)


@BOTH_PARSERS
def test_a_misspelt_encoder_type_key_does_not_escape(tmp_path, capsys, make_parser):
    settings = {key: value for key, value in TINY.items() if key != "encoder_type"}
    path = tmp_path / "run.yaml"
    path.write_text(yaml.safe_dump({**settings, "save_data": "x", "encodr_type": "preorder_transformer"}))
    with pytest.raises(SystemExit):
        make_parser().parse_known_args(["-config", str(path)])
    assert "unknown key 'encodr_type': did you mean 'encoder_type'?\n" in capsys.readouterr().err


@BOTH_PARSERS
def test_known_keys_of_either_command_are_accepted(tmp_path, make_parser):
    opt = parse(
        make_parser, tmp_path, "-seed", "-1", "-skip_empty_level=silent", num_threads=1, train_steps=1
    )
    assert (opt.encoder_type, opt.seed, opt.skip_empty_level) == ("preorder_transformer", -1, "silent")


def test_other_encoders_may_be_as_careless_as_before(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text(
        yaml.safe_dump({**TINY, "encoder_type": "transformer", "preorder_encoding": [], "qqq": 1})
    )
    assert training_parser().parse_known_args(["-config", str(path)])[1] == ["--qqq=1"]


def test_options_come_through_a_yaml(tmp_path):
    opt = parse(training_parser, tmp_path, preorder_max_relative_values=2, source_max_relative=0)
    assert EncodingOptions.from_opt(opt) == EncodingOptions(False, Limits(4, 2), None)
    opt = parse(training_parser, tmp_path, "--preorder_encoding")
    assert EncodingOptions.from_opt(opt) == EncodingOptions(False, None, Limits(4, 4))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"encoder_type": "transformer"},
            "preorder_encoding needs encoder_type: preorder_transformer, not tr",
        ),
        ({"encoder_type": "preorder_transfomer"}, "did you mean 'preorder_transformer'"),
        ({"num_kv": 2}, "num_kv does not work with encoder_type: preorder_transformer"),
        ({"multiquery": True}, "multiquery does not work"),
        ({"parallel_residual": True}, "parallel_residual does not work"),
        ({"relative_positions_buckets": 8}, "relative_positions_buckets does not work"),
        ({"lora_layers": ["linear_query"]}, "lora_layers does not work"),
        ({"lora_embedding": True}, "lora_embedding does not work"),
        ({"copy_attn": True}, "copy_attn does not work"),
        ({"quant_layers": ["w_1"]}, "quant_layers does not work"),
        ({"parallel_mode": "tensor_parallel", "world_size": 2}, "tensor_parallel does not work"),
        ({"heads": 5}, "hidden_size 64 is not a multiple of heads 5"),
        ({"word_vec_size": 32}, "hidden_size 64 is not word_vec_size 32"),
        ({"preorder_max_relative": 0}, "preorder_max_relative and .*_values count from 1"),
        (
            {"source_max_relative_values": 0},
            "source_max_relative and .*_values count from 1",
        ),
        ({"source_max_relative": -4}, "source_max_relative and .*_values count from 1"),
        (
            {"preorder_encoding": ["absolute"], "position_encoding_type": "SinusoidalConcat"},
            r"\[absolute\] needs position_encoding_type: SinusoidalInterleaved",
        ),
        (
            {"n_src_feats": 0},
            "preorder_encoding needs the positions as source feature: n_src_feats: 1, not 0",
        ),
        (
            {"n_src_feats": 2},
            "preorder_encoding needs the positions as source feature: n_src_feats: 1, not 2",
        ),
        ({"n_src_feats": 2, "preorder_encoding": []}, "reads one source feature, the position, not 2"),
    ],
)
def test_options_that_cannot_be(changes, message):
    with pytest.raises(UsageError, match=message):
        make_opt(**changes)


def test_absolute_and_relative_together_are_the_encoders_own():
    opt = make_opt(preorder_encoding=["absolute", "relative"], position_encoding=True, source_max_relative=4)
    assert EncodingOptions.from_opt(opt) == EncodingOptions(True, Limits(4, 4), Limits(4, 4))


def validated(tmp_path, **corpus):
    for name in ("train.src", "train.tgt"):
        write(tmp_path / name, ["a￨0"])
    paths = {"path_src": str(tmp_path / "train.src"), "path_tgt": str(tmp_path / "train.tgt")}
    opt = make_opt(data=yaml.safe_dump({"train": {**paths, **corpus}}))
    ArgumentParser._validate_data(opt)
    return opt


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        (None, ["preorder_positions"]),
        (["filtertoolong"], ["filtertoolong", "preorder_positions"]),
        (["inferfeats", "filtertoolong"], ["filtertoolong", "preorder_positions"]),
        (["preorder_positions", "bpe"], ["bpe", "preorder_positions"]),
    ],
)
def test_the_transform_is_added_by_itself(tmp_path, listed, expected):
    opt = validated(tmp_path, **({} if listed is None else {"transforms": listed}))
    assert opt.data["train"]["transforms"] == expected
    assert opt.n_src_feats == 1


def test_misspelt_keys_of_a_corpus(tmp_path):
    with pytest.raises(UsageError, match="data: train: unknown key 'wieght': did you mean 'weight'"):
        validated(tmp_path, wieght=1)


def test_other_encoders_still_need_inferfeats(tmp_path):
    opt = make_opt(encoder_type="transformer", preorder_encoding=[])
    write(tmp_path / "x", ["a"])
    opt.data = yaml.safe_dump({"train": {"path_src": str(tmp_path / "x"), "path_tgt": str(tmp_path / "x")}})
    with pytest.raises(ValueError, match="'inferfeats' transform is required"):
        ArgumentParser._validate_data(opt)


# --- corpora ---


@pytest.mark.parametrize(
    ("line", "words", "positions"),
    [
        ("a￨1 b￨0", "a b", "1 0"),
        ("  a￨1   b￨0 ", "a b", "1 0"),
        ("a b", "a b", "_ _"),
        ("a￨2 b c￨0", "a b c", "2 _ 0"),
        ("a￨_ b￨0", "a b", "_ 0"),
        ("x￨y￨1 b￨0", "x￨y b", "1 0"),
        ("\u3000￨0 b￨1", "&#12288; b", "0 1"),
        ("a\u00a0b￨0", "a&#160;b", "0"),
        ("", "", ""),
    ],
)
def test_source_lines(line, words, positions):
    assert parse_source(line, True) == (words.split(), positions.split())


def test_target_lines(tmp_path):
    targets = ["x  y ", "\u3000 z\u00a0", "&#38;#32; &#91;", ""]
    corpus = PositionedCorpus(corpus_of(tmp_path, ["a"] * 4, targets))
    assert [example["tgt"] for example in corpus.load()] == ["x y", "&#12288; z&#160;", "&#38;#32; &#91;", ""]


def test_white_space_is_itself_again_in_a_translation():
    words = ["&#12288;", "a&#160;b", "&#91;", "&#38;#32;", "&#99999;", "&#9999999999;", "plain"]
    assert list(map(unescape_spaces, words)) == ["\u3000", "a\u00a0b", *words[2:]]


@pytest.mark.parametrize("line", ["a￨x", "a￨", "￨1", "a￨1￨NN", "a￨-1"])
def test_source_lines_with_other_features(line):
    with pytest.raises(DataError, match="not a token with its position"):
        parse_source(line, True)


def test_a_feature_where_none_is_expected():
    assert parse_source("a b", False)[0] == ["a", "b"]
    with pytest.raises(DataError, match="token with a feature, but n_src_feats is 0: 'b￨1'"):
        parse_source("a b￨1", False)


def corpus_of(tmp_path, sources, targets, **kwargs):
    write(tmp_path / "src", sources)
    write(tmp_path / "tgt", targets)
    return ParallelCorpus("train", str(tmp_path / "src"), str(tmp_path / "tgt"), n_src_feats=1, **kwargs)


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_the_same_examples_as_opennmt(tmp_path, stride):
    corpus = corpus_of(tmp_path, [f"a￨1 b{i}￨0" for i in range(20)], [f"t {i}" for i in range(20)])
    for offset in range(stride):
        ours = list(PositionedCorpus(corpus).load(offset, stride))
        theirs = list(corpus.load(offset, stride))
        for example in theirs:
            example["tgt"] = example["tgt_original"] = example["tgt"].strip()
        assert ours == theirs
        assert ours


def test_alignments_and_lists(tmp_path):
    write(tmp_path / "align", ["0-0", "1-1"])
    corpus = corpus_of(tmp_path, ["a￨0", "b￨0"], ["x", "y"], align=str(tmp_path / "align"))
    assert [example["align"] for example in PositionedCorpus(corpus).load()] == ["0-0", "1-1"]
    listed = ParallelCorpus("infer", ["a￨0\n", "b"], None, n_src_feats=1)
    examples = list(PositionedCorpus(listed).load())
    assert [(e["src"], e["src_feats"], e["tgt"]) for e in examples] == [
        ("a", ["0"], None),
        ("b", [NO_POSITION], None),
    ]
    assert str(PositionedCorpus(listed)).startswith("PositionedCorpus(infer")


@pytest.mark.parametrize(
    ("sources", "targets", "message"),
    [
        (["a￨0", "b￨0"], ["x"], r"tgt:2: the file ends after 1 lines, .*src goes on"),
        (["a￨0"], ["x", "y"], r"src:2: the file ends after 1 lines, .*tgt goes on"),
        (["a￨0", "b￨z"], ["x", "y"], r"src:2: not a token with its position: 'b￨z'"),
        ([], [], r"src: the file is empty"),
    ],
)
def test_bad_files(tmp_path, sources, targets, message):
    with pytest.raises(DataError, match=message):
        list(PositionedCorpus(corpus_of(tmp_path, sources, targets)).load())


def test_an_error_in_the_first_line_is_not_hidden(tmp_path):
    corpus = PositionedCorpus(corpus_of(tmp_path, ["a￨z"], ["x"]))
    with pytest.raises(DataError, match=r"src:1: not a token with its position: 'a￨z'"):
        list(WeightedMixer({"train": corpus.load()}, {"train": 1}))
    with pytest.raises(UnboundLocalError):
        list(WeightedMixer({"train": (1 / 0 for _ in "a")}, {"train": 1}))


def test_only_our_encoder_reads_its_corpora_so(tmp_path):
    data = {"train": {"path_src": "a", "path_tgt": "b", "path_align": None}}
    assert isinstance(get_corpora(make_opt(data=data))["train"], PositionedCorpus)
    other = make_opt(data=data, encoder_type="transformer", preorder_encoding=[])
    assert isinstance(get_corpora(other)["train"], ParallelCorpus)
    assert get_corpora(make_opt(data=data), task="valid") is None


def test_equal_texts_with_different_positions_are_different_examples():
    def example(text, *feats):
        return {"src": {"src": text, "src_ids": [5, 6], "feats": list(feats)}, "tgt": {"tgt_ids": [1]}}

    data = [example("a b", [4, 5]), example("a b", [5, 4]), example("a b", [4, 5])]
    iterator = types.SimpleNamespace(task="train")
    batches = list(DynamicDatasetIter.batch_iter(iterator, zip(data, range(3), strict=True), 100))
    assert [[index for _, index in batch] for batch in batches] == [[0, 1]]


def test_the_feature_vocabulary_holds_every_position(tmp_path):
    for side in ("src", "tgt"):
        write(tmp_path / side, ["a\t2", "b\t1"])
    opt = make_opt(src_vocab=str(tmp_path / "src"), tgt_vocab=str(tmp_path / "tgt"), data_task="seq2seq")
    features = build_vocab(opt, {"src": [], "tgt": []})["src_feats"][0]
    assert features.ids_to_tokens[:7] == ["<unk>", "<blank>", "<s>", "</s>", "_", "0", "1"]
    assert features.ids_to_tokens[-1] == "4999"
    assert features(["4999", "5000", "x"]) == [5004, 0, 0]
    assert opt.n_src_feats == 1
    opt.n_src_feats = 0
    assert "src_feats" not in build_vocab(opt, {"src": [], "tgt": []})


# --- transforms ---


def transformed(pieces, words, positions, is_train=True, target=("t",), **kwargs):
    example = {"src": pieces.split(" "), "src_original": words.split(" "), "tgt": target and list(target)}
    if positions is not None:
        example["src_feats"] = [positions.split(" ")]
    transform = PositionsTransform(make_opt())
    example = transform.apply(example, is_train=is_train, stats=None, **kwargs)
    return example["src"], example.get("src_feats")


@pytest.mark.parametrize(
    ("pieces", "words", "positions", "expected"),
    [
        ("a b", "a b", "1 0", "1 0"),
        ("un@@ seen cat@@ s", "unseen cats", "1 0", "1 1 0 0"),
        ("un@@ seen cat@@ s", "unseen cats", "_ 0", "0 0 0 0"),
        ("a b￭ c", "a bc", "1 _", "1 1 1"),
        ("", "", "", ""),
    ],
)
def test_positions_of_pieces(pieces, words, positions, expected):
    assert transformed(pieces, words, positions) == (pieces.split(" "), [expected.split(" ")])


def test_without_features_nothing_happens():
    assert transformed("a@@ b", "ab", None) == (["a@@", "b"], None)


def test_an_empty_line_is_kept_at_translation_only():
    assert transformed("", "", "", is_train=False, target=None) == (["<blank>"], [["_"]])
    assert transformed("", "", None, is_train=False, corpus_name="infer") == (["<blank>"], None)
    assert transformed("", "", "", is_train=False, corpus_name="valid") == ([""], [[""]])
    assert transformed("", "", "") == ([""], [[""]])


def test_filtertoolong_filters_pairs_only():
    transform = FilterTooLongTransform(make_opt(src_seq_length=2, tgt_seq_length=4))
    long = {"src": ["a"] * 3, "tgt": None}
    assert transform.apply(long) is long
    assert transform.apply({"src": ["a"] * 3, "tgt": ["b"]}) is None


# --- messages ---


@pytest.mark.parametrize(
    "error",
    [
        DataError("no", "f", 3),
        DataError("Caught DataError in worker\nTraceback\npreorder.data.errors.DataError: f:3: no\n"),
    ],
)
def test_our_errors_are_one_line(capsys, error):
    with pytest.raises(SystemExit) as ended:
        sys.excepthook(type(error), error, None)
    assert ended.value.code == 2
    assert capsys.readouterr().err == "f:3: no\n"


def child_that_raised(trace):
    """Return what OpenNMT-py's parent process knows of a child that ended so."""
    queue = types.SimpleNamespace(get=lambda: (1, trace))
    return types.SimpleNamespace(children_pids=[], error_queue=queue)


@pytest.mark.parametrize("kind", [DataError, UsageError, MissingExtraError])
def test_errors_of_a_process_of_its_own_are_one_line(capsys, kind):
    trace = f"Traceback\n\npreorder.data.errors.{kind.__name__}: f:3: no\n"
    with pytest.raises(PreorderError, match="^f:3: no$") as raised:
        ErrorHandler.signal_handler(child_that_raised(trace), 10, None)
    with pytest.raises(SystemExit):
        sys.excepthook(raised.type, raised.value, None)
    assert capsys.readouterr().err == "f:3: no\n"


def test_other_errors_of_a_process_show_their_traceback():
    with pytest.raises(Exception, match="Traceback\nValueError: no"):
        ErrorHandler.signal_handler(child_that_raised("Traceback\nValueError: no"), 10, None)


def test_other_errors_show_their_traceback(capsys):
    sys.excepthook(ValueError, ValueError("no"), None)
    assert capsys.readouterr().err.endswith("ValueError: no\n")


def test_python_ends_with_the_status_that_we_ask_for():
    code = "import onmt\nfrom preorder.data.errors import DataError\nraise DataError('no', 'f', 3)"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (2, "f:3: no\n")


# --- wrapping ---


def test_wrapping_methods_classmethods_and_functions():
    class Base:
        def method(self, x):
            return x

        @classmethod
        def name(cls):
            return cls.__name__

    class Derived(Base):
        pass

    def add_one(original, self, x):
        return original(self, x) + 1

    def double(original, self, x):
        return 2 * original(self, x)

    def exclaim(original, cls):
        return original(cls) + "!"

    for _ in range(2):
        wrapping.wrap(Derived, "method", add_one)
        wrapping.wrap(Derived, "name", exclaim)
    assert (Derived().method(1), Derived.name()) == (2, "Derived!")
    for _ in range(2):
        wrapping.wrap(Derived, "method", double)
        wrapping.wrap(Derived, "method", add_one)
    assert Derived().method(1) == 4
    assert (Base().method(1), Base.name()) == (1, "Base")


def test_every_key_is_known():
    assert {
        "preorder_encoding",
        "num_threads",
        "train_steps",
        "src_subword_model",
    } <= configuration._all_keys()
