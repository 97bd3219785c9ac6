"""Our transforms, their order among others, and lines that translation keeps."""

import pytest
import torch
from onmt.transforms import TransformPipe
from onmt.transforms.misc import FilterTooLongTransform
from onmt.transforms.tokenize import BPETransform, ONMTTokenizerTransform
from onmt.translate import TranslationBuilder

from onmt_preorder.input.pipeline import arrange
from onmt_preorder.opennmt.transforms import PositionsTransform, PreorderTransform
from tests.support.opennmt import make_opt
from tests.support.transformers import PAD, WORDS, make_vocabs


def transformed(pieces, words, positions, is_train=True, target=("t",), **kwargs):
    example = {"src": pieces.split(" "), "src_original": words.split(" "), "tgt": target and list(target)}
    if positions is not None:
        example["src_feats"] = [positions.split(" ")]
    transform = PositionsTransform(make_opt())
    example = transform.apply(example, is_train=is_train, stats=None, **kwargs)
    return example["src"], example.get("src_feats")


def test_an_empty_line_is_kept_at_translation_only():
    assert transformed("", "", "", is_train=False, target=None) == (["<blank>"], [["_"]])
    assert transformed("<de> ", "", "", is_train=False, target=None) == (["<blank>"], [["_"]])
    assert transformed("", "", None, is_train=False, corpus_name="infer") == (["<blank>"], None)
    assert transformed("", "", "", is_train=False, corpus_name="valid") == ([""], [[""]])
    assert transformed("", "", "") == transformed("<de> ", "", "") == ([""], [[""]])


def test_positions_that_are_there_stay(preorderer):
    words = "Sue1 Verb1 Obj1".split()
    examples = [{"src_original": words, "src_feats": [line.split()]} for line in ("0 1 2", "_ _ _", "_ _ 0")]
    transform = PreorderTransform(make_opt(preorder_model=str(preorderer)))
    transform.batch_apply([(example, None, "train") for example in examples])
    assert [" ".join(example["src_feats"][0]) for example in examples] == ["0 1 2", "0 2 1", "_ _ 0"]


def test_filtertoolong_filters_pairs_only():
    transform = FilterTooLongTransform(make_opt(src_seq_length=2, tgt_seq_length=4))
    long = {"src": ["a"] * 3, "tgt": None}
    assert transform.apply(long) is long
    assert transform.apply({"src": ["a"] * 3, "tgt": ["b"]}) is None


def test_escapes_are_undone_in_words_that_were_pieces():
    pipe = TransformPipe.build_from([BPETransform(make_opt()), PositionsTransform(make_opt())])
    assert pipe.apply_reverse("a&#122@@ 88;b &#91; &#38;#3@@ 2; ||| 0-0") == "a\u3000b &#91; &#32; ||| 0-0"


@pytest.mark.parametrize("source", [PAD, WORDS.index("w1")])  # an empty line, and one that gives no words
def test_alignments_of_a_translation_without_words_are_none(source):
    end = torch.tensor([WORDS.index("</s>")])
    batch = {"src": torch.tensor([[[source]]]), "srclen": torch.tensor([1]), "ind_in_bucket": [0]}
    found = {"batch": batch, "predictions": [[end, end]], "scores": [[-1.0, -2.0]], "attention": [[None] * 2]}
    builder = TranslationBuilder(make_vocabs(), n_best=2)
    [aligned] = builder.from_batch({**found, "gold_score": [0], "alignment": [[None, None]]})
    assert [rows.tolist() for rows in aligned.word_aligns] == [[], []]
    assert "ALIGN: \n" in aligned.log(1)
    [plain] = builder.from_batch({**found, "gold_score": [0], "alignment": [[]]})
    assert plain.word_aligns is None


@pytest.mark.parametrize(
    ("named", "model", "expected"),
    [
        ([], "", "preorder_positions"),
        ([], "dir", "preorder preorder_positions"),
        (["bpe", "preorder"], "dir", "preorder bpe preorder_positions"),
        (["filtertoolong", "bpe"], "dir", "filtertoolong preorder bpe preorder_positions"),
        (["preorder", "filtertoolong"], "dir", "preorder filtertoolong preorder_positions"),
        (["inferfeats", "preorder_positions", "preorder"], "dir", "preorder preorder_positions"),
    ],
)
def test_where_transforms_belong(named, model, expected):
    assert arrange(named, model) == expected.split()
    assert arrange(arrange(named, model), model) == expected.split()


def test_words_are_split_at_random_in_training_alone(tmp_path):
    pytest.importorskip("pyonmttok.version")  # not its stand-in
    import pyonmttok

    learner = pyonmttok.BPELearner(symbols=20)
    learner.ingest("lower lowest newer newest wider widest")
    learner.learn(str(tmp_path / "bpe"))
    values = {"model": str(tmp_path / "bpe"), "type": "bpe", "alpha": 0.5}
    names = {f"{side}_subword_{name}": value for side in ("src", "tgt") for name, value in values.items()}
    kwargs = {f"{side}_onmttok_kwargs": {"mode": "space"} for side in ("src", "tgt")}
    transform = ONMTTokenizerTransform(make_opt(**names, **kwargs))
    transform.warm_up()
    for is_train in (True, False):
        found = {tuple(transform.tokenize_string("lowest newest widest", "src", is_train)) for _ in range(50)}
        assert (len(found) > 1) == is_train
