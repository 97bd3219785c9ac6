"""Training on orders that are drawn from the preorderer, by OpenNMT-py's own commands."""

import pytest
import torch
import yaml

from onmt_preorder.cli import main
from preorder.data.errors import UsageError
from preorder.methods.model_directory import load_model, save_model
from tests.support.language import features, sentence, translation
from tests.support.opennmt import TINY, call, write_vocabularies
from tests.support.texts import write

pytestmark = pytest.mark.slow

SENTENCES = [sentence(seed) for seed in range(60)]
TEST = SENTENCES[:12]
SHARES = {"preorder_sample": 0.4, "preorder_identity": 0.2}


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
    """Return a folder of texts, and of a model that was told drawn orders, and the source's own."""
    folder = tmp_path_factory.mktemp("drawn")
    write(folder / "train.plain", *map(" ".join, SENTENCES))
    write(folder / "train.tgt", *map(translation, SENTENCES))
    write(folder / "test.src", *map(features, TEST))
    write(folder / "test.plain", *map(" ".join, TEST))
    write_vocabularies(folder)
    train(folder, "drawn", preorder_model=str(unsure), **SHARES)
    return folder


def train(folder, name, **changes):
    paths = {"path_src": "train.plain", "path_tgt": "train.tgt"}
    config = {**TINY, "preorder_encoding": ["absolute", "relative"], "save_model": name, "train_steps": 4}
    config |= {"valid_steps": 4, "bucket_size": 64, "data": {"train": paths, "valid": paths}, **changes}
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(config))
    call(folder, "onmt_train", "-config", f"{name}.yaml")


def scored(folder, model, source, *options):
    given = ("-model", *model.split(), "-src", source, "-output", "out", "-with_score", *options)
    call(folder, "onmt_translate", *given)
    lines = (folder / "out").read_text(encoding="utf-8").splitlines()
    return [(line.rpartition("\t")[0], round(float(line.rpartition("\t")[2]), 3)) for line in lines]


def test_training_on_plain_text(folder, unsure):
    """Translations have the best orders, whatever the training was told."""
    opt = torch.load(folder / "drawn_step_4.pt", weights_only=True)["opt"]
    assert (opt.preorder_sample, opt.preorder_identity) == (0.4, 0.2)
    best = scored(folder, "drawn_step_4.pt", "test.src")
    assert len(best) == len(TEST)
    assert scored(folder, "drawn_step_4.pt", "test.plain") == best
    train(folder, "best", preorder_model=str(unsure))
    assert scored(folder, "best_step_4.pt", "test.plain") != best


def told(folder, name, value):
    """Copy the model, which says that it was trained with or without expected positions."""
    checkpoint = torch.load(folder / "drawn_step_4.pt", weights_only=True)
    checkpoint["opt"].preorder_expected = value
    torch.save(checkpoint, folder / name)


def test_models_of_expected_positions_are_refused(folder, unsure, monkeypatch, capsys):
    """They were an option once; models that were trained without it go on as ever."""
    told(folder, "without.pt", False)
    told(folder, "with.pt", True)
    reason = "the model was trained with preorder_expected, which is no more: train it again"
    best = scored(folder, "drawn_step_4.pt", "test.src")
    assert scored(folder, "without.pt", "test.src") == best
    with pytest.raises(UsageError, match=f"^{reason}$"):
        scored(folder, "drawn_step_4.pt with.pt", "test.src")
    given = {"preorder_model": str(unsure), "train_steps": 8, **SHARES}
    train(folder, "resumed", train_from="without.pt", **given)
    with pytest.raises(UsageError, match=f"^{reason}$"):
        train(folder, "refused", train_from="with.pt", **given)
    monkeypatch.chdir(folder)
    assert main(["translate", "--model", "with.pt", "--src", "test.src", "--out", "none"]) == 2
    assert capsys.readouterr().err.endswith(f"{reason}\n")
    assert not (folder / "none").exists()
