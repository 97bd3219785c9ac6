"""The README's block of commands runs as it stands, after ``make setup``, and ends in scores."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# What is only shorter here: the bitext, the preorderers' learning and the training of three steps.
SHORTER = """\
set -euo pipefail
python() { command python "$@" --pairs 300 --held 20; }
preorder() {
    if [ "$1" = train ]; then command preorder "$@" --iterations 2 --classes 10; else command preorder "$@"; fi
}
onmt_train() { command onmt_train "$@" -train_steps 3 -valid_steps 1 -save_checkpoint_steps 1 -bucket_size 300; }
"""


def block():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^```bash\n(.*?)^```$", text, re.M | re.S)
    return found


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """What ``make setup`` leaves, in another folder: an environment to activate, this project installed in it."""
    folder = tmp_path_factory.mktemp("check out")
    (folder / ".venv/bin").mkdir(parents=True)
    line = f'export PATH="{Path(sys.executable).parent}:$PATH" PYTHONPATH="{ROOT}"\n'
    (folder / ".venv/bin/activate").write_text(line)
    return folder


@pytest.fixture(scope="module")
def run(checkout):
    """Return a function that runs the block as it stands; it returns what was printed and the log."""
    for program in ("onmt", "eflomal"):
        pytest.importorskip(program)
    path = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if ".venv" not in part)
    variables = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "OMP_NUM_THREADS")
    }

    def run_block():
        command = ["bash", "-c", SHORTER + block()]
        found = subprocess.run(
            command,
            cwd=checkout,
            env={**variables, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert found.returncode == 0, found.stderr[-3000:]
        return found

    return run_block


@pytest.mark.slow
def test_the_block_ends_in_figures(run, checkout):
    found = run()
    before, after = re.search(r"^.*tau +.*$", found.stdout, re.M), "BLEU"
    assert before, found.stdout
    assert after in found.stdout
    best = re.search(
        r"Best checkpoint: step \d, validation perplexity \S+: (run/model_step_\d\.pt)", found.stderr
    )
    assert f"Loading checkpoint from {best[1]}" in found.stderr
    assert len((checkout / "play/test.hyp").read_text(encoding="utf-8").splitlines()) == 20
