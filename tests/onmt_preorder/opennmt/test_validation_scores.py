"""Each translation of a validation is compared with its own reference."""

import pytest
import yaml
from onmt.scorers.bleu import BleuScorer
from onmt.translate import Translator

from preorder.errors import DataError
from tests.support.opennmt import TINY, call, write_training_task
from tests.support.texts import write

LINES = 20


@pytest.fixture
def compared(tmp_path, monkeypatch):
    """Return a function that trains with a dev set's targets; return translations and references compared."""
    given = []
    monkeypatch.setattr(BleuScorer, "compute_score", lambda _, *texts: given.extend(texts) or 0.0)
    write_training_task(tmp_path, LINES, LINES)

    def train(targets, **changes):
        write(tmp_path / "valid.tgt", *targets)
        config = {**TINY, "bucket_size": LINES, "train_steps": 1, "valid_steps": 1, "valid_metrics": ["BLEU"]}
        (tmp_path / "run.yaml").write_text(yaml.safe_dump({**config, **changes}), encoding="utf-8")
        call(tmp_path, "onmt_train", "-config", "run.yaml")
        return given

    return train


@pytest.mark.parametrize("odd", ["", "  ", "w1\u2028w2"])
def test_lines_that_could_shift_the_others(compared, odd):
    targets = [odd, *(f"w{number}" for number in range(1, LINES))]
    translations, references = compared(targets)
    assert (len(translations), references) == (LINES, targets)


def test_lines_that_a_transform_leaves_out(compared, monkeypatch):
    monkeypatch.setattr(Translator, "_translate", lambda *_, **__: ([], [["w1"]] * (LINES - 1)))
    reason = "of 20 lines 19 are translated: others have an empty source, or a transform leaves them out"
    with pytest.raises(DataError, match=rf"valid\.tgt: valid_metrics: {reason}$"):
        compared(["w1"] * LINES)
