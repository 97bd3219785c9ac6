"""A model of two sentences, for tests of what is done with a model."""

from preorder.cli import main


def train_tiny(folder, classes):
    """Train it in a folder, ``src``, ``align`` and ``model``, with so many word classes; return its path."""
    (folder / "src").write_text("S1 V2 O3\nS2 V3 O1\n" * 30)
    (folder / "align").write_text("0-0 1-2 2-1\n" * 60)
    files = f"--src {folder}/src --align {folder}/align --model {folder}/model"
    assert main(f"train -q --method btg --iterations 2 --classes {classes} {files}".split()) == 0
    return folder / "model"
