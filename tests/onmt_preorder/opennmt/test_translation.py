"""Lines that translation keeps."""

from onmt.transforms.misc import FilterTooLongTransform

from preorder.data.formats import unescape_spaces
from tests.support.opennmt import make_opt


def test_filtertoolong_filters_pairs_only():
    transform = FilterTooLongTransform(make_opt(src_seq_length=2, tgt_seq_length=4))
    long = {"src": ["a"] * 3, "tgt": None}
    assert transform.apply(long) is long
    assert transform.apply({"src": ["a"] * 3, "tgt": ["b"]}) is None


def test_white_space_is_itself_again_in_a_translation():
    words = ["&#12288;", "a&#160;b", "&#91;", "&#38;#32;", "&#99999;", "&#9999999999;", "plain"]
    assert list(map(unescape_spaces, words)) == ["\u3000", "a\u00a0b", *words[2:]]
