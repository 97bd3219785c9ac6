"""Expected positions, from the file or the preorderer to translations, by OpenNMT-py's own commands."""

import pytest
import torch
import yaml

from onmt_preorder.cli import main
from preorder.data.errors import DataError, UsageError
from preorder.data.formats import format_expected_features
from preorder.data.types import Sentence
from preorder.methods.model_directory import load_model, save_model
from tests.support.language import features, sentence, translation
from tests.support.opennmt import TINY, call, write, write_vocabularies

pytestmark = pytest.mark.slow

SENTENCES = [sentence(seed) for seed in range(60)]
TEST = SENTENCES[:12]


@pytest.fixture(scope="module")
def unsure(preorderer, tmp_path_factory):
    """Return a copy of the preorderer that is less sure of its orders."""
    model = load_model(str(preorderer))
    model.preorderer._temperature = 20.0
    path = tmp_path_factory.mktemp("unsure") / "model"
    save_model(model, str(path))
    return path


@pytest.fixture(scope="module")
def folder(unsure, tmp_path_factory):
    """Return a folder of texts, and of models that read expected positions and whole ones."""
    folder = tmp_path_factory.mktemp("expected")
    write(folder / "train.plain", map(" ".join, SENTENCES))
    write(folder / "train.whole", map(features, SENTENCES))
    write(folder / "train.src", told(unsure, SENTENCES))
    write(folder / "train.tgt", map(translation, SENTENCES))
    write(folder / "test.src", told(unsure, TEST))
    write(folder / "test.whole", map(features, TEST))
    write(folder / "test.plain", map(" ".join, TEST))
    write_vocabularies(folder)
    train(folder, "model", "train.src", preorder_expected=True)
    train(folder, "whole", "train.whole")
    return folder


def told(preorderer, sentences):
    model = load_model(str(preorderer))
    given = [model.annotate(Sentence(tuple(words))) for words in sentences]
    for words, places in zip(sentences, model.preorderer.expected_positions(given), strict=True):
        yield format_expected_features(words, places)


def train(folder, name, source, **changes):
    paths = {"path_src": source, "path_tgt": "train.tgt"}
    config = {**TINY, "preorder_encoding": ["absolute", "relative"], "save_model": name, "train_steps": 4}
    config |= {"valid_steps": 4, "bucket_size": 64, "data": {"train": paths, "valid": paths}, **changes}
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(config))
    call(folder, "onmt_train", "-config", f"{name}.yaml")


def scored(folder, model, source, *options):
    given = ("-model", *model.split(), "-src", source, "-output", "out", "-with_score", *options)
    call(folder, "onmt_translate", *given)
    lines = (folder / "out").read_text(encoding="utf-8").splitlines()
    return [(line.rpartition("\t")[0], round(float(line.rpartition("\t")[2]), 3)) for line in lines]


def test_files_and_the_preorderer_tell_the_same(folder, unsure):
    from_file = scored(folder, "model_step_4.pt", "test.src")
    assert scored(folder, "model_step_4.pt", "test.plain", "-preorder_model", unsure) == from_file
    whole = scored(folder, "model_step_4.pt", "test.whole")
    assert len(whole) == len(from_file) == len(TEST)
    assert sum(one != other for one, other in zip(whole, from_file, strict=True)) > len(TEST) / 2


def test_whole_numbers_are_what_they_are_without_the_option(folder):
    """The model that reads whole numbers, told that it reads expected ones, translates as before."""
    checkpoint = torch.load(folder / "whole_step_4.pt", weights_only=True)
    checkpoint["opt"].preorder_expected = True
    torch.save(checkpoint, folder / "told.pt")
    whole = scored(folder, "whole_step_4.pt", "test.whole")
    assert scored(folder, "told.pt", "test.whole") == whole
    lines = (folder / "test.whole").read_text(encoding="utf-8").splitlines()
    write(folder / "test.points", [" ".join(f"{token}.00" for token in line.split()) for line in lines])
    assert scored(folder, "told.pt", "test.points") == whole


def test_a_model_of_whole_numbers_refuses_others(folder, monkeypatch, capsys):
    with pytest.raises(DataError, match=r"^test\.src:1: an expected position needs preorder_expected"):
        scored(folder, "whole_step_4.pt", "test.src")
    with pytest.raises(UsageError, match="^an ensemble needs models that all have preorder_expected, or"):
        scored(folder, "model_step_4.pt whole_step_4.pt", "test.whole")
    monkeypatch.chdir(folder)
    write(folder / "beyond", ["Sue1￨0.5 Verb1￨0.5", "Sue1￨0.00 Verb1￨1.01"])
    assert main(["translate", "--model", "model_step_4.pt", "--src", "beyond", "--out", "none"]) == 2
    assert capsys.readouterr().err.endswith("beyond:2: the position is not from 0 to 1: 'Verb1￨1.01'\n")


def test_training_on_plain_text(folder, unsure):
    """With drawn orders and the source's own among expected positions."""
    shares = {"preorder_sample": 0.4, "preorder_identity": 0.2}
    train(folder, "fly", "train.plain", preorder_expected=True, preorder_model=str(unsure), **shares)
    opt = torch.load(folder / "fly_step_4.pt", weights_only=True)["opt"]
    assert (opt.preorder_expected, opt.preorder_sample, opt.preorder_identity) == (True, 0.4, 0.2)
    assert scored(folder, "fly_step_4.pt", "test.plain") == scored(folder, "fly_step_4.pt", "test.src")
