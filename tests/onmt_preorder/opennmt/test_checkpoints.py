"""Reading of checkpoints, and what is in them."""

import pickletools
import re
import subprocess
import sys
import zipfile
from argparse import Namespace

import pytest
import torch
import yaml
from onmt.utils.optimizers import Optimizer
from safetensors.torch import save_file

from onmt_preorder.opennmt.checkpoints import read_options
from preorder.errors import DataError, UsageError
from recipes.configuration import read_system
from tests.support.distortion_models import make_model
from tests.support.opennmt import call, make_opt, write_task, write_vocabularies
from tests.support.texts import write


def test_options_are_read_in_a_process_that_has_imported_nothing_else(tmp_path):
    torch.save({"opt": Namespace(layers=3)}, tmp_path / "model.pt")
    code = "import sys; from onmt_preorder.opennmt.checkpoints import read_options; "
    code += "import torch; options = read_options(sys.argv[1]); torch.load(sys.argv[1], weights_only=True); "
    code += "print(options.layers)"
    command = [sys.executable, "-c", code, str(tmp_path / "model.pt")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "3\n"


def test_checkpoints_that_are_none(tmp_path):
    with pytest.raises(DataError, match=r"no\.pt: No such file or directory"):
        read_options(str(tmp_path / "no.pt"))
    path = tmp_path / "bad.pt"
    for make in (
        lambda: path.write_text("bad"),
        lambda: path.write_bytes(b""),
        lambda: torch.save({"model": {}}, path),
        lambda: torch.save([1], path),
        lambda: path.write_bytes(path.read_bytes()[:100]),
    ):
        make()
        with pytest.raises(DataError, match=r"bad\.pt: not a checkpoint of OpenNMT-py"):
            read_options(str(path))


@pytest.mark.parametrize(
    ("trained", "built", "message"),
    [
        ({}, {"distortion": "hidden"}, "Missing key in checkpoint: decoder.jumps"),
        ({"distortion": "hidden"}, {}, "Extra keys in model"),
        ({}, {"hidden_size": 8}, "do not fit the model: "),
    ],
)
def test_the_weights_of_another_model(trained, built, message):
    """As after ``train_from`` with ``override_opts``."""
    given, model = make_model(**trained), make_model(**built)
    weights = {key: value for key, value in given.state_dict().items() if not key.startswith("generator")}
    checkpoint = {"model": weights, "generator": given.generator.state_dict()}
    with pytest.raises(UsageError, match=message):
        model.load_state_dict(checkpoint)


def test_the_state_of_another_optimizer():
    one, other = (Optimizer.from_opt(make_model(distortion=each), make_opt()) for each in ("none", "hidden"))
    with pytest.raises(UsageError, match="train_from has the state of another optimizer$"):
        other.load_state_dict(one.state_dict())


def test_weights_in_a_file_of_their_own(tmp_path):
    model = make_model()
    path = str(tmp_path / "model")
    with pytest.raises(DataError, match=r"model\.pt: no weights: they are neither in it nor in a file"):
        model.load_safe_state_dict(path)
    write(tmp_path / "model.safetensors", "no weights")
    with pytest.raises(DataError, match=r"model\.safetensors: not safetensors: "):
        model.load_safe_state_dict(path)
    weights = {name: torch.full_like(weight, torch.nan) for name, weight in model.state_dict().items()}
    save_file(weights, f"{path}.safetensors")
    with pytest.raises(DataError, match=r"model\.safetensors: the weights are not finite: "):
        model.load_safe_state_dict(path)


def pickled_names(path):
    """Return the module and name of each class and function that reading a checkpoint imports."""
    with zipfile.ZipFile(path) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/data.pkl"))
        operations = list(pickletools.genops(archive.read(name)))
    assert not any(operation.name == "STACK_GLOBAL" for operation, _, _ in operations)
    return {argument for operation, argument, _ in operations if operation.name == "GLOBAL"}


@pytest.mark.parametrize("system", ["refsr", "reordering_both", "distortion_hidden", "npmt"])
def test_a_checkpoint_names_no_module_of_ours(tmp_path, system):
    """So it can be read wherever our modules move."""
    write_task(tmp_path, "features", 20, seed=1)
    features = (tmp_path / "features.src").read_text(encoding="utf-8")
    write(tmp_path / "plain.src", *re.sub(r"￨\d+", "", features).splitlines())
    write_vocabularies(tmp_path, "plain.src", "features.tgt")
    config = read_system(system, "tiny").options
    source = "features.src" if config.get("n_src_feats") else "plain.src"
    config |= {"data": {"train": {"path_src": source, "path_tgt": "features.tgt"}}, "train_steps": 1}
    config |= {"src_vocab": "vocab.src", "tgt_vocab": "vocab.tgt", "save_model": "model"}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    call(tmp_path, "onmt_train", "-config", "run.yaml")
    names = pickled_names(tmp_path / "model_step_1.pt")
    assert "argparse Namespace" in names
    assert {name.partition(" ")[0].partition(".")[0] for name in names} <= {
        "__builtin__",
        "argparse",
        "collections",
        "torch",
    }
