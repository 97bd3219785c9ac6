"""The main job on a minuscule bitext, with everything that a real run has but its length."""

import json
import subprocess

import pytest

from preorder_recipes import robustness, run
from preorder_recipes.synthetic import generate
from tests.support.running import ROOT

TINY = ["hidden_size=16", "word_vec_size=16", "transformer_ff=16", "heads=2", "layers=1", "valid_steps=2"]
PREORDER = ["--preorder", "--classes", "10", "--iterations", "2"]
SYSTEMS = ["baseline_absolute_relative", "preorder_relative", "reordered_text"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bitext") / "data"
    generate.main(["--out", str(folder), "--pairs", "80", "--held", "10"])
    return folder


def command(data, folder, *more):
    changes = [part for change in TINY for part in ("--set", change)]
    fixed = ["--data", str(data), "--src", "svo", "--tgt", "sov", "--run", str(folder), "--steps", "4"]
    return [*fixed, *changes, "--size", "tiny", "--beam", "2", "--jobs", "2", *more]


@pytest.fixture(scope="module")
def finished(one_thread, data, tmp_path_factory):
    """A run that has come to its end: its folder, and the command line without what follows --preorder."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    line = command(data, folder, "--systems", ",".join(SYSTEMS), "--cross-fit", "2")
    assert run.main(line + PREORDER) == 0
    return folder, line


@pytest.mark.slow
def test_the_main_job_from_end_to_end(data, finished, capsys):
    folder, line = finished
    results = json.loads((folder / "results.json").read_text())
    systems = results["systems"]
    assert list(systems) == SYSTEMS
    tau = {system: figures["tau"]["mean"] for system, figures in systems.items()}
    assert tau["preorder_relative"] == tau["reordered_text"] > tau["baseline_absolute_relative"]
    assert set(results["significance"]) == set(SYSTEMS[1:])

    for figures in systems.values():
        assert min(figures[cost]["mean"] for cost in ("parameters", "seconds", "words_per_second")) > 0
    for page in ("results.md", "report.html"):
        assert all(system in (folder / page).read_text() for system in SYSTEMS)
    for system in SYSTEMS:
        made = folder / "systems" / system / "seed1"
        assert len((made / "test.sov").read_text().splitlines()) == 10
        assert [path.name for path in made.glob("*.pt")] == ["model.pt"]
    assert (folder / "data/test.svo").read_text() == (data / "test.svo").read_text()
    sides = [(folder / f"data/train.svo{end}").read_text().split("\n") for end in ("", ".predicted.text")]
    assert all(sorted(a.split()) == sorted(b.split()) for a, b in zip(*sides, strict=True))

    script = (folder / "commands.sh").read_text()
    assert run.main(line + PREORDER) == 0  # nothing is done again
    printed = capsys.readouterr()
    assert all(system in printed.out for system in SYSTEMS)
    assert (folder / "commands.sh").read_text() == script
    model = folder / "systems/reordered_text/seed1/model.pt"
    model.unlink()
    assert run.main([*line, "--stage", "train", *PREORDER]) == 0  # only this one
    again = (folder / "commands.sh").read_text().removeprefix(script).splitlines()
    log = "logs/train/reordered_text-seed1.log"
    assert again[0] == f"onmt_train -config systems/reordered_text/seed1/config.yaml > {log} 2>&1"
    assert {line.split()[0] for line in again} <= {"onmt_train", "python", "onmt_translate"}
    assert model.exists()


@pytest.mark.slow
def test_robustness_of_trained_models(data, finished, tmp_path):
    folder, _ = finished
    plain, preordered, reordered = (f"{name}={folder}/systems/{name}/seed1/model.pt" for name in SYSTEMS)
    line = ["--src", f"{data}/test.svo", "--pos", f"{data}/test.svo.pos", "--ref", f"{data}/test.sov"]
    line += ["--preorderer", f"{folder}/preorderer", "--plain", plain, "--preordered", preordered]
    line += ["--reordered", reordered]
    line += ["--run", str(tmp_path), "--percent", "100", "--beam", "1", "--jobs", "2"]
    assert robustness.main(line) == 0
    found = json.loads((tmp_path / "robustness.json").read_text())
    assert [group["label"] for group in found["groups"]] == ["100"]
    assert list(found["measures"]["bleu"]) == SYSTEMS
    words = [
        [field.partition("￨")[0] for field in line.split()]
        for line in (tmp_path / "swapped/test.svo.100.features").read_text().splitlines()
    ]
    assert words == [line.split() for line in (tmp_path / "swapped/test.svo.100").read_text().splitlines()]
    text = (tmp_path / "swapped/test.svo.100.text").read_text().splitlines()
    assert [sorted(line.split()) for line in text] == [sorted(line) for line in words]
    assert {path.suffix for path in tmp_path.glob("robustness.*")} == {".json", ".svg", ".png"}
    script = (tmp_path / "commands.sh").read_text()
    assert robustness.main(line) == 0  # nothing is done again
    assert (tmp_path / "commands.sh").read_text() == script


def test_a_stage_without_the_one_before_says_so(tmp_path, capsys):
    line = ["--src", "svo", "--tgt", "sov", "--run", str(tmp_path), "--stage", "train"]
    assert run.main(line) == 1
    error = capsys.readouterr().err
    assert "is missing: an earlier stage makes it" in error
    assert "data/train" in error


def test_a_missing_data_folder_is_one_line_of_make_at_once(tmp_path):
    """Before anything is set up."""
    command = ["make", "demo", f"DATA={tmp_path}/missing", f"VENV={tmp_path}/venv"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"DATA={tmp_path}/missing: there is no such folder" in done.stderr
    assert not list(tmp_path.iterdir())
