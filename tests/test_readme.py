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


@pytest.mark.slow
def test_the_block_ends_in_figures(tmp_path):
    for program in ("onmt", "eflomal"):
        pytest.importorskip(program)
    page = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```bash\n(.*?)^```$", page, re.M | re.S)
    checkout = tmp_path / "check out"  # as `make setup` leaves it, with an environment to activate
    (checkout / ".venv/bin").mkdir(parents=True)
    line = f'export PATH="{Path(sys.executable).parent}:$PATH" PYTHONPATH="{ROOT}"\n'
    (checkout / ".venv/bin/activate").write_text(line)
    variables = {name: value for name, value in os.environ.items() if name in ("HOME", "TMPDIR", "LANG")}
    variables["PATH"] = os.defpath
    for _ in range(2):  # what is there from the first time is replaced
        command = ["bash", "-c", SHORTER + block]
        done = subprocess.run(
            command, cwd=checkout, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        for row in ("aligned tokens", "unreordered"):
            assert re.search(rf"│ +{row} +│ +-?\d\.\d+ │", done.stdout), done.stdout
        assert re.search(r"┃ system +┃ +BLEU ┃(?:.*\n){2}│ test.hyp │ +\d+\.\d\d │", done.stdout), done.stdout
        best = r"Best checkpoint: step \d, validation perplexity \S+: (run/model_step_\d\.pt)"
        assert f"Loading checkpoint from {re.search(best, done.stderr)[1]}" in done.stderr
        assert len((checkout / "play/test.hyp").read_text(encoding="utf-8").splitlines()) == 20
