"""What tests of the plug-in share."""

import pytest
import torch

from preorder.cli import main
from tests.support.language import alignment, sentence
from tests.support.texts import write


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def preorderer(tmp_path_factory):
    """Return the directory of a preorderer that has learned to put verbs last."""
    folder = tmp_path_factory.mktemp("preorderer")
    sentences = [sentence(seed) for seed in range(200)]
    write(folder / "src", *map(" ".join, sentences))
    write(folder / "align", *map(alignment, sentences))
    options = ("--method", "btg", "--iterations", "3", "--classes", "6", "--lang", "xx")
    files = ("--src", folder / "src", "--align", folder / "align", "--model", folder / "model")
    assert main(["train", *options, *map(str, files)]) == 0
    return folder / "model"
