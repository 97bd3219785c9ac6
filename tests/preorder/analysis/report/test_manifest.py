"""``report.json``: what it may say, and what is said of what it may not."""

import json

import pytest

from preorder.analysis.report.run import read_manifest as read
from preorder.errors import DataError
from preorder.metrics import MetricOptions

LEAST = {
    "title": "A run",
    "source": "test.en",
    "references": ["test.ja"],
    "systems": {"base": {"runs": ["a"]}},
}


def manifest(folder, **changes):
    path = folder / "report.json"
    path.write_text(json.dumps(LEAST | changes))
    return path


def test_everything(tmp_path):
    systems = {"one": {"runs": ["a", "/b"], "positions": "p"}, "two": {"runs": ["c"]}}
    options = {"tokenize": "none", "words": "intl", "case_sensitive": True, "alignment": "links"}
    found = read(manifest(tmp_path, systems=systems, robustness="r/robustness.json", **options), ["/b"])
    assert found.options == MetricOptions("none", True, "intl")
    assert found.robustness == str(tmp_path / "r/robustness.json")
    assert found.files.systems == {"one": [str(tmp_path / "a"), "/b"], "two": [str(tmp_path / "c")]}
    assert found.files.positions == {"one": str(tmp_path / "p")}
    assert found.files.alignment == str(tmp_path / "links")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"title": None}, "report.title: not a text"),
        ({"references": []}, "report.references: not a list of texts"),
        ({"references": [1]}, "report.references: not a list of texts"),
        ({"systems": {}}, "report.systems: not an object"),
        ({"systems": {"a": "b"}}, "report.systems.a: not an object"),
        ({"systems": {"a": {"runs": ["b"], "order": 1}}}, "report.systems.a: unknown field 'order'"),
        ({"titel": "A"}, "report: unknown field 'titel', only title"),
        ({"tokenize": "moses"}, "report.tokenize: 'moses' is none of 13a"),
        ({"case_sensitive": 1}, "report.case_sensitive: neither true nor false"),
    ],
)
def test_mistakes(tmp_path, changes, message):
    with pytest.raises(DataError, match=message) as caught:
        read(manifest(tmp_path, **changes))
    assert caught.value.file == str(tmp_path / "report.json")
