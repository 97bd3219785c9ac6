"""What the tests of onmt_preorder share; all are skipped without OpenNMT-py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onmt", reason="OpenNMT-py is not installed: see the README")

import torch

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def run(tmp_path):
    """Run a command in the test's folder; return the finished process, its output as text."""
    return lambda *command, **kwargs: run_in(tmp_path, *command, **kwargs)


def run_in(folder, *command, check=True):
    """Run one of OpenNMT-py's console scripts, or Python itself."""
    program, *arguments = map(str, command)
    path = Path(sys.executable).parent / program if program != "python" else sys.executable
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [path, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    if check and done.returncode:
        raise AssertionError(
            f"{program} ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )
    return done
