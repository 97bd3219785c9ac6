"""Order headroom and the distance of two languages, against brute force over small cases."""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from preorder.analysis.diagnosis import (
    LONGEST,
    best_btg_order,
    best_order,
    diagnose_pair,
    diagnose_translations,
    match,
    pair_tables,
    reorder_translations,
    translation_tables,
)
from preorder.data import Alignment, Permutation
from preorder.errors import UsageError
from preorder.metrics import MetricOptions
from tests.support.brute_force import order, trees

WORDS = st.lists(st.sampled_from("abcd"), max_size=7)
OPTIONS = MetricOptions(tokenize="none")


def agreement(indices, ranks):
    return sum(np.sign(ranks[j] - ranks[i]) for i, j in combinations(indices, 2))


@given(WORDS, WORDS)
def test_as_many_words_are_matched_as_there_can_be(hypothesis, reference):
    found = match(hypothesis, reference)
    partners = found[found >= 0]
    assert len(partners) == len(set(partners)) == sum((Counter(hypothesis) & Counter(reference)).values())
    assert all(hypothesis[i] == reference[j] for i, j in enumerate(found) if j >= 0)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        ("the x the cat", "the cat y the", [3, -1, 0, 1]),  # by the longest contexts
        ("a b a", "a b", [0, 1, -1]),
        ("a x a", "a y a", [0, -1, 2]),  # by the fewest crossings
        ("", "a", []),
    ],
)
def test_matches(hypothesis, reference, expected):
    assert match(hypothesis.split(), reference.split()).tolist() == expected


@given(st.permutations("abcdef"))
def test_the_best_order_of_the_reference_s_words_is_the_reference(hypothesis):
    assert reorder_translations([" ".join(hypothesis)], [["a b c d e f"]])[0] == ["a b c d e f"]


def test_words_without_a_partner_stay_behind_the_word_before():
    matches = np.array([-1, 4, -1, 0, -1])
    assert best_order(matches).tolist() == [0, 3, 4, 1, 2]
    assert best_btg_order(matches).tolist() == [0, 3, 4, 1, 2]


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_best_btg_order_is_that_of_all_btg_orders(n):
    orders = {order(tree, 0, n) for tree in trees(0, n)}
    for ranks in permutations(range(n)):
        found = tuple(best_btg_order(np.array(ranks)).tolist())
        assert found in orders
        assert agreement(found, ranks) == max(agreement(one, ranks) for one in orders)


@pytest.mark.parametrize(("words", "step"), [(LONGEST, -1), (LONGEST + 1, 1)])
def test_long_hypotheses_keep_their_order(words, step):
    assert best_btg_order(np.arange(words)[::-1]).tolist() == list(range(words))[::step]


@settings(max_examples=30)
@given(WORDS.filter(lambda words: 1 <= len(words) <= 6), WORDS.filter(bool))
def test_the_bound_is_never_above_the_best_of_all_permutations(hypothesis, reference):
    bleu = BLEU(tokenize="none", effective_order=True, force=True)

    def score(words):
        return bleu.sentence_score(" ".join(words), [" ".join(reference)]).score

    highest = max(map(score, permutations(hypothesis)))
    for (line,) in reorder_translations([" ".join(hypothesis)], [[" ".join(reference)]]):
        assert Counter(line.split()) == Counter(hypothesis)
        assert score(line.split()) <= highest + 1e-9


def test_of_several_references_that_with_most_matching_words_counts():
    assert reorder_translations(["b a"], [["x y"], ["a b"]])[0] == ["a b"]


def test_no_system_has_the_name_of_another_one_in_the_best_order():
    systems = {"a": [["d c b a"]], "a, best order": [["a b c d"]]}
    with pytest.raises(UsageError, match="^a, best order: what a table calls a in another order"):
        diagnose_translations([["a b c d"]], systems, OPTIONS)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "options", "left"),
    [
        ("a b c", "a b c d", OPTIONS, (1, 0, 0)),
        ("a b c d e f", "a b c d", OPTIONS, (0, 2, 0)),
        ("A b c d", "a b c d", OPTIONS, (0, 0, 0)),
        ("A b c d", "a b c d", MetricOptions("none", True), (0, 0, 1)),
        ("いる猫が。", "猫がいる。", MetricOptions("char"), (0, 0, 0)),  # the tokenizer's words
    ],
)
def test_what_is_left(hypothesis, reference, options, left):
    found = diagnose_translations([[reference]], {"one": [[hypothesis]]}, options)[0]["one"]
    assert tuple(found["words"].values()) == left
    assert found["bleu"] <= found["best_order"]["bleu"]
    assert (found["best_order"]["bleu"] == pytest.approx(100)) == (
        left == (0, 0, 0) and "A" not in hypothesis
    )


