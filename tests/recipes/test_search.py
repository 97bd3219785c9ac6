"""What ``onmt_translate`` is told of its search."""

import argparse

import pytest
from onmt.bin.translate import _get_parser

from recipes.search import Search, add_search, search_of


@pytest.mark.parametrize(
    ("decoder", "search", "told"),
    [
        ("transformer", Search(3, ratio=1.5, word_reward=1.2), (1.5, 0)),
        ("swan", Search(3, ratio=1.5, word_reward=1.2), (0, 1.2)),
        ("transformer", Search(3), (0, 0)),
        ("swan", Search(3), (0, 0)),
    ],
)
def test_opennmt_reads_the_search_and_only_swan_is_told_a_word_reward(decoder, search, told):
    found = _get_parser().parse_args(["-model", "m", "-src", "s", *search.options(7, "gpu", decoder)])
    assert (found.beam_size, found.seed, found.gpu) == (3, 7, 0)
    assert (found.ratio, found.swan_word_reward) == told


def search_from(*options):
    parser = argparse.ArgumentParser()
    add_search(parser)
    return search_of(parser.parse_args(options))


def test_the_options_make_a_search():
    assert search_from() == Search()
    assert search_from("--beam=3", "--ratio=1.5", "--word-reward=-1.2") == Search(3, 1.5, -1.2)


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("--ratio=101", "not a number from 0 to 100"),
        ("--word-reward=101", "not a number from -100 to 100"),
        ("--word-reward=nan", "not a number from -100 to 100"),
    ],
)
def test_what_a_search_cannot_have(capsys, option, reason):
    with pytest.raises(SystemExit) as end:
        search_from(option)
    assert end.value.code == 2
    assert reason in capsys.readouterr().err
