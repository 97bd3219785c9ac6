import argparse

import pytest

from preorder.btg.options import DEFAULT, Options, add_options, options_of
from preorder.errors import UsageError


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    add_options(parser.add_argument_group())
    return argparse.Namespace(
        **vars(parser.parse_args(arguments)), seed=DEFAULT.seed, threads=DEFAULT.threads
    )


def test_defaults_have_one_home():
    assert options_of(parsed()) == Options()


def test_given():
    options = options_of(parsed("--iterations", "3", "--unaligned", "gold", "--cost", "0.5"))
    assert options == Options(iterations=3, unaligned="gold", cost=0.5)


@pytest.mark.parametrize("name", ["iterations", "cost", "aggressiveness", "minibatch"])
def test_not_positive(name):
    with pytest.raises(UsageError, match=f"--{name} 0.*: not positive"):
        options_of(parsed(f"--{name}", "0"))
