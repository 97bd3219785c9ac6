import argparse
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest

from preorder.data.errors import UsageError
from preorder.learning.options import add_options, options_of, with_fixed
from preorder.methods.registry import METHODS, all_options


@dataclass(frozen=True)
class One:
    passes: Annotated[int, "passes over the text"] = 20
    step_size: Annotated[float, "how far"] = 0.5
    share: Annotated[float, "how much", 0.9, 0] = 0.2
    seed: int = 1


@dataclass(frozen=True)
class Two:
    passes: Annotated[int, "passes over the text"] = 7
    kind: Annotated[Literal["a", "b"], "which kind"] = "b"
    seed: int = 1


BOTH = {"one": One, "two": Two}


def parsed(*arguments, methods=BOTH):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    add_options(parser, methods)
    return parser.parse_args(arguments), parser.format_help()


def test_each_method_has_its_own_defaults():
    arguments, _ = parsed()
    assert options_of("one", BOTH, arguments) == One()
    assert options_of("two", BOTH, arguments) == Two()


def test_given():
    arguments, _ = parsed("--passes", "3", "--step-size", "1e-3", "--seed", "5")
    assert options_of("one", BOTH, arguments) == One(3, 1e-3, 0.2, 5)


def test_a_share_may_be_zero():
    arguments, _ = parsed("--share", "0")
    assert options_of("one", BOTH, arguments).share == 0


def test_help_names_owners_and_defaults():
    _, text = parsed()
    text = " ".join(text.split())
    assert (
        "options of --method one, two: --passes N passes over the text (default: 20 for one, 7 for two)"
        in text
    )
    assert "options of --method two: --kind {a,b} which kind (default: b)" in text


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--passes", "0"], "not a positive whole number: '0'"),
        (["--passes", "2.5"], "not a positive whole number: '2.5'"),
        (["--step-size", "nan"], "not a positive number: 'nan'"),
        (["--step-size", "inf"], "not a positive number: 'inf'"),
        (["--step-size", "0"], "not a positive number: '0'"),
        (["--share", "-0.1"], "not a positive number or 0: '-0.1'"),
        (["--share", "x"], "not a positive number or 0: 'x'"),
        (["--share", "0.95"], "more than 0.9: '0.95'"),
        (["--kind", "c"], "invalid choice: 'c'"),
    ],
)
def test_bad_values(arguments, reason, capsys):
    with pytest.raises(SystemExit):
        parsed(*arguments)
    assert reason in capsys.readouterr().err


def test_options_that_a_model_fixes():
    assert with_fixed({"depth": 2}, {"hidden": 8, "depth": 2}) == {"hidden": 8, "depth": 2}
    with pytest.raises(UsageError, match=r"^--hidden-size 9: the model of --init has 8$"):
        with_fixed({"hidden_size": 9}, {"hidden_size": 8})


def test_option_of_another_method():
    with pytest.raises(UsageError, match="--kind is no option of --method one"):
        options_of("one", BOTH, parsed("--kind", "a")[0])


@pytest.mark.parametrize("method", METHODS)
def test_real_methods(method):
    arguments, _ = parsed(methods=all_options())
    assert options_of(method, all_options(), arguments) == all_options()[method]()
