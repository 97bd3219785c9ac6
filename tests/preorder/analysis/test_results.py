"""Curves read back from the JSON that they were written as, and nothing else taken for them."""

import copy
import json
from dataclasses import asdict

import pytest

from preorder.analysis.results import Curves, Estimate, Group, parse_curves
from preorder.errors import DataError

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


@pytest.mark.parametrize("key", VALUE)
def test_nothing_may_be_missing(key):
    with pytest.raises(DataError, match="not what preorder analyse --json writes of curves: KeyError"):
        parse_curves({name: value for name, value in VALUE.items() if name != key})


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ((), []),
        (("groups",), [{"label": "1"}]),
        (("groups",), [{"label": "1", "sentences": 1}]),  # fewer than estimates
        (("measures", "bleu"), []),
        (("measures", "bleu", "a", 0), 20.0),
        (("measures", "bleu", "a", 0, "interval"), [1.0]),
        (("measures", "bleu", "a", 0, "score"), "much"),
    ],
)
def test_other_values_are_refused(path, wrong):
    value = copy.deepcopy(VALUE)
    if not path:
        value = wrong
    else:
        *folders, last = path
        inner = value
        for step in folders:
            inner = inner[step]
        inner[last] = wrong
    with pytest.raises(DataError, match="not what preorder analyse --json writes of curves"):
        parse_curves(value)
