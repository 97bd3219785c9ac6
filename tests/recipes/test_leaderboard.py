"""The table of a run: marks, deviations, p-values, whole names."""

import re

import pytest

from recipes.leaderboard import markdown, print_leaderboard

NAME = "a_system_whose_name_is_long_and_must_never_be_cut"


def figures(mean, deviation=None):
    return {"mean": mean, "deviation": deviation, "values": [mean]}


def system(bleu, ter, seeds, begins_from=None):
    deviation = 0.5 if len(seeds) > 1 else None
    scores = {
        "bleu": figures(bleu, deviation),
        "chrf": figures(50.0, deviation),
        "ter": figures(ter, deviation),
    }
    scores |= {"ribes": figures(0.8, deviation), "tau": figures(0.9), "parameters": figures(1234567, 0.0)}
    scores |= {"seconds": figures(3600.4, deviation), "words_per_second": figures(1500.0, deviation)}
    return scores | {"seeds": seeds, "begins_from": begins_from}


def comparison(difference, p_value):
    return {"difference": difference, "interval": [0, 1], "p_value": p_value, "sign_test_p_value": 0.5}


def results(seeds=(1, 2)):
    found = {"bleu": comparison(2, 0.01), "chrf": comparison(0, 0.6), "ribes": comparison(0, 0.7)}
    found["ter"] = comparison(3, 0.04)
    best = {name: {"system": NAME, "not_worse": [NAME]} for name in found}
    return {
        "size": "tiny",
        "source": "xx",
        "target": "yy",
        "device": "cpu",
        "search": {"beam": 5, "ratio": 1.5, "word_reward": 1.2},
        "signature": {"bleu": "tok:none"},
        "systems": {"base": system(30, 50, [1]), NAME: system(32, 53, list(seeds), "base")},
        "baseline": "base",
        "significance": {NAME: found},
        "best": best,
    }


def test_markdown_has_marks_deviations_and_p_values():
    lines = markdown(results())
    assert lines[0] == "xx → yy, size tiny, mean ± standard deviation of 1 to 2 trainings per system"
    assert lines[2] == (
        "| system | BLEU | chrF | TER | RIBES | Kendall's tau | parameters | training, s | words/s |"
    ).replace("Kendall's tau", "tau")
    assert lines[4] == "| base | 30.00 | 50.00 | 50.00 | 0.8000 | 0.900 | 1,234,567 | 3,600 | 1,500 |"
    assert lines[5] == (
        f"| {NAME} | 32.00* ↑ ± 0.50 (p 0.010) | 50.00* ± 0.50 (p 0.600) | 53.00* ↓ ± 0.50 (p 0.040) "
        "| 0.8000* ± 0.5000 (p 0.700) | 0.900 | 1,234,567 | 3,600 ± 0 | 1,500 ± 0 |"
    )
    notes = "\n".join(lines[6:])
    assert "worse than base, p < 0.05: paired bootstrap over sentences and trainings" in notes
    assert f"- from the trained base go on: {NAME}" in notes
    assert "- \\* the best system" in notes
    assert "- BLEU tok:none" in notes
    assert "translated in a second, beam 5, ratio 1.5, word reward 1.2, on cpu" in notes


def test_a_small_p_value_is_not_0():
    found = results()
    found["significance"][NAME]["bleu"]["p_value"] = 0.0
    assert "32.00* ↑ ± 0.50 (p < 0.001) |" in markdown(found)[5]


@pytest.mark.parametrize(("bleu", "idle"), [(0.15, "base"), (1.0, None)])
def test_systems_that_learned_nothing(bleu, idle):
    found = results()
    found["systems"]["base"]["bleu"] = figures(bleu)
    note = f"- BLEU below 1: {idle} learned next to nothing, and cannot be compared"
    assert (note in markdown(found)) == bool(idle)


def test_of_single_trainings_sentences_alone_are_drawn():
    lines = markdown(results(seeds=[1]))
    assert lines[0].endswith("one training per system")
    assert lines[7].endswith("paired bootstrap over sentences")


@pytest.mark.parametrize(("width", "tables"), [(60, 2), (80, 2), (110, 2), (200, 1)])
def test_no_name_and_no_figure_is_cut_on_a_narrow_terminal(capsys, monkeypatch, width, tables):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    print_leaderboard(results())
    printed = re.sub("\x1b\\[[0-9;]*m", "", capsys.readouterr().out)
    assert printed.count(NAME) == tables + 1  # and the note
    assert printed.count("┏") == tables
    for part in ("32.00*", "↑", "± 0.50", "p 0.040", "1,234,567", "parameters", "words/s", "3,600"):
        assert part in printed
    box = [line for line in printed.split("\n") if line and line[0] in "┏┃┡│└├"]
    assert width < 110 or (max(map(len, box)) <= width and "32.00* ↑" in printed)


def test_a_file_has_one_table(capsys):
    print_leaderboard(results())
    assert capsys.readouterr().out.count("┏") == 1
