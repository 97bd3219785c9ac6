"""Models that were trained with options that are no more."""

import pytest
import torch
import yaml

from onmt_preorder.cli import main
from preorder.errors import UsageError
from tests.support.opennmt import TINY, call, write_training_task

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of a text, and of a model."""
    folder = tmp_path_factory.mktemp("earlier")
    write_training_task(folder, 60, 10)
    train(folder, "model")
    return folder


def train(folder, name, **changes):
    config = {**TINY, "save_model": name, "train_steps": 4, "valid_steps": 4, "bucket_size": 64, **changes}
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(config))
    call(folder, "onmt_train", "-config", f"{name}.yaml")


def told(folder, name, **options):
    """Copy the model, which says that it was trained with these options."""
    checkpoint = torch.load(folder / "model_step_4.pt", weights_only=True)
    vars(checkpoint["opt"]).update(options)
    torch.save(checkpoint, folder / name)


def translated(folder, model):
    call(folder, "onmt_translate", "-model", *model.split(), "-src", "valid.src", "-output", "out")
    return (folder / "out").read_text(encoding="utf-8")


def test_orders_that_were_drawn_in_training_make_no_other_model(folder):
    told(folder, "drawn.pt", preorder_sample=0.3, preorder_identity=0.1)
    assert translated(folder, "drawn.pt") == translated(folder, "model_step_4.pt")
    train(folder, "resumed", train_from="drawn.pt", train_steps=8)


def test_models_of_expected_positions_are_refused(folder, monkeypatch, capsys):
    told(folder, "without.pt", preorder_expected=False)
    told(folder, "with.pt", preorder_expected=True)
    reason = "the model was trained with preorder_expected, which is no more: train it again"
    assert translated(folder, "without.pt") == translated(folder, "model_step_4.pt")
    with pytest.raises(UsageError, match=f"^{reason}$"):
        translated(folder, "model_step_4.pt with.pt")
    train(folder, "again", train_from="without.pt", train_steps=8)
    with pytest.raises(UsageError, match=f"^{reason}$"):
        train(folder, "refused", train_from="with.pt", train_steps=8)
    monkeypatch.chdir(folder)
    assert main(["translate", "--model", "with.pt", "--src", "valid.src", "--out", "none"]) == 2
    assert capsys.readouterr().err.endswith(f"{reason}\n")
    assert not (folder / "none").exists()
