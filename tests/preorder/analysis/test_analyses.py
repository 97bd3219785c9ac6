"""Groups of sentences and swapped words against definitions; curves read back from their JSON."""

import json
import math
from dataclasses import asdict
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from preorder.analysis import LAST_LENGTH, LENGTH_WIDTH
from preorder.analysis.analyses import by_fitting_length, by_gain, by_length
from preorder.analysis.results import Curves, Estimate, Group, parse_curves
from preorder.analysis.swap import swapped_words, swaps
from preorder.data import Permutation
from preorder.errors import DataError


def as_dictionary(grouping):
    return {label: indices.tolist() for label, indices in grouping.groups}


def test_the_papers_lengths():
    grouping = by_length([1, 10, 11, 20, 60, 61, 500, 0], LENGTH_WIDTH, LAST_LENGTH)
    assert as_dictionary(grouping) == {"1–10": [0, 1], "11–20": [2, 3], "51–60": [4], "61+": [5, 6]}
    assert grouping.skipped == 1
    assert grouping.axis == "source length (tokens)"


@given(st.lists(st.integers(0, 100)), st.integers(1, 12), st.integers(2, 80))
def test_every_sentence_stands_where_its_label_says(lengths, width, last):
    grouping = by_length(lengths, width, last)
    seen = []
    for label, indices in grouping.groups:
        begin, _, end = label.rstrip("+").partition("–")
        most = math.inf if label.endswith("+") else int(end or begin)
        assert all(int(begin) <= lengths[i] <= most for i in indices)
        seen += indices.tolist()
    assert sorted(seen) == [i for i, length in enumerate(lengths) if length]
    assert grouping.skipped == lengths.count(0)


GAINS = st.lists(st.integers(-120, 120).map(lambda k: k / 60))


@given(GAINS, st.sampled_from([0.1, 0.25, 0.5, 1.0]))
@example([0.1 + 0.2], 0.1)
@example([-0.1 - 0.2], 0.1)
def test_every_gain_stands_where_its_label_says(gains, width):
    """A group includes its end that is farther from 0."""
    seen = []
    for label, indices in by_gain(gains, width).groups:
        low, high = map(float, label.split(" to ")) if " " in label else (0.0, 0.0)
        for i in indices:
            near, far = sorted((low, high), key=abs)
            assert label == "0" or abs(near) + 1e-6 < abs(gains[i]) <= abs(far) + 1e-6
            assert (gains[i] == 0) == (label == "0")
            assert gains[i] * far >= 0
        seen += indices.tolist()
    assert sorted(seen) == list(range(len(gains)))


def test_the_width_fits_nearly_all_lengths():
    assert list(as_dictionary(by_fitting_length([6] * 200 + [7]))) == ["6", "7+"]
    assert list(as_dictionary(by_fitting_length([6, 7]))) == ["5–6", "7–8"]


CURVES = Curves(
    "length",
    "source length (tokens)",
    (Group("1–10", 12), Group("11+", 7)),
    {"bleu": {"a": (Estimate(20.0, (15.0, 25.0)), Estimate(30.0, (28.0, 31.0)))}, "tau": {"b": (None, None)}},
    3,
    {"bleu": "nrefs:1"},
)
VALUE = json.loads(json.dumps(asdict(CURVES)))


def test_read_back():
    assert parse_curves(VALUE) == CURVES


BAD_LINES = ([], {"a": [20.0] * 2}, {"a": [{"score": 1, "interval": [1]}] * 2}, {"a": [None]})
OTHERS = [[], {"groups": [{"label": "1"}]}, *({"measures": {"bleu": lines}} for lines in BAD_LINES)]
OTHERS += [{"measures": {"unheard": {}}}, {"axis": 1}, {"measures": {}}, {"measures": {"bleu": {}}}]
OTHERS += [{"groups": [{"label": "1", "sentences": []}] * 2}]
OTHERS += [{"measures": {"bleu": {"a": [{"score": math.nan, "interval": [0, 1]}] * 2}}}]
OTHERS += [{"groups": [{"label": 1, "sentences": 1}], "measures": {}}]


@pytest.mark.parametrize("wrong", OTHERS)
def test_other_values_are_refused(wrong):
    with pytest.raises(DataError, match="not what preorder analyse --json writes of curves"):
        parse_curves(wrong and VALUE | wrong)


LENGTHS = st.lists(st.integers(0, 30), max_size=10)
SHARES = tuple(range(0, 101, 10))


@given(st.integers(0, 200), st.integers(0, 100))
def test_number_of_words_is_the_nearest_that_can_change_places(length, percent):
    share = Fraction(length * percent, 100)
    possible = [0, *range(2, length + 1)]
    nearest = min(possible, key=lambda k: (abs(k - share), -k))
    assert swapped_words(length, percent) == nearest


@given(LENGTHS, st.integers(0, 2**32))
def test_what_is_swapped(lengths, seed):
    rows = list(swaps(iter(lengths), SHARES, seed))
    assert len(rows) == len(lengths)
    for length, row in zip(lengths, rows, strict=True):
        before = set()
        for percent, permutation in zip(SHARES, row, strict=True):
            moved = {i for i, place in enumerate(permutation.positions) if i != place}
            assert len(moved) == swapped_words(length, percent)
            assert before <= moved
            before = moved
        assert row[0] == Permutation.identity(length)
    assert [row[3] for row in rows] == [one for (one,) in swaps(iter(lengths), SHARES[3:4], seed)]
