"""``preorder evaluate``, end to end."""

import json
import re

import pytest

from tests.support.texts import write

SCORES = {"tau", "tau_nakagawa", "frs", "complete_match"}


@pytest.fixture
def evaluate(run, tmp_path):
    """Give a function that evaluates by options, with files of the lines given: the JSON."""

    def evaluate(options, **texts):
        for name, lines in texts.items():
            write(tmp_path / name, *lines)
        return json.loads(run(f"evaluate --align align --json {options}").out)

    return evaluate


README = {
    "align": (
        "6-8 ||| 0-0 1-5 1-6 3-2 4-3 5-7",
        "7-7 ||| 0-0 1-5 2-4 3-3 4-3 5-2 6-6",
        "7-8 ||| 0-0 2-6 3-5 4-2 5-3 6-7",
    ),
    "order": ("0 3 4 2 1 5", "0 5 3 4 2 1 6", "0 2 4 5 3 1 6"),
    "positions": ("0 4 3 1 2 5", "0 5 4 2 3 1 6", "0 5 1 4 2 3 6"),
}


@pytest.mark.parametrize("option", ["order", "positions"])
def test_topdown_btgs_readme(run, evaluate, option):
    result = evaluate(f"--{option} {option}", **README)
    assert set(result) == SCORES | {"sentences", "skipped", "monotone", "all_tokens"}
    assert set(result["monotone"]) == SCORES
    assert set(result["all_tokens"]) == set(result) - {"all_tokens"}
    assert (result["sentences"], result["skipped"]) == (3, 0)
    scores = [f"{result[name]:.6f}" for name in ("tau_nakagawa", "frs", "complete_match")]
    assert scores == ["0.933333", "0.857143", "0.666667"]
    printed = run(f"evaluate --align align --{option} {option}").out
    assert "3 sentences, 0 more whose alignment cannot be sorted" in printed
    for cell in ("aligned tokens", "all tokens", "unreordered", "0.9333", "0.8571", "0.6667"):
        assert cell in printed


def test_aligned_and_all_tokens(run, evaluate):
    # Line 1: token 1 is unaligned, so that only all tokens tell "1 2 0" from the gold "0 1 2".
    # Line 2: token 0's targets enclose token 1's: skipped, but it has a gold order, "0 1".
    result = evaluate("--order order", align=("0-0 2-2", "0-0 0-2 1-1"), order=("1 0 2", "1 0"))
    assert (result["sentences"], result["skipped"]) == (1, 1)
    assert (result["tau"], result["frs"], result["complete_match"]) == (1, 1, 1)
    everything = result["all_tokens"]
    assert (everything["sentences"], everything["skipped"]) == (2, 0)
    assert everything["tau"] == pytest.approx((1 / 3 - 1) / 2)
    assert everything["monotone"] == {"tau": 1, "tau_nakagawa": 1, "frs": 1, "complete_match": 1}
    printed = run("evaluate --align align --order order").out
    assert "1 sentences, 1 more whose alignment cannot be sorted" in printed
    taus = re.findall(r"(aligned tokens|all tokens|unreordered)\W+?(-?[\d.]+)", printed)
    unreordered = ("unreordered", "1.0000")
    assert taus == [("aligned tokens", "1.0000"), unreordered, ("all tokens", "-0.3333"), unreordered]


@pytest.mark.parametrize(("links", "hint"), [("0-0 2-2", "└"), ("0-0", "Only 33% of the tokens are")])
def test_few_links_say_little_of_all_tokens(run, evaluate, links, hint):
    evaluate("--order order", align=[links], order=["1 0 2"])  # JSON alone, whatever the links
    assert run("evaluate --align align --order order").out.splitlines()[-1].startswith(hint)


@pytest.mark.parametrize(
    ("option", "links", "order"),
    [("--unaligned keep", "0-1 2-0", "2 1 0"), ("--statistic median", "0-0 0-1 0-6 1-2", "0 1")],
)
def test_the_gold_order_is_a_choice(evaluate, option, links, order):
    for more, right in (("", 1), (option, 2)):
        found = evaluate(f"--order order {more}", align=[links, "0-0"], order=[order, "0"])
        assert found["all_tokens"]["complete_match"] == right / 2


def test_alignment_against_gold(run, evaluate):
    assert evaluate("--gold gold", align=["0-0 1-2", "1-1"], gold=["0-0 1-1 1?2", "0-0"]) == {
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
    printed = run("evaluate --align align --gold gold").out
    for cell in ("possible", "alignment error rate", "0.5000", "0.6667", "0.3333"):
        assert cell in printed


@pytest.mark.parametrize(
    ("align", "gold", "reading"),
    [
        (["0-0 1-1"] * 3, ["1-1 2p2"] * 3, "the gold links count from 1 (--gold-first-index 1)"),
        (["1-1 2-2"] * 3, ["0-0 1?1"] * 3, "the others do (preorder map --first-index 1)"),
        (["0-2 1-0"] * 3, ["2-0 0-1"] * 3, "one of the files is target-source (preorder map --reverse)"),
        (["0-0 1-2", "1-1"], ["0-0 1-1 1?2", "1-0"], None),
        (["1-1"] * 3, ["1-1"] * 3, None),
        (["0-0"] * 19 + ["0-1"], ["0-0"] * 19 + ["1-0"], None),  # turned round they are better by 0.05
    ],
)
def test_links_that_are_not_meant_as_they_are_read(run, evaluate, align, gold, reading):
    as_read = evaluate("--gold gold --gold-first-index 0", align=align, gold=gold)
    assert as_read["sentences"] == len(align)
    said = run("evaluate --align align --gold gold", 2 if reading else 0)
    assert (said.out == "") == bool(reading)
    remedy = "--gold-first-index 0 takes the links as they are"
    assert said.err.endswith(f"but 0.0000 if {reading}; {remedy}\n" if reading else "")


def test_gold_links_from_one(run, evaluate):
    found = evaluate("--gold gold --gold-first-index 1", align=["0-0 1-1"], gold=["1-1 2p2"])
    assert found["aer"] == 0
    assert run("map --align gold --first-index 1").out == "0-0 1?1\n"
    evaluate("--gold gold --gold-first-index 1", align=["0-0 1-1"], gold=["2-2 ||| 1-1 2-2"])
    assert run("map --align gold --first-index 1").out == "0-0 1-1\n"
