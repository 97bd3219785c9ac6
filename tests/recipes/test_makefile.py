"""The Makefile, where it does more than to call a command."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_missing_data_folder_is_one_line_at_once(tmp_path):
    """Before anything is set up."""
    command = ["make", "demo", f"DATA={tmp_path}/missing", f"VENV={tmp_path}/venv"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"DATA={tmp_path}/missing: there is no such folder" in done.stderr
    assert not list(tmp_path.iterdir())
