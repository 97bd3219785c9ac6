"""Ensembles: each member reads what it reads alone, whatever the order of their names."""

import os
from pathlib import Path

import pytest
import torch
from onmt.translate.translator import build_translator
from onmt.utils.misc import tile

from onmt_preorder.opennmt.translation import LineTranslator, translation_options
from preorder.cli import main as preorder
from preorder.errors import UsageError
from tests.support.language import features, sentence, write_texts
from tests.support.opennmt import train, write_vocabularies
from tests.support.texts import links, write
from tests.support.transformers import WITHOUT_FEATURES

SENTENCES = [sentence(seed) for seed in range(60)]
LINES = [*map(" ".join, SENTENCES[:6]), features(SENTENCES[7]), "Sue1￨2 Verb1￨0 Obj1￨1", "", "Verb3"]
RECURRENT = {
    "encoder_type": "bidirectional_gru",
    "decoder_type": "distortion_rnn",
    "position_encoding": False,
}
MODELS = {
    "verbs_last": {"preorder_model": "last"},
    "reversed": {"preorder_model": "reverse"},
    "from_files": {},
    "ignoring": {"preorder_encoding": []},
    "plain": WITHOUT_FEATURES,
    "theirs": {**WITHOUT_FEATURES, "encoder_type": "transformer"},
    "recurrent": {**WITHOUT_FEATURES, **RECURRENT},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, preorderer):
    """Return a folder of two preorderers, and of models that have learned for some steps."""
    folder = tmp_path_factory.mktemp("ensembles")
    write_texts(folder, "train", SENTENCES)
    write(folder / "align", *map(reverse, SENTENCES))
    (folder / "last").symlink_to(preorderer)
    files = ("--src", folder / "train.plain", "--align", folder / "align", "--model", folder / "reverse")
    options = ("--method", "btg", "--iterations", "3", "--classes", "6")
    assert preorder(["train", "-q", *options, *map(str, files)]) == 0
    write_vocabularies(folder)
    for seed, (name, changes) in enumerate(MODELS.items(), 1):
        source = "train.src" if name in ("from_files", "ignoring") else "train.plain"
        data = {"train": {"path_src": source, "path_tgt": "train.tgt", "weight": 1}}
        small = {"hidden_size": 16, "word_vec_size": 16, "train_steps": 3, "bucket_size": 60}
        config = {**small, "data": data, "save_model": name, "seed": seed, **changes}
        train(folder, **config).rename(folder / f"{name}.pt")
    return folder


@pytest.fixture(autouse=True)
def _there(folder, monkeypatch):
    monkeypatch.chdir(folder)


def reverse(words):
    return links(reversed(range(len(words))))


class Translated:
    """What models have translated together, and what each of them has read."""

    def __init__(self, *names, options=()):
        given = ["-model", *(f"{name}.pt" for name in names), "-src", "-", "-max_length", "5", *options]
        opt = translation_options([*given, "-beam_size", "2", "-n_best", "2"])
        with open(os.devnull, "w") as nowhere:
            translator = build_translator(opt, -1, report_score=False, out_file=nowhere)
            self.read = {name: [] for name in names}
            encoder = translator.model.encoder
            for name, each in zip(names, getattr(encoder, "model_encoders", [encoder]), strict=True):
                each.register_forward_pre_hook(lambda _, given, name=name: self.read[name].append(given[0]))
            self.scores, self.texts = LineTranslator(translator, opt).translate(
                LINES if opt.n_src_feats else [*map(" ".join, SENTENCES[:9]), "", "Verb3"]
            )


def are_equal(read, expected):
    return all(torch.equal(ids, right) for ids, right in zip(read, expected, strict=True))


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (("plain", "theirs"), ()),
        (("from_files", "ignoring"), ()),
        (("verbs_last", "from_files"), ("-preorder_model", "last")),
    ],
)
def test_each_member_reads_what_it_reads_alone(names, options):
    one, other = Translated(*names, options=options), Translated(*reversed(names), options=options)
    assert one.texts == other.texts
    assert one.scores == other.scores
    [alone] = Translated(names[0], options=options).read.values()
    for name in names:
        assert are_equal(one.read[name], alone)
        assert are_equal(other.read[name], alone)


def change(name, vocabulary=None, **options):
    """Make another.pt of a model, with other options and two words of a vocabulary exchanged."""
    checkpoint = torch.load(f"{name}.pt")
    vars(checkpoint["opt"]).update(options)
    if vocabulary:
        checkpoint["vocab"][vocabulary][-2:] = reversed(checkpoint["vocab"][vocabulary][-2:])
    torch.save(checkpoint, "another.pt")


def test_what_encoders_without_a_final_state_give_is_tiled_too():
    first, second = tile((torch.tensor([1, 2]), None), 2, dim=0)
    assert (first.tolist(), second) == ([1, 1, 2, 2], None)


BPE = {"transforms": ["bpe", "preorder_positions"], "data": {}, "src_subword_model": "align"}


@pytest.mark.parametrize(
    ("name", "changes", "why"),
    [
        ("from_files", {"vocabulary": "src"}, "their vocabularies of src differ$"),
        ("theirs", {"vocabulary": "tgt"}, "their vocabularies of tgt differ$"),
        ("plain", {}, "their n_src_feats differ: (0 and 1|1 and 0)$"),
        (
            "theirs",
            {"n_src_feats": 1},
            "their features differ: .(positions. and .others|others. and .positions).$",
        ),
        ("reversed", {}, "their preorder_model differ: .* and .*$"),
        ("from_files", BPE, "their transforms differ: .'(preorder|bpe)', .* and .'(bpe|preorder)', "),
    ],
)
def test_models_that_read_different_words_are_refused(name, changes, why):
    change(name, **changes)
    partner = "plain" if "tgt" in changes.values() else "from_files"
    partner = "verbs_last" if name == "reversed" or changes is BPE else partner
    for one, other in ((partner, "another"), ("another", partner)):
        with pytest.raises(UsageError, match=f"^{one}.pt and {other}.pt cannot translate together: {why}"):
            Translated(one, other)


def test_recurrent_decoders_are_refused():
    with pytest.raises(UsageError, match="average their weights"):
        Translated("plain", "recurrent")


def test_subword_models_are_compared_by_what_they_hold():
    pytest.importorskip("pyonmttok.version")  # not its stand-in
    for name, pair in (("one", "a b"), ("copy", "a b"), ("other", "c d")):
        write(Path(name), "#version: 0.2", f"{pair}</w>")
    for name, model in (("first", "one"), ("second", "copy"), ("third", "other")):
        change("verbs_last", **{**BPE, "src_subword_model": model, "tgt_subword_model": "one"})
        os.replace("another.pt", f"{name}.pt")
    assert len(Translated("first", "second").texts) == len(LINES)
    with pytest.raises(UsageError, match="first.pt and third.pt .*_subword_model differ: .one. and .other.$"):
        Translated("first", "third")
