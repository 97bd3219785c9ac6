"""``preorder evaluate``, end to end."""

import json

import pytest

from preorder.cli import main
from tests.support.texts import write

ALIGNMENTS = (
    "6-8 ||| 0-0 1-5 1-6 3-2 4-3 5-7",
    "7-7 ||| 0-0 1-5 2-4 3-3 4-3 5-2 6-6",
    "7-8 ||| 0-0 2-6 3-5 4-2 5-3 6-7",
)
ORDERS = ("0 3 4 2 1 5", "0 5 3 4 2 1 6", "0 2 4 5 3 1 6")
POSITIONS = ("0 4 3 1 2 5", "0 5 4 2 3 1 6", "0 5 1 4 2 3 6")
SCORES = {"tau", "tau_nakagawa", "frs", "complete_match"}


def evaluate(capsys, *options):
    assert main(["evaluate", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("option", "lines"), [("--order", ORDERS), ("--positions", POSITIONS)])
def test_topdown_btgs_readme(tmp_path, capsys, option, lines):
    align = write(tmp_path / "align", *ALIGNMENTS)
    result = evaluate(capsys, "--align", align, option, write(tmp_path / "given", *lines))
    assert set(result) == SCORES | {"sentences", "skipped", "monotone", "all_tokens"}
    assert set(result["monotone"]) == SCORES
    assert set(result["all_tokens"]) == set(result) - {"all_tokens"}
    assert (result["sentences"], result["skipped"]) == (3, 0)
    assert f"{result['tau_nakagawa']:.6f} {result['frs']:.6f} {result['complete_match']:.6f}" == (
        "0.933333 0.857143 0.666667"
    )


def test_aligned_and_all_tokens(tmp_path, capsys):
    # Line 1: token 1 is unaligned, so that only all tokens tell "1 2 0" from the gold "0 1 2".
    # Line 2: token 0's targets enclose token 1's: skipped, but it has a gold order, "0 1".
    align = write(tmp_path / "align", "0-0 2-2", "0-0 0-2 1-1")
    order = write(tmp_path / "order", "1 0 2", "1 0")
    result = evaluate(capsys, "--align", align, "--order", order)
    assert (result["sentences"], result["skipped"]) == (1, 1)
    assert (result["tau"], result["frs"], result["complete_match"]) == (1, 1, 1)
    everything = result["all_tokens"]
    assert (everything["sentences"], everything["skipped"]) == (2, 0)
    assert everything["tau"] == pytest.approx((1 / 3 - 1) / 2)
    assert everything["monotone"] == {"tau": 1, "tau_nakagawa": 1, "frs": 1, "complete_match": 1}


def test_treatment_of_unaligned_tokens_is_a_choice(tmp_path, capsys):
    align = write(tmp_path / "align", "0-1 2-0")
    order = write(tmp_path / "order", "2 1 0")
    taus = {}
    for rule in ("nearest", "right", "keep"):
        found = evaluate(capsys, "--align", align, "--order", order, "--unaligned", rule)
        taus[rule] = found["all_tokens"]["tau"]
    # Their gold orders: "2 0 1", "1 2 0" and "2 1 0".
    assert taus == pytest.approx({"nearest": 1 / 3, "right": 1 / 3, "keep": 1})


def test_table_for_people(tmp_path, capsys):
    align, order = write(tmp_path / "align", *ALIGNMENTS), write(tmp_path / "order", *ORDERS)
    assert main(["evaluate", "--align", align, "--order", order]) == 0
    output = capsys.readouterr().out
    assert "3 sentences, 0 more whose alignment cannot be sorted" in output
    for cell in ("aligned tokens", "all tokens", "unreordered", "0.9333", "0.8571", "0.6667"):
        assert cell in output


def test_alignment_against_gold(tmp_path, capsys):
    options = ["--align", write(tmp_path / "links", "0-0 1-2", "1-1")]
    options += ["--gold", write(tmp_path / "gold", "0-0 1-1 1?2", "0-0")]
    result = evaluate(capsys, *options)
    assert result == {
        "aer": pytest.approx(1 - (1 + 2) / (3 + 3)),
        "precision": pytest.approx(2 / 3),
        "recall": pytest.approx(1 / 3),
        "f1": pytest.approx(4 / 9),
        "sentences": 2,
        "links": 3,
        "sure": 3,
        "possible": 1,
        "sure_found": 1,
        "possible_found": 1,
    }
    assert main(["evaluate", *options]) == 0
    output = capsys.readouterr().out
    for cell in ("possible", "alignment error rate", "0.5000", "0.6667", "0.3333"):
        assert cell in output


@pytest.mark.parametrize(
    ("links", "gold", "reading"),
    [
        (["0-0 1-1"] * 3, ["1-1 2p2"] * 3, "the gold links count from 1 (--gold-first-index 1)"),
        (["1-1 2-2"] * 3, ["0-0 1?1"] * 3, "the others do (preorder map --first-index 1)"),
        (["0-2 1-0"] * 3, ["2-0 0-1"] * 3, "one of the files is target-source (preorder map --reverse)"),
        (["0-0 1-2", "1-1"], ["0-0 1-1 1?2", "1-0"], None),
        (["1-1"] * 3, ["1-1"] * 3, None),
    ],
)
def test_links_that_are_not_meant_as_they_are_read(tmp_path, capsys, links, gold, reading):
    options = ["--align", write(tmp_path / "links", *links), "--gold", write(tmp_path / "gold", *gold)]
    found = main(["evaluate", *options])
    captured = capsys.readouterr()
    assert (found, captured.out == "") == ((2, True) if reading else (0, False))
    if reading:
        assert captured.err.endswith(
            f"but 0.0000 if {reading}; --gold-first-index 0 takes the links as they are\n"
        )
    assert evaluate(capsys, *options, "--gold-first-index", "0")["sentences"] == len(links)


def test_gold_links_from_one(tmp_path, capsys):
    options = ["--align", write(tmp_path / "links", "0-0 1-1"), "--gold", write(tmp_path / "gold", "1-1 2p2")]
    assert evaluate(capsys, *options, "--gold-first-index", "1")["aer"] == 0
    assert main(["map", "--align", str(tmp_path / "gold"), "--first-index", "1"]) == 0
    assert capsys.readouterr().out == "0-0 1?1\n"
