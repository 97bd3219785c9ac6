"""What ``onmt_translate`` is told of its search."""

import pytest
from onmt.bin.translate import _get_parser

from recipes.search import Search


@pytest.mark.parametrize(
    ("decoder", "ratio", "told"), [("transformer", 1.5, 1.5), ("swan", 1.5, 0), ("transformer", 0.0, 0)]
)
def test_opennmt_reads_the_search_and_swan_is_told_no_ratio(decoder, ratio, told):
    options = Search(beam=3, ratio=ratio).options(7, "gpu", decoder)
    found = _get_parser().parse_args(["-model", "m", "-src", "s", *options])
    assert (found.beam_size, found.ratio, found.seed, found.gpu) == (3, told, 7, 0)
