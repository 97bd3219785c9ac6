"""Our transforms, and lines that translation keeps."""

import pytest
import torch
from onmt.inputters.dynamic_iterator import DynamicDatasetIter
from onmt.inputters.text_corpus import get_corpora
from onmt.transforms import TransformPipe, get_transforms_cls, make_transforms
from onmt.transforms.misc import FilterTooLongTransform
from onmt.transforms.tokenize import BPETransform
from onmt.translate import TranslationBuilder

from onmt_preorder.input.pipeline import arrange
from onmt_preorder.opennmt.transforms import PositionsTransform
from tests.support.language import sentence
from tests.support.opennmt import make_opt
from tests.support.texts import write
from tests.support.transformers import PAD, WORDS, make_vocabs

LINES = [" ".join(sentence(seed, longest=6)) for seed in range(300, 330)]
SPECIAL = ["", "Sue1", "Sue1\u3000Sue2 Verb1  Obj2 ", "Sue1 Verb2 Obj1", "&#160; Verb1 a&#65512;b"]


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
        ("un@@ seen cat@@ s", "unseen cats", "_ 0", "0 0 0 0"),
        ("", "", "", ""),
    ],
)
def test_positions_of_pieces(pieces, words, positions, expected):
    assert transformed(pieces, words, positions) == (pieces.split(" "), [expected.split(" ")])


def test_an_empty_line_is_kept_at_translation_only():
    assert transformed("", "", "", is_train=False, target=None) == (["<blank>"], [["_"]])
    assert transformed("<de> ", "", "", is_train=False, target=None) == (["<blank>"], [["_"]])
    assert transformed("", "", None, is_train=False, corpus_name="infer") == (["<blank>"], None)
    assert transformed("", "", "", is_train=False, corpus_name="valid") == ([""], [[""]])
    assert transformed("", "", "") == transformed("<de> ", "", "") == ([""], [[""]])


def examples_of(folder, lines, preorderer, task="train", epochs=1, **options):
    """Return what OpenNMT-py's iterator makes of lines: source words and their positions, in each epoch."""
    write(folder / "src", *lines)
    write(folder / "tgt", *["x"] * len(lines))
    names = arrange([], str(preorderer))
    corpus = {"path_src": str(folder / "src"), "path_tgt": str(folder / "tgt"), "path_align": None}
    data = {name: {**corpus, "transforms": names, "weight": 1} for name in ("train", "valid")}
    opt = make_opt(preorder_model=str(preorderer), data=data, **options)
    made = make_transforms(opt, get_transforms_cls(names), None)
    vocabs = {"data_task": "seq2seq", "decoder_start_token": "<s>", "src": list, "tgt": list}
    vocabs["src_feats"] = [list]
    corpora = get_corpora(opt, task=task)
    iterator = DynamicDatasetIter.from_opt(corpora, made, vocabs, opt, task, copy=False, device=None)
    iterator.num_workers = 0
    iterator._init_datasets(0)
    stream = iterator.mixer.iterables[task]
    buckets = [iterator._tuple_to_json_with_tokIDs(list(stream)) for _ in range(epochs)]
    return [(example["src"]["src"], example["src"]["feats"][0]) for bucket in buckets for example in bucket]


def test_positions_that_are_there_stay(tmp_path, preorderer):
    lines = ["Sue1￨0 Verb1￨1 Obj1￨2", "Sue1 Verb1 Obj1", "Sue1 Verb1 Obj1￨0", "Sue1￨_ Verb1￨_ Obj1￨_"]
    made = [numbers for _, numbers in examples_of(tmp_path, lines, preorderer)]
    assert made == [["0", "1", "2"], ["0", "2", "1"], ["0", "1", "0"], ["0", "2", "1"]]


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
