"""What ``onmt_translate`` is told of its search."""

import pytest
from onmt.bin.translate import _get_parser

from recipes.search import Search


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
