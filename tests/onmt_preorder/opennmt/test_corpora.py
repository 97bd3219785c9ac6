"""Reading of source and target files."""

import re
import types

import pytest
from onmt.constants import CorpusTask
from onmt.inputters import build_vocab
from onmt.inputters.dynamic_iterator import DynamicDatasetIter, WeightedMixer, build_dynamic_dataset_iter
from onmt.inputters.text_corpus import ParallelCorpus, get_corpora
from onmt.transforms import get_transforms_cls

from onmt_preorder.input.positions import NO_POSITION
from onmt_preorder.opennmt.corpora import PositionedCorpus, parse_source
from preorder.errors import DataError
from tests.support.opennmt import make_opt
from tests.support.texts import write


@pytest.mark.parametrize(
    ("line", "words", "positions"),
    [
        ("a￨1 b￨0", "a b", "1 0"),
        ("  a￨1   b￨0 ", "a b", "1 0"),
        ("a b", "a b", "_ _"),
        ("a￨2 b c￨0", "a b c", "2 _ 0"),
        ("a￨_ b￨0", "a b", "_ 0"),
        ("x￨y￨1 b￨0", "x&#65512;y b", "1 0"),
        ("\u3000￨0 b￨1", "&#12288; b", "0 1"),
        ("a\u00a0b￨0", "a&#160;b", "0"),
        ("a&#160;b￨0 &#38;#32;￨1", "a&#160;b &#38;#32;", "0 1"),
        ("a&#160;b\u3000 &#38;#32; &#91;", "a&#38;#160;b&#12288; &#38;#38;#32; &#91;", "_ _ _"),
        ("a￨_ b", "a&#65512;_ b", "_ _"),
        ("a￨b c ￨ ￨1 d￨", "a&#65512;b c &#65512; &#65512;1 d&#65512;", "_ _ _ _ _"),
        ("", "", ""),
    ],
)
def test_source_lines(line, words, positions):
    assert parse_source(line, True) == (words.split(), positions.split())


@pytest.mark.parametrize("level", ["silent", "warning"])
def test_pairs_without_a_target_are_left_out(tmp_path, caplog, level):
    given = corpus_of(tmp_path, ["a￨0", "b￨0", "c￨0"], ["x", " ", ""])
    corpus = PositionedCorpus(given, skip_empty_level=level)
    for _ in range(2):  # epochs
        assert [example["src"] for example in corpus.load()] == ["a"]
    expected = [f"{given.tgt}:2: an empty line: pairs without a target are left out"]
    assert caplog.messages == (expected if level == "warning" else [])


def test_pairs_without_a_target_can_be_an_error(tmp_path):
    data = corpus_of(tmp_path, ["a￨0", "b￨0"], ["x", ""])
    settings = {"path_src": data.src, "path_tgt": data.tgt, "path_align": None}
    corpus = get_corpora(make_opt(data={"train": settings}, skip_empty_level="error"))["train"]
    with pytest.raises(DataError, match=r"tgt:2: the line is empty \(skip_empty_level: error\)$"):
        list(corpus.load())


@pytest.mark.parametrize("prefix", ["", "y"])
def test_an_empty_target_of_a_translation_has_no_words(tmp_path, prefix):
    for side in ("src", "tgt"):
        write(tmp_path / side, "x\t2", "y\t1")
    opt = make_opt(src_vocab=str(tmp_path / "src"), tgt_vocab=str(tmp_path / "tgt"))
    opt.data, opt.src_prefix, opt.tgt_prefix, opt.tgt = {}, prefix, prefix, None
    opt.transforms = ["prefix", "preorder_positions"] if prefix else []
    transforms, vocabs = get_transforms_cls(opt.transforms), build_vocab(opt, {"src": [], "tgt": []})
    given = {"src": ["x￨0", "x￨0"], "tgt": ["", "x y"]}
    batches = build_dynamic_dataset_iter(opt, transforms, vocabs, task=CorpusTask.INFER, **given)
    names = vocabs["tgt"].ids_to_tokens
    found = [
        [names[number] for number in row[:length]]
        for batch, _ in batches
        for row, length in zip(batch["tgt"][:, :, 0], batch["tgtlen"], strict=True)
    ]
    before = [prefix] if prefix else []
    assert found == [["<s>", *before, "</s>"], ["<s>", *before, "x", "y", "</s>"]]


@pytest.mark.parametrize(
    "line", ["a￨x", "a￨1 ￨1", "a￨1 b￨c", "a￨1￨NN", "a￨٣", "a￨" + "1" * 5000, "a￨-1", "a￨4.73"]
)
def test_source_lines_with_other_features(line):
    with pytest.raises(DataError, match="not a token with its position"):
        parse_source(line, True)


def test_a_feature_where_none_is_expected():
    for line in ("a b", "a￨1 b", "a￨b c", "￨ ￨1"):
        assert parse_source(line, False)[0] == line.replace("￨", "&#65512;").split()
    with pytest.raises(DataError, match="token with a feature, but n_src_feats is 0: 'a￨0'"):
        parse_source("a￨0 b￨1", False)


