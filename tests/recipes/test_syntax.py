"""recipes/syntax.sh, end to end."""

import subprocess
from pathlib import Path

import pytest

from tests.support.running import environment

SCRIPT = Path(__file__).parents[2] / "recipes" / "syntax.sh"


def run(*arguments):
    command = [str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_trains_and_measures(tmp_path):
    texts = {
        "source": "she eats fish",
        "trees": "(S (NP (PRP she)) (VP (VBZ eats) (NP (NN fish))))",
        "align": "0-0 1-2 2-1",
    }
    for name, line in texts.items():
        (tmp_path / name).write_text(f"{line}\n" * 60)
    done = run(*(tmp_path / name for name in texts), 10, tmp_path / "run", "rvnn --binarisation left")
    assert done.returncode == 0, done.stderr
    assert "== rvnn --binarisation left" in done.stdout
    table = (tmp_path / "run" / "rvnn--binarisationleft.txt").read_text()
    assert "10 sentences" in table
    assert "1.0000" in table


def test_usage():
    done = run("only one")
    assert done.returncode == 2
    assert done.stderr.startswith("usage: recipes/syntax.sh")
