"""The verdict of ``preorder diagnose``: it has to follow the gains that were measured."""

import math
from dataclasses import replace

import pytest
from scipy.stats import spearmanr

from preorder.analysis.verdict import (
    CASES,
    NEAR,
    Case,
    Profile,
    Verdict,
    cases_table,
    rare_share,
)

TEXT = Profile(10_000, 0.5, 0.2, 0.6, 0.08, 16.0)
PAYS = Case("far", TEXT, 16.9, 3.7, 3.5, True)
FAILS = Case("near", replace(TEXT, tau=0.95, in_order=0.7), 36.0, 0.6, 0.9, False)

TOLD_WRONG = {
    "KFTT, Ja→En, 346,033 pairs, large model",  # the model, not the text, differs from the nearest case
    "Python's documentation, En→Ja, 1,000 pairs",  # no other text near it has so few pairs
    "Python's documentation, En→Ja, 41,301 pairs",  # these two are neighbours; one gains precision
    "Python's documentation, Ja→En, 41,301 pairs",
}


def test_rare_tokens():
    """``a`` stands five times in other lines, ``b`` four times; line 1 counts for nothing but itself."""
    lines = ["a a b b".split(), "a b b b c".split(), "a a a b b".split()]
    assert rare_share(lines, {1}) == pytest.approx(4 / 5)
    assert rare_share(lines, {0, 1, 2}) == 1
    assert rare_share([[], ["a"]], {0}) == 0


def test_the_distance():
    other = replace(TEXT, pairs=40_000, tau=0.65, length=16 * 1.5**2)
    assert TEXT.distance(other) == other.distance(TEXT) == pytest.approx(math.sqrt(1 + 1 + 4))
    assert TEXT.distance(replace(TEXT, in_order=0.5, share_of_the_way=0.4, rare=0.13)) == pytest.approx(
        math.sqrt(4 + 1 + 1)
    )


@pytest.mark.parametrize(("steps", "is_near"), [(2.4, True), (2.6, False)])
def test_beyond_two_and_a_half_steps_no_case_is_near(steps, is_near):
    assert Verdict.of(replace(TEXT, length=16 * 1.5**steps), (PAYS, FAILS)).is_near == is_near


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            TEXT,
            "Word order is worth trying: 20% of your sentences are in order already, and a quick ",
        ),
        (replace(TEXT, in_order=0.68, tau=0.93), "Word order is not your problem: 68% of your sentences"),
        (replace(TEXT, length=200.0), "No case is near: 20% of your sentences are in order already"),
        (replace(TEXT, length=200.0, in_order=0.9), "Word order is not your problem: 90% of your sentences"),
        (replace(TEXT, tau=0.85, in_order=0.49), "An order is unlikely to pay: 49% of your sentences"),
    ],
)
def test_the_text(text, expected):
    found = Verdict.of(text, (PAYS, FAILS))
    assert found.text.startswith(expected)
    assert ("In the nearest case, " in found.text) == found.is_near == (found.distance <= NEAR)
    if "worth" in expected:
        assert found.text.endswith(
            "In the nearest case, far, a predicted order changed BLEU by +3.7 (precision +3.5), from 16.9."
        )
    json = found.as_json()
    assert (json["profile"]["pairs"], json["verdict"]) == (10_000, found.text)
    assert json["nearest"]["distance"] == found.distance
    assert [row[1] for row in found.table().rows][:2] == ["10,000", f"{text.tau:.2f}"]


def test_links_of_few_pairs_tell_nothing():
    found = Verdict.of(replace(TEXT, pairs=999, in_order=0.75), (PAYS, FAILS))
    assert found.text == "Too little text: you have 999 pairs, and 1,000 gained 0.3 BLEU at most."


def test_each_case_is_told_by_the_others():
    """Leave one out: the nearest other case says whether the order pays, and its gain follows the gain."""
    told = {case.name: Verdict.of(case.profile, [one for one in CASES if one is not case]) for case in CASES}
    wrong = {
        case.name for case in CASES if told[case.name].is_near and told[case.name].nearest.sure != case.sure
    }
    assert wrong == TOLD_WRONG
    near = [case for case in CASES if told[case.name].is_near and case.name not in TOLD_WRONG]
    assert len(near) + len(wrong) >= len(CASES) - 2
    gains = [case.gain for case in near], [told[case.name].nearest.gain for case in near]
    assert spearmanr(*gains).statistic > 0.6


def test_the_nearest_case_comes_first():
    rows = cases_table(TEXT, (FAILS, PAYS)).rows
    assert [row[:2] for row in rows] == [("far", "0.0"), ("near", f"{TEXT.distance(FAILS.profile):.1f}")]
