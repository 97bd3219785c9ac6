"""How many workers a cluster has room for."""

import pytest

from preorder.shards.on_ray.room import Needs, describe, room_for

TWO = [{"CPU": 4.0, "memory": 1e9}, {"CPU": 3.0, "GPU": 1.0}]


@pytest.mark.parametrize(
    ("needs", "free", "expected"),
    [
        (Needs(), {"CPU": 7.0, "GPU": 1.0}, 7),
        (Needs(), {"CPU": 1.0}, 1),
        (Needs(), {}, 0),
        (Needs(2), {"CPU": 7.0}, 3),  # 2 and 1: a core of the second machine stays free
        (Needs(4), {"CPU": 7.0}, 1),
        (Needs(5), {"CPU": 7.0}, 0),  # no machine is so large
        (Needs(1, 0.25), {"CPU": 7.0, "GPU": 1.0}, 3),  # there are 3 cores beside the GPU
        (Needs(1, 0.25), {"CPU": 7.0, "GPU": 0.4999999}, 2),
        (Needs(1, 0.25), {"CPU": 7.0}, 0),
    ],
    ids=str,
)
def test_room(needs, free, expected):
    assert room_for(needs, TWO, free) == expected


def test_what_there_is_is_told():
    assert describe(Needs(5, 0.25), TWO, {"CPU": 7.0}) == (
        "each needs 5 CPU and 0.25 GPU; "
        "the largest machine has 4 CPU and 1 GPU, and 7 CPU and 0 GPU are free in all"
    )
