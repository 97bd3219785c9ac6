"""The checkpoint that is kept is the one that the validation liked best."""

import pytest

from recipes import best_checkpoint
from recipes.checkpoints import validated

LOG = """\
[INFO] Step 100/  400; acc: 20.0; ppl:  50.0
[INFO] Validation perplexity: nan
[INFO] Saving checkpoint runs/model_step_100.pt
[INFO] Validation perplexity: 4.25
[INFO] Saving checkpoint runs/model_step_200.pt
[INFO] Validation perplexity: 4.25
[INFO] Saving checkpoint runs/model_step_300.pt
[INFO] Saving checkpoint runs/model_step_350.pt
"""


def test_the_first_of_the_best_is_kept_alone(tmp_path, capsys):
    log = tmp_path / "log"
    log.write_text(LOG)
    for step in (100, 200, 300, 350):
        (tmp_path / f"model_step_{step}.pt").write_text(str(step))
    assert best_checkpoint.main(["--log", str(log), "--folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "step 200, validation perplexity 4.25\n"
    assert [path.name for path in tmp_path.glob("*.pt")] == ["model.pt"]
    assert (tmp_path / "model.pt").read_text() == "200"


def test_a_checkpoint_without_a_validation_of_its_own_has_no_perplexity():
    assert validated(LOG.splitlines()) == {200: 4.25, 300: 4.25}


@pytest.mark.parametrize("log", ["", LOG.splitlines()[-1], "\n".join(LOG.splitlines()[:3])])
def test_a_log_without_validation_is_an_error(tmp_path, capsys, log):
    (tmp_path / "log").write_text(log)
    assert best_checkpoint.main(["--log", str(tmp_path / "log"), "--folder", str(tmp_path)]) == 2
    assert "no checkpoint was saved after a validation" in capsys.readouterr().err
