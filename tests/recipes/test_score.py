"""The table of a run: marks, deviations, p-values, whole names; and what logs of OpenNMT-py tell of costs."""

import re

import pytest

from preorder_recipes.pipeline.checkpoints import last_number
from preorder_recipes.pipeline.leaderboard import markdown, print_leaderboard
from preorder_recipes.pipeline.opennmt import TRANSLATION
from preorder_recipes.pipeline.score import PARAMETERS
from preorder_recipes.pipeline.steps import StepError

NAME = "a_system_whose_name_is_long_and_must_never_be_cut"


def figures(mean, deviation=None):
    return {"mean": mean, "deviation": deviation, "values": [mean]}


def system(bleu, ter, seeds, begins_from=None):
    deviation = 0.5 if len(seeds) > 1 else None
    means = {
        "bleu": bleu,
        "bleu_precision": bleu / 0.8,
        "bleu_brevity_penalty": 0.8,
        "chrf": 50.0,
        "ter": ter,
        "ribes": 0.8,
        "seconds": 3600.4,
        "words_per_second": 1500.0,
    }
    scores = {name: figures(mean, deviation) for name, mean in means.items()}
    scores |= {"tau": figures(0.9), "parameters": figures(1234567, 0.0)}
    return scores | {"seeds": seeds, "begins_from": begins_from}


def results():
    compared = {
        "bleu": (2, 0.01),
        "bleu_precision": (2.5, 0.02),
        "bleu_brevity_penalty": (0, 1),
        "chrf": (0, 0.6),
        "ribes": (0, 0.7),
        "ter": (3, 0.0001),
    }
    found = {
        name: {"difference": difference, "interval": [0, 1], "p_value": p, "sign_test_p_value": 0.5}
        for name, (difference, p) in compared.items()
    }
    return {
        "size": "tiny",
        "source": "xx",
        "target": "yy",
        "device": "cpu",
        "search": {"beam": 5, "ratio": 1.5, "word_reward": 1.2},
        "signature": {"bleu": "tok:none"},
        "systems": {"base": system(30, 50, [1]), NAME: system(32, 53, [1, 2], "base")},
        "baseline": "base",
        "significance": {NAME: found},
        "best": {name: {"system": NAME, "not_worse": [NAME]} for name in found},
    }


def test_markdown_has_marks_deviations_and_p_values():
    lines = markdown(results())
    assert lines[0] == "xx → yy, size tiny, mean ± standard deviation of 1 to 2 trainings per system"
    titles = (
        "system | BLEU | precision | brevity | chrF | TER | RIBES | tau | parameters | training, s | words/s"
    )
    assert lines[2] == f"| {titles} |"
    assert (
        lines[4]
        == "| base | 30.00 | 37.50 | 0.800 | 50.00 | 50.00 | 0.8000 | 0.900 | 1,234,567 | 3,600 | 1,500 |"
    )
    assert lines[5] == (
        f"| {NAME} | 32.00* ↑ ± 0.50 (p 0.010) | 40.00* ↑ ± 0.50 (p 0.020) | 0.800* ± 0.500 (p 1.000) "
        "| 50.00* ± 0.50 (p 0.600) | 53.00* ↓ ± 0.50 (p < 0.001) "
        "| 0.8000* ± 0.5000 (p 0.700) | 0.900 | 1,234,567 | 3,600 ± 0 | 1,500 ± 0 |"
    )
    notes = "\n".join(lines[6:])
    assert "worse than base, p < 0.05: paired bootstrap over sentences and trainings" in notes
    assert f"- from the trained base goes on: {NAME}" in notes
    assert "- \\* the best system" in notes
    assert "- BLEU tok:none" in notes
    assert "translated in a second, beam 5, ratio 1.5, word reward 1.2, on cpu" in notes
    assert "learned next to nothing" not in notes
    one_each = results()
    one_each["systems"][NAME]["seeds"] = [1]
    assert any(line.endswith("paired bootstrap over sentences") for line in markdown(one_each))
    idle = results()
    idle["systems"]["base"]["bleu"]["mean"] = 0.2
    assert any("base learned next to nothing" in line for line in markdown(idle))


@pytest.mark.parametrize(("width", "tables"), [(None, 1), (60, 2), (140, 2), (240, 1)])
def test_no_name_and_no_figure_is_cut_on_a_narrow_terminal(capsys, monkeypatch, width, tables):
    if width:
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm")
    print_leaderboard(results())
    printed = re.sub("\x1b\\[[0-9;]*m", "", capsys.readouterr().out)
    assert printed.count(NAME) == tables + 1  # and the note
    assert printed.count("┏") == tables
    for part in ("32.00*", "↑", "± 0.50", "0.001", "1,234,567", "parameters", "words/s", "3,600"):
        assert part in printed
    box = [line for line in printed.split("\n") if line and line[0] in "┏┃┡│└├"]
    assert not width or width < 140 or (max(map(len, box)) <= width and "32.00* ↑" in printed)


def test_the_costs_are_read_from_the_logs(tmp_path):
    log = tmp_path / "log"
    with pytest.raises(StepError, match=r"log: cannot be read: No such file"):
        last_number(PARAMETERS, log)
    log.write_text("nothing\n")
    with pytest.raises(StepError, match=r"log: has no line like .*number of parameters"):
        last_number(PARAMETERS, log)
    line = "[2026-01-01 00:00:00,000 7 INFO] {}\n"
    told = ("encoder: 1200", "decoder: 300", "* number of parameters: 1500")
    log.write_text("".join(map(line.format, told)) * 2)  # it was resumed after an interruption
    assert last_number(PARAMETERS, log) == 1500
    again = "Total translation time (s): 2.0\nTokens per second: 77.0\n"  # the last counts
    log.write_text("Total translation time (s): 6.0\n" + again)
    assert last_number(TRANSLATION, log) == 2.0
