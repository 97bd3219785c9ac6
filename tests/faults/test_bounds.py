"""Every number on the command line has bounds, which the option's own error tells."""

import re

import pytest

import preorder
from preorder.cli import main
from preorder.errors import UsageError
from preorder.learning.options import _all
from preorder.methods.registry import all_options

TRAIN = ["train", "--method", "rvnn", "--src", "x", "--align", "x", "--model", "x"]
APPLY = ["apply", "--model", "x"]
LENGTH = ["analyse", "length", "--src", "x", "--ref", "x", "--hyp", "x"]
BOUNDED = [f"--{name.replace('_', '-')}" for name, o in _all(all_options()).items() if o.bounds[1]]
OPTIONS = [
    (command, option)
    for command, options in (
        (TRAIN, ["--seed", "--threads", "--limit", "--max-length", "--held-out", "--cross-fit", *BOUNDED]),
        (APPLY, ["--n-best", "--threads"]),
        (["annotate", "--src", "x"], ["--seed", "--workers"]),
        (LENGTH, ["--width", "--last", "--seed"]),
        (["show", "--model", "x"], ["--lines", "--sample", "--gain", "--worst", "--max-length"]),
        (["swap", "--src", "x", "--out", "x"], ["--percent"]),
        (["align", "--tgt", "x"], ["--seed"]),
    )
    for option in options
]


@pytest.mark.parametrize(
    ("command", "option"), OPTIONS, ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("value", ["-5", "x", "", "1" + "0" * 20, "9" * 5000])
def test_bounds(command, option, value, capsys):
    with pytest.raises(SystemExit) as caught:
        main([*command, f"{option}={value}"])
    error = capsys.readouterr().err
    assert caught.value.code == 2
    assert re.search(f"argument {option}(/--line)?: ", error)
    assert error.count("\n") == 1
    assert len(error) < 250


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--seed", "4294967296", "more than 4294967295: '4294967296'"),
        ("--minibatch", f"{10**20}", "100000000000000000000 is not a whole number from 1 to 1000000"),
        ("--dropout", "2", "2.0 is not a number from 0 to 0.99"),
        ("--hidden", "30000", "30000 is not a whole number from 1 to 16384"),
        ("--threads", "0", "not a whole number from 1: '0'"),
        ("--lang", "../x", "not the code of a language: '../x'"),
    ],
)
def test_what_is_said(option, value, reason, capsys):
    with pytest.raises(SystemExit):
        main([*TRAIN, option, value])
    assert f"argument {option}: {reason} (see" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("seed", 2**32),
        ("seed", 1.5),
        ("threads", 0),
        ("minibatch", 10**20),
        ("dropout", 2),
        ("dropout", float("nan")),
        ("iterations", True),
        ("hidden", "8"),
        ("learning_rate", 10**400),
    ],
)
def test_bounds_of_the_api(option, value):
    with pytest.raises(UsageError, match=f"^{option}: .* is not a .*number .*$"):
        preorder.train(["a b"], ["0-0 1-1"], method="neural-btg", **{option: value})
