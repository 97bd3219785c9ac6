import argparse
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pytest

from preorder.command_line.options import add_method_options, given_method_options
from preorder.errors import UsageError
from preorder.learning.options import checked_options


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


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    add_method_options(parser, BOTH)
    return parser.parse_args(arguments), parser.format_help()


def test_given_and_defaults():
    arguments, _ = parsed()
    assert given_method_options("one", BOTH, vars(arguments)) == {"seed": 1}
    arguments, _ = parsed("--passes", "3", "--step-size", "1e-3", "--share", "0", "--seed", "5")
    given = {"passes": 3, "step_size": 1e-3, "share": 0, "seed": 5}
    assert given_method_options("one", BOTH, vars(arguments)) == given


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
        (["--passes", "0"], "0 is not a whole number from 1 to 1000000"),
        (["--passes", "2.5"], "'2.5' is not a whole number from 1 to 1000000"),
        (["--step-size", "nan"], "nan is not a number above 0 and at most 1e+09"),
        (["--share", "x"], "'x' is not a number from 0 to 0.9"),
        (["--kind", "c"], "invalid choice: 'c'"),
    ],
)
def test_bad_values(arguments, reason, capsys):
    with pytest.raises(SystemExit):
        parsed(*arguments)
    assert reason in capsys.readouterr().err


def test_values_of_numpy_become_those_of_python():
    found = checked_options(One, {"passes": np.int64(3), "step_size": np.float32(0.5), "share": 0})
    assert found == One(3, 0.5, share=0.0)
    assert [type(value) for value in (found.passes, found.step_size, found.share)] == [int, float, float]
    assert type(checked_options(Two, {"kind": np.str_("a")}).kind) is str


def test_option_of_another_method():
    with pytest.raises(UsageError, match="--kind is no option of --method one"):
        given_method_options("one", BOTH, vars(parsed("--kind", "a")[0]))
