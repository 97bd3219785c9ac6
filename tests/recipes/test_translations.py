"""The translations that are kept: a report names all of them, and all of them are scored."""

import json

import pytest

from tests.support.documents import ROOT

FOLDERS = sorted((ROOT / "recipes").glob("*/translations/*"))
LINES = {"kftt": 1160, "enja": 500, "multi30k": 1000}  # of the test set


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.parent.name}/{folder.name}")
def test_the_report_and_the_scores_have_all_translations(folder):
    source, target = (part for part in folder.name.split("-") if len(part) == 2 and part.isalpha())
    report, scores = (
        json.loads((folder / name).read_text(encoding="utf-8")) for name in ("report.json", "scores.json")
    )
    named = [path for system in report["systems"].values() for path in system["runs"]]
    assert sorted(named) == sorted(path.name for path in folder.glob(f"*.{target}"))
    recipe = folder.parent.parent.name
    lines = LINES["enja" if "ja" in (source, target) and recipe == "multi30k" else recipe]
    assert {(folder / path).read_text(encoding="utf-8").count("\n") for path in named} == {lines}
    data = ROOT / "runs" / ("kftt-100k" if recipe == "kftt" else folder.name) / "data"
    for path, side in ((report["source"], source), (report["references"][0], target)):
        assert (folder / path).resolve() == data / f"test.{side}"
    runs = {name: len(system["runs"]) for name, system in report["systems"].items()}
    assert runs == {system: len(scores["runs"][system]["bleu"]["values"]) for system in scores["systems"]}
    assert next(iter(runs)) not in scores["significance"]  # the baseline
