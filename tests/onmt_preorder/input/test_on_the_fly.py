"""Preordering while training and translating: the transform and what it does with a model."""

import pytest
import yaml
from onmt.inputters.dynamic_iterator import DynamicDatasetIter
from onmt.inputters.text_corpus import get_corpora
from onmt.transforms import get_transforms_cls, make_transforms
from onmt.utils.parse import ArgumentParser

from onmt_preorder.input import on_the_fly
from onmt_preorder.input.on_the_fly import OnTheFly
from onmt_preorder.input.pipeline import arranged
from onmt_preorder.input.transforms import PreorderTransform
from preorder.annotate import stanza, stanza_models
from preorder.annotate.stanza_models import StanzaOptions
from preorder.cli import main
from preorder.data.errors import DataError, UsageError
from preorder.data.types import Permutation
from preorder.methods.model_directory import Model, load_model
from tests.support import fake_stanza
from tests.support.language import positions, sentence
from tests.support.opennmt import make_opt, write

LINES = [" ".join(sentence(seed, longest=6)) for seed in range(300, 330)]
SPECIAL = ["", "Sue1", "Sue1\u3000Sue2 Verb1  Obj2 ", "Sue1 Verb2 Obj1", "&#160; Verb1 a&#65512;b"]


class Counting:
    """A preorderer that turns sentences around, and counts those that it is given."""

    layers = frozenset()

    def __init__(self):
        self.seen = []

    def order(self, sentences, threads=1):
        self.seen += [" ".join(sentence.words) for sentence in sentences]
        return [Permutation(tuple(reversed(range(len(sentence))))) for sentence in sentences]


# --- what is done with a model ---


def test_lines_are_remembered_while_there_is_room(monkeypatch):
    monkeypatch.setattr(on_the_fly, "REMEMBERED", 5)
    preorderer = Counting()
    fly = OnTheFly(Model(preorderer))
    assert fly.positions(["a b", "c", "a b", "d e f"]) == [(1, 0), (0,), (1, 0), (2, 1, 0)]
    assert fly.positions(["d e f", "a b", "g h"]) == [(2, 1, 0), (1, 0), (1, 0)]
    assert fly.positions([]) == []
    assert preorderer.seen == ["a b", "c", "d e f", "d e f", "g h"]


def test_words_are_unescaped_before_they_are_ordered():
    preorderer = Counting()
    OnTheFly(Model(preorderer)).positions(["a&#12288;b c&#65512;d &#38;#160;"])
    assert preorderer.seen == ["a\u3000b c￨d &#160;"]


def test_a_model_is_loaded_once(preorderer):
    assert on_the_fly.load(str(preorderer)) is on_the_fly.load(str(preorderer))


def test_layers_that_only_files_give():
    needy = Counting()
    needy.layers = frozenset({"tags"})
    with pytest.raises(UsageError, match=r"the model needs POS tags \(--pos\), and none are given"):
        OnTheFly(Model(needy))
    with pytest.raises(UsageError, match="trees are made from POS tags in a file"):
        OnTheFly(Model(needy, stanza=StanzaOptions("en", "constituency", tagged=True)))


def test_stanza_annotates_in_this_process(monkeypatch, tmp_path):
    monkeypatch.setattr(stanza, "_work", fake_stanza.work)
    monkeypatch.setattr(stanza_models, "prepare", lambda options: [])
    needy = Counting()
    needy.layers = frozenset({"tags"})
    fly = OnTheFly(Model(needy, stanza=StanzaOptions("en")), str(tmp_path))
    assert fly.positions(["a b", "", "c"]) == [(1, 0), (), (0,)]
    assert len(list(tmp_path.glob("done-*"))) == 1


# --- the pipeline ---


@pytest.mark.parametrize(
    ("named", "model", "expected"),
    [
        ([], "", "preorder_positions"),
        ([], "dir", "preorder preorder_positions"),
        (["bpe", "preorder"], "dir", "preorder bpe preorder_positions"),
        (
            ["filtertoolong", "onmt_tokenize"],
            "dir",
            "filtertoolong preorder onmt_tokenize preorder_positions",
        ),
        (["preorder", "filtertoolong"], "dir", "preorder filtertoolong preorder_positions"),
        (["inferfeats", "preorder_positions", "preorder"], "dir", "preorder preorder_positions"),
    ],
)
def test_where_transforms_belong(named, model, expected):
    assert arranged(named, model) == expected.split()
    assert arranged(arranged(named, model), model) == expected.split()


def test_the_transform_needs_a_model():
    with pytest.raises(UsageError, match=r"transforms: \[preorder\] needs preorder_model: DIR"):
        arranged(["preorder"], "")


def validated(tmp_path, **changes):
    write(tmp_path / "x", ["a"])
    paths = {"path_src": str(tmp_path / "x"), "path_tgt": str(tmp_path / "x")}
    opt = make_opt(data=yaml.safe_dump({"train": {**paths, "transforms": ["filtertoolong"]}}), **changes)
    ArgumentParser._validate_data(opt)
    return opt


