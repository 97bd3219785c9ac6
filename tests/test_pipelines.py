"""What docs/scale.md shows of other pipelines runs as it stands there, and writes what ``apply`` writes."""

import json
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from preorder.cli import main
from tests.support.running import ROOT, environment
from tests.support.tiny_model import train_tiny

LINES = {"a": [f"S{i % 7} V{i % 5} O{i % 3}" for i in range(30)], "b": ["O1", "", "S3 V4 a￨b O2 V1"]}
PAGE = (ROOT / "docs/scale.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
UNTESTED = "pyspark"


def script_of(module):
    (script,) = (script for script in SCRIPTS if module in script)
    return script


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """A folder with a model and text, and what ``preorder apply`` makes of it."""
    folder = tmp_path_factory.mktemp("pipelines")
    train_tiny(folder, classes=0)
    for name in ("in", "documents"):
        (folder / name).mkdir()
    found = {}
    for name, lines in LINES.items():
        text = "\n".join(lines)
        (folder / f"in/{name}.en").write_text(f"{text}\n")
        (folder / f"documents/{name}.jsonl").write_text(json.dumps({"id": name, "text": text}))
        command = f"apply -q --model {folder}/model --src {folder}/in/{name}.en --out {folder}/{name}"
        assert main(command.split()) == 0
        found[name] = (folder / name).read_text(encoding="utf-8").splitlines()
    return folder, found


@pytest.mark.slow
@pytest.mark.parametrize(("module", "library"), [("ray.data", "ray"), ("datasets", ""), ("datatrove", "")])
def test_it_runs_as_it_stands(expected, tmp_path, module, library):
    for needed in (library or module, "pyarrow"):
        if find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed: pip install -e '.[test]'")
    folder, found = expected
    for name in ("model", "in", "documents"):
        (tmp_path / name).symlink_to(folder / name)
    (tmp_path / "script.py").write_text(script_of(module), encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="ray-") as short:  # Ray puts sockets there
        ray = {"RAY_TMPDIR": short, "RAY_USAGE_STATS_ENABLED": "0"}
        variables = environment(HOME=str(tmp_path), HF_HUB_OFFLINE="1", **ray)
        pipes = {"capture_output": True, "text": True, "timeout": 300}
        done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, env=variables, **pipes)
    assert done.returncode == 0, done.stderr[-3000:]
    written = [path.read_text(encoding="utf-8") for path in sorted(Path(tmp_path, "out").glob("*.json*"))]
    rows = [json.loads(line) for text in written for line in text.splitlines()]
    if module == "datatrove":
        features = {row["id"]: row["metadata"]["features"].split("\n") for row in rows}
        assert features == found
    else:
        assert [row["features"] for row in rows] == found["a"] + found["b"]
        assert [row["text"] for row in rows] == LINES["a"] + LINES["b"]


def test_all_scripts_are_run_or_said_not_to_be():
    assert len(SCRIPTS) == 4
    assert script_of(UNTESTED)
    compile(script_of(UNTESTED), UNTESTED, "exec")
    assert "\nSpark, untested:\n" in PAGE
