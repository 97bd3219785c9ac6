"""The archives of translations: a report names all that an archive holds."""

import json
import os.path
import tarfile

import pytest

from tests.support.running import ROOT

ARCHIVES = sorted((ROOT / "recipes").glob("*/translations/*.tar.xz"))
LINES = {"kftt": 1160, "enja": 500, "multi30k": 1000, "pydocs-ja": 1000, "pydocs-tr": 500}  # of the test set


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: f"{path.parent.parent.name}/{path.name}")
def test_the_report_has_all_translations(path):
    name, recipe = path.name.removesuffix(".tar.xz"), path.parent.parent.name
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        texts = {os.path.basename(one.name): archive.extractfile(one).read() for one in members[1:]}
    assert [one.name for one in members] == [name, *sorted(f"{name}/{file}" for file in texts)]
    assert {(one.mtime, one.uid, one.gid, one.uname, one.gname) for one in members} == {(0, 0, 0, "", "")}
    source, target = (part for part in name.split("-") if len(part) == 2 and part.isalpha())
    report = json.loads(texts["report.json"])
    named = [file for system in report["systems"].values() for file in system["runs"]]
    assert sorted(named) == sorted(file for file in texts if file.endswith(f".{target}"))
    orders = {system["positions"] for system in report["systems"].values() if "positions" in system}
    assert orders == {file for file in texts if file.endswith(".positions")}
    assert ("test.align" in texts) == ("alignment" in report) == bool(orders)
    named += [*orders, *filter(None, [report.get("alignment")])]
    corpus = "enja" if "ja" in (source, target) and recipe == "multi30k" else recipe
    lines = LINES[f"pydocs-{'tr' if 'tr' in (source, target) else 'ja'}" if corpus == "pydocs" else corpus]
    assert {texts[file].count(b"\n") for file in named} == {lines}
    data = ROOT / "runs" / ("kftt-100k" if recipe == "kftt" else name) / "data"
    for file, side in ((report["source"], source), (report["references"][0], target)):
        assert os.path.normpath(path.parent / name / file) == str(data / f"test.{side}")