def corpus_of(tmp_path, sources, targets, **kwargs):
    write(tmp_path / "src", *sources)
    write(tmp_path / "tgt", *targets)
    return ParallelCorpus("train", str(tmp_path / "src"), str(tmp_path / "tgt"), n_src_feats=1, **kwargs)


@pytest.mark.parametrize("stride", [1, 2, 3, 20])
def test_the_same_examples_as_opennmt_in_shares_that_are_all_of_them(tmp_path, stride):
    corpus = corpus_of(tmp_path, [f"a￨1 b{i}￨0" for i in range(20)], [f"t {i}" for i in range(20)])
    expected = list(corpus.load())
    for example in expected:
        example["tgt"] = example["tgt_original"] = example["tgt"].strip()
    for offset in range(stride):
        assert list(PositionedCorpus(corpus).load(offset, stride)) == expected[offset::stride]


def test_one_of_several_data_workers_tells_of_odd_positions(tmp_path, caplog):
    given = corpus_of(tmp_path, ["a￨0", "a￨3"] * 2, ["x"] * 4)
    for offset in range(2):
        assert len(list(PositionedCorpus(given).load(offset, 2))) == 2
    [message] = caplog.messages
    assert re.match(r"the positions of 2 of 4 lines are no permutation, .*; first \S+/src:2$", message)


def test_alignments_and_lists(tmp_path):
    write(tmp_path / "align", "0-0", "1-1")
    corpus = corpus_of(tmp_path, ["a￨0", "b￨0"], ["x", "y"], align=str(tmp_path / "align"))
    assert [example["align"] for example in PositionedCorpus(corpus).load()] == ["0-0", "1-1"]
    listed = ParallelCorpus("infer", ["a￨0\r\n", b"b\n"], None, n_src_feats=1)
    examples = list(PositionedCorpus(listed).load())
    assert [(e["src"], e["src_feats"], e["tgt"]) for e in examples] == [
        ("a", ["0"], None),
        ("b", [NO_POSITION], None),
    ]


@pytest.mark.parametrize(
    ("sources", "targets", "message"),
    [
        (["a￨0", "b￨0", "c￨0"], ["x", "", "z"], r"tgt: all lines are empty, or all of a data worker \(num"),
        (["a￨0"], ["x"], r"src: fewer lines than data workers \(num_workers\): 1$"),
        (["a￨0", "b￨0"], ["x"], r"tgt:2: the file ends after 1 line, .*src goes on"),
        (["a￨0"], ["x", "y"], r"src:2: the file ends after 1 line, .*tgt goes on"),
        (["a￨0", "b￨z"], ["x", "y"], r"src:2: not a token with its position: 'b￨z'"),
        ([], [], r"src: the file is empty"),
    ],
)
def test_bad_files(tmp_path, sources, targets, message):
    """Read by the second of two data workers."""
    corpus = PositionedCorpus(corpus_of(tmp_path, sources, targets))
    with pytest.raises(DataError, match=message):
        list(corpus.load(1, 2))


def test_an_error_in_the_first_line_is_not_hidden(tmp_path):
    corpus = PositionedCorpus(corpus_of(tmp_path, ["a￨z"], ["x"]))
    with pytest.raises(DataError, match=r"src:1: not a token with its position: 'a￨z'"):
        list(WeightedMixer({"train": corpus.load()}, {"train": 1}))
    with pytest.raises(UnboundLocalError):
        list(WeightedMixer({"train": (1 / 0 for _ in "a")}, {"train": 1}))


def test_equal_texts_with_different_positions_are_different_examples():
    def example(text, *feats):
        return {"src": {"src": text, "src_ids": [5, 6], "feats": list(feats)}, "tgt": {"tgt_ids": [1]}}

    data = [example("a b", [4, 5]), example("a b", [5, 4]), example("a b", [4, 5])]
    iterator = types.SimpleNamespace(task="train")
    batches = list(DynamicDatasetIter.batch_iter(iterator, zip(data, range(3), strict=True), 100))
    assert [[index for _, index in batch] for batch in batches] == [[0, 1]]


def test_the_feature_vocabulary_holds_every_position(tmp_path):
    for side in ("src", "tgt"):
        write(tmp_path / side, "a\t2", "b\t1")
    opt = make_opt(src_vocab=str(tmp_path / "src"), tgt_vocab=str(tmp_path / "tgt"), data_task="seq2seq")
    features = build_vocab(opt, {"src": [], "tgt": []})["src_feats"][0]
    assert features.ids_to_tokens[:7] == ["<unk>", "<blank>", "<s>", "</s>", "_", "0", "1"]
    assert features.ids_to_tokens[-1] == "4999"
    assert features(["4999", "5000", "x"]) == [5004, 0, 0]
    assert opt.n_src_feats == 1
    opt.n_src_feats = 0
    assert "src_feats" not in build_vocab(opt, {"src": [], "tgt": []})
