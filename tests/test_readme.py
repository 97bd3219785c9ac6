"""The README's Python gives what it shows; the block of commands of the tutorial ends in scores, twice."""

import doctest
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
python() { command python "$@" --pairs 200 --held 20; }
preorder() {
    case "$1" in train) set -- "$@" --iterations 1 --classes 5 ;; esac
    command preorder "$@"
}
onmt_train() {
    command onmt_train "$@" -train_steps 3 -valid_steps 1 -save_checkpoint_steps 1 -bucket_size 300
}
"""


def test_the_python_of_the_readme_gives_what_it_shows():
    assert doctest.testfile(str(ROOT / "README.md"), module_relative=False, encoding="utf-8") == (0, 4)


def block():
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^```bash\n(.*?)^```$", text, re.M | re.S)
    return found


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """What ``make setup`` leaves, in another folder: an environment to activate."""
    folder = tmp_path_factory.mktemp("check out")
    (folder / ".venv/bin").mkdir(parents=True)
    line = f'export PATH="{Path(sys.executable).parent}:$PATH" PYTHONPATH="{ROOT}"\n'
    (folder / ".venv/bin/activate").write_text(line)
    return folder


def run(folder):
    """Run the block as it stands, without the environment of this test; return what it printed."""
    variables = {name: value for name, value in os.environ.items() if name in ("HOME", "TMPDIR", "LANG")}
    variables["PATH"] = os.defpath
    command = ["bash", "-c", SHORTER + block()]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


@pytest.mark.slow
def test_the_block_ends_in_figures(checkout):
    for program in ("onmt", "eflomal"):
        pytest.importorskip(program)
    check(run(checkout), checkout)
    check(run(checkout), checkout)  # what is there from the first time is replaced


def check(found, checkout):
    for row in ("aligned tokens", "unreordered"):
        assert re.search(rf"│ +{row} +│ +-?\d\.\d+ │", found.stdout), found.stdout
    assert re.search(r"┃ system +┃ +BLEU ┃(?:.*\n){2}│ test.hyp │ +\d+\.\d\d │", found.stdout), found.stdout
    best = re.search(
        r"Best checkpoint: step \d, validation perplexity \S+: (run/model_step_\d\.pt)", found.stderr
    )
    assert f"Loading checkpoint from {best[1]}" in found.stderr
    assert len((checkout / "play/test.hyp").read_text(encoding="utf-8").splitlines()) == 20
