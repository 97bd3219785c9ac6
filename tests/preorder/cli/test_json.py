"""The keys of each output of ``--json`` are those that docs/evaluation.md names."""

import json
import re
from pathlib import Path

import pytest

from preorder.analysis.results import SCORE_FORMATS
from preorder.cli import main
from tests.support.command_files import FILES, GIVEN
from tests.support.texts import rows, write

PAGE = (Path(__file__).parents[3] / "docs/evaluation.md").read_text(encoding="utf-8")

LINES = """
score @ --align align --positions ours=positions --baseline base | "systems": {"ours"
evaluate --align align --positions positions | `tau`, `tau_nakagawa`, `frs`, `complete_match`, `sentences`
evaluate --align link --gold link | `aer`,
analyse length @ --src src | `kind`; `axis`
analyse precision @ --baseline base | `kind`; `systems`
analyse examples @ --src src --system ours --baseline base --positions ours=positions | `kind`, `measure`
show & --tgt h.tgt --align h.align | `line`, `source`
show & --lines 1,2 --tgt h.tgt --align h.align | `kind` (`gallery`)
diagnose --src src --align align @ | `pair`: `sentences`
"""
"""Command lines, and how the paragraph or cell that names their keys begins."""

ELSEWHERE = ("by_length", "content", "sentences")  # what is in these is named where other commands are
SHARED = {*SCORE_FORMATS, "preordering", "difference", "interval", "p_value", "sign_test_p_value"}
VALUES = {"null", "gallery"}
SYSTEMS = {"base", "ours"}


def keys(value):
    """Return all keys in a JSON value but the names of systems."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if not isinstance(value, dict):
        return set()
    inner = (keys(part) for name, part in value.items() if name not in ELSEWHERE)
    return (value.keys() - SYSTEMS).union(*inner)


@pytest.mark.parametrize(("line", "begin"), rows(LINES))
def test_the_page_names_all_keys(tmp_path, monkeypatch, capsys, line, begin):
    monkeypatch.chdir(tmp_path)
    for name, lines in FILES.items():
        write(tmp_path / name, *lines)
    given = " ".join(GIVEN.get(word, word) for word in line.split())
    assert main([*given.split(), "--json", "-q"]) == 0
    found = keys(json.loads(capsys.readouterr().out))
    assert PAGE.count(begin) == 1
    paragraph = re.split(r"\n\n|\n\||\n```", begin + PAGE.split(begin)[1])[0]
    named = set().union(*re.findall(r'`(\w+)`|"(\w+)":', paragraph)) - {"", *SYSTEMS, *VALUES}
    assert named == found - (SHARED - named)
