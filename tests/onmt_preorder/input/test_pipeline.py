"""The order of transforms."""

import pytest

from onmt_preorder.input.pipeline import arrange
from preorder.errors import UsageError


@pytest.mark.parametrize(
    ("named", "model", "expected"),
    [
        ([], "", "preorder_positions"),
        ([], "dir", "preorder preorder_positions"),
        (["bpe", "preorder"], "dir", "preorder bpe preorder_positions"),
        (
            ["filtertoolong", "onmt_tokenize"],
            "dir",
            "filtertoolong preorder onmt_tokenize preorder_positions",
        ),
        (["preorder", "filtertoolong"], "dir", "preorder filtertoolong preorder_positions"),
        (["inferfeats", "preorder_positions", "preorder"], "dir", "preorder preorder_positions"),
    ],
)
def test_where_transforms_belong(named, model, expected):
    assert arrange(named, model) == expected.split()
    assert arrange(arrange(named, model), model) == expected.split()


def test_the_transform_needs_a_model():
    with pytest.raises(UsageError, match=r"transforms: \[preorder\] needs preorder_model: DIR"):
        arrange(["preorder"], "")
