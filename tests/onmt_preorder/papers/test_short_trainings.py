"""Two steps of training and a translation of each paper's model by OpenNMT-py's own commands."""

import pytest

from tests.support.opennmt import TINY, write_training_task
from tests.support.texts import write
from tests.support.trainings import DISTORTION, PHRASES, train, translate

LEARNING = {**TINY, "preorder_encoding": [], "decoder_type": "preorder_transformer"}
MODELS = {
    "preorder": TINY,
    "reordering": LEARNING | {"reordering_embedding": ["encoder", "decoder"], "norm_placement": "post"},
    "refsr": LEARNING | {"explicit_reordering": "refsr", "layers": 2},
    "distortion": {**DISTORTION, "distortion": "source"},
    "phrases": PHRASES,
}


@pytest.mark.parametrize("name", MODELS)
def test_it_trains_and_translates(tmp_path, name):
    write_training_task(tmp_path, 60, 10)
    if name in ("distortion", "phrases"):  # which read no positions
        for part in ("train", "valid"):
            source = (tmp_path / f"{part}.src").read_text(encoding="utf-8").splitlines()
            words = [" ".join(token.split("￨")[0] for token in line.split()) for line in source]
            write(tmp_path / f"{part}.src", *words)
    steps = {"train_steps": 2, "valid_steps": 2, "save_checkpoint_steps": 2, "report_every": 1}
    log = train(tmp_path, MODELS[name], "model", **steps)
    assert "Validation perplexity: " in log
    assert ("similarity: " in log) == (name == "refsr")
    lines = (tmp_path / "valid.src").read_text(encoding="utf-8").splitlines()[:3]
    outputs, _ = translate(tmp_path, ["", *lines], "model_step_2.pt", "-max_length", 250)
    assert len(outputs) == 4
    assert outputs[0] == ""