def test_positions_are_implied(tmp_path, preorderer):
    opt = validated(tmp_path, preorder_model=str(preorderer), n_src_feats=0, src_feats_defaults=None)
    assert opt.n_src_feats == 1
    assert opt.data["train"]["transforms"] == ["filtertoolong", "preorder", "preorder_positions"]
    assert opt.transforms == ["preorder", "preorder_positions"]


def test_a_vocabulary_is_counted_without_preordering(tmp_path, preorderer):
    opt = make_opt(preorder_model=str(preorderer), n_src_feats=0)
    for dump, expected in ((False, []), (True, ["preorder"])):
        opt.n_src_feats, opt.dump_samples, opt.transforms = 0, dump, []
        write(tmp_path / "x", ["a"])
        opt.data = yaml.safe_dump(
            {"train": {"path_src": str(tmp_path / "x"), "path_tgt": str(tmp_path / "x")}}
        )
        ArgumentParser._validate_data(opt)
        assert opt.n_src_feats == 1
        assert opt.data["train"]["transforms"] == [*expected, "preorder_positions"]


def test_a_missing_model_directory(tmp_path):
    with pytest.raises(DataError, match=r"nowhere/model\.json: "):
        validated(tmp_path, preorder_model=str(tmp_path / "nowhere"))


def test_other_encoders_cannot_use_it(tmp_path):
    with pytest.raises(UsageError, match="preorder_model is for models that read positions"):
        make_opt(encoder_type="transformer", preorder_encoding=[], preorder_model="dir")
    opt = make_opt(encoder_type="transformer", preorder_encoding=[], transforms=["preorder"])
    with pytest.raises(UsageError, match="preorder_model is for models that read positions"):
        PreorderTransform._validate_options(opt)


# --- the transform ---


def examples_of(folder, lines, preorderer, task="train", targets=None, batch=None):
    """Return what OpenNMT-py's iterator makes of lines: source words and their positions."""
    write(folder / "src", lines)
    write(folder / "tgt", targets or ["x"] * len(lines))
    names = arranged([], str(preorderer))
    corpus = {"path_src": str(folder / "src"), "path_tgt": str(folder / "tgt"), "path_align": None}
    opt = make_opt(
        preorder_model=str(preorderer), data={"train": {**corpus, "transforms": names, "weight": 1}}
    )
    transforms = make_transforms(opt, get_transforms_cls(names), None)
    vocabs = {"data_task": "seq2seq", "decoder_start_token": "<s>", "src": list, "tgt": list}
    vocabs["src_feats"] = [list]
    corpora = get_corpora(opt, task="train")
    iterator = DynamicDatasetIter.from_opt(corpora, transforms, vocabs, opt, task, copy=False, device=None)
    iterator.num_workers = 0
    iterator._init_datasets(0)
    stream = iterator.mixer.iterables["train"]
    bucket = iterator._tuple_to_json_with_tokIDs(list(stream))
    return [(example["src"]["src"], example["src"]["feats"][0]) for example in bucket]


def applied(folder, lines, preorderer):
    """Return what ``preorder apply`` makes of lines."""
    write(folder / "plain", lines)
    arguments = ("apply", "--model", preorderer, "--src", folder / "plain", "--out", folder / "features")
    assert main(list(map(str, arguments))) == 0
    return (folder / "features").read_text(encoding="utf-8").split("\n")[:-1]


def test_the_same_positions_as_apply(tmp_path, preorderer):
    lines = LINES + SPECIAL[1:]
    given = examples_of(tmp_path, applied(tmp_path, lines, preorderer), preorderer)
    made = examples_of(tmp_path, lines, preorderer)
    assert [numbers for _, numbers in made] == [numbers for _, numbers in given]
    assert made[0][1] == list(map(str, positions(LINES[0].split())))
    orders = load_model(str(preorderer)).preorderer
    assert orders.method == "btg"


def test_positions_that_are_there_stay(tmp_path, preorderer):
    lines = ["Sue1￨0 Verb1￨1 Obj1￨2", "Sue1 Verb1 Obj1", "Sue1 Verb1 Obj1￨0", "Sue1￨_ Verb1￨_ Obj1￨_"]
    made = [numbers for _, numbers in examples_of(tmp_path, lines, preorderer)]
    assert made == [["0", "1", "2"], ["0", "2", "1"], ["0", "1", "0"], ["0", "2", "1"]]


def test_one_example_by_itself(preorderer):
    transform = PreorderTransform(make_opt(preorder_model=str(preorderer)))
    words = sentence(5)
    example = {"src": words, "src_original": words, "src_feats": [["_"] * len(words)], "tgt": None}
    assert transform.apply(example)["src_feats"] == [list(map(str, positions(words)))]
    empty = {"src": [""], "src_original": [""], "src_feats": [[""]], "tgt": None}
    assert transform.apply(empty)["src_feats"] == [[""]]
    assert repr(transform) == f"PreorderTransform(preorder_model={preorderer})"