def test_a_run_is_compared_with_itself_in_another_order():
    """The runs have very different scores, and gain alike: the last eighth of their lines is turned round."""
    (lines,) = references = [[f"{a} {b} c d e" for a in "abcdefgh" for b in "ijklmnop"]]
    turned = [" ".join(reversed(line.split())) for line in lines[56:]]
    runs = [["x"] * bad + lines[bad:56] + turned for bad in (2, 12, 22)]
    found = diagnose_translations(references, {"one": runs}, OPTIONS)[0]["one"]
    gain = found["best_order"]["gain"]["bleu"]
    assert 2 < gain["interval"][0] < gain["difference"] < gain["interval"][1] < 30
    assert gain["p_value"] < 0.01
    other = diagnose_translations(references, {"one": runs}, OPTIONS, seed=2)[0]["one"]
    assert other["best_order"]["gain"]["bleu"]["interval"] != gain["interval"]


def test_translations():
    systems = {"one": [["d c b a", "e f g x"]]}
    json = diagnose_translations([["a b c d", "e f g h"]], systems, OPTIONS)[0]["one"]
    assert json["best_order"]["ribes"] == pytest.approx((1 + 0.75**0.25) / 2)
    assert json["best_order"]["bleu"] == json["best_btg_order"]["bleu"] > json["bleu"]
    assert json["best_order"]["gain"]["bleu"]["difference"] == json["best_order"]["bleu"] - json["bleu"]
    assert json["words"] == {"missing": 0, "too_many": 0, "others": 0.5}
    assert json["best_order"]["interval"]["bleu"][0] <= json["best_order"]["bleu"]
    rows = translation_tables({"one": json})[0].rows
    gain = f"{json['best_order']['gain']['bleu']['difference']:+.2f}"
    assert [row[-1].partition(" ")[0] for row in rows] == ["–", gain, gain]
    low, high = json["best_order"]["gain"]["bleu"]["interval"]
    assert f"{low:+.2f}" in rows[1][-1]
    assert f"{high:+.2f}" in rows[1][-1]


def test_a_pair():
    """Two sentences, of which the predicted orders mend one."""
    alignments = [Alignment(frozenset(enumerate(targets))) for targets in ((2, 1, 0), (0, 2, 1))]
    orders = [Permutation((2, 1, 0)), Permutation((0, 1, 2))]
    found = diagnose_pair([("x", "y", "z"), ("x", "y", "y")], alignments, orders)[0]
    assert found["unreordered"]["tau"] == pytest.approx((-1 + 1 / 3) / 2)
    assert found["predicted"]["tau"] == pytest.approx((1 + 1 / 3) / 2)
    assert found["share_of_the_way"] == pytest.approx(1 / (4 / 3))
    assert found["monotone"] == 0
    assert (found["unreordered"]["distance"], found["predicted"]["distance"]) == (6 / 6, 2 / 6)
    assert found["words"][0] == {"word": "y", "count": 3, "unreordered": 2 / 3, "predicted": 2 / 3}
    orders, words = pair_tables(found)
    row = dict(zip(orders.columns, orders.rows[1], strict=True))
    assert (row["sentences in order"], row["distance (tokens)"]) == ("50.0%", "0.33")
    assert (float(row["tau"]), float(row["tau_nakagawa"])) == pytest.approx((2 / 3, 5 / 6), abs=0.006)
    assert words.rows[1] == ("x", "2", "1.00", "0.00")


def test_the_words_with_most_distance_left():
    """Of equal words the first in the alphabet is first."""
    alignments = [Alignment(frozenset(enumerate(targets))) for targets in ((1, 0), *[(0, 1)] * 4)]
    names = [("z", "x"), *[("y", "x")] * 4]
    found = diagnose_pair(names, alignments, [Permutation.identity(2)] * 5)[0]
    assert (found["unreordered"]["tau"], found["share_of_the_way"]) == (pytest.approx(0.6), 0)
    assert [word["word"] for word in found["words"]] == ["x", "z", "y"]


def test_a_group_of_one_length_is_measured_as_if_it_were_alone():
    random = np.random.default_rng(1)
    orders = [Permutation(tuple(random.permutation(2 + k % 3).tolist())) for k in range(30)]
    alignments = [Alignment(frozenset(enumerate(random.permutation(len(one)).tolist()))) for one in orders]
    names = [("x",) * len(one) for one in orders]
    curves = diagnose_pair(names, alignments, orders)[1]
    assert [group.label for group in curves.groups] == ["2", "3", "4"]
    assert diagnose_pair(names, alignments, orders, seed=2)[1] != curves
    for k in range(3):
        alone = diagnose_pair(names[k::3], alignments[k::3], orders[k::3])[0]
        for score in ("tau", "tau_nakagawa", "complete_match", "distance"):
            for name in ("unreordered", "predicted"):
                assert curves.measures[score][name][k].score == pytest.approx(alone[name][score]), score


@pytest.mark.parametrize(
    ("links", "expected"), [((), (0, 0, [], 0)), ({(0, 0), (1, 1)}, (0, 1, ["x", "y"], 0))]
)
def test_pairs_without_a_way_to_go(links, expected):
    """A pair without links, and one that is in order."""
    found = diagnose_pair([("x", "y")], [Alignment(frozenset(links))], [Permutation((1, 0))])[0]
    words = [one["word"] for one in found["words"]]
    distances = (found[order]["distance"] for order in ("unreordered", "predicted"))
    assert (*distances, words, found["share_of_the_way"]) == expected
