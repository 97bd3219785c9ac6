"""Which devices multiply bfloat16 faster than float32, and the learning rate."""

import numpy as np
import pytest

from preorder.learning import network


@pytest.mark.parametrize(
    ("name", "features", "faster"),
    [
        ("sapphirerapids", {"amx-bf16": True, "avx512bf16": True}, True),
        ("emeraldrapids", {"amx-bf16": False, "avx512bf16": True}, False),  # as some virtual machines show it
        ("cascadelake", {"amx-bf16": False, "avx512bf16": False}, False),
        ("znver4", {"amx-bf16": False, "avx512bf16": True}, True),
        ("znver3", {"avx512bf16": False}, False),
        ("apple-m1", {}, False),
    ],
)
def test_processors_that_multiply_bfloat16_faster(monkeypatch, name, features, faster):
    monkeypatch.setattr(network.binding, "get_host_cpu_name", lambda: name)
    monkeypatch.setattr(network.binding, "get_host_cpu_features", lambda: features)
    assert network.multiplies_bfloat16("cpu") is faster


def test_rate_rises_and_falls():
    rates = [network.share_of_rate(done) for done in np.linspace(0, 1, 101)]
    assert max(rates) == rates[5] == pytest.approx(1)
    assert (rates[0], rates[-1]) == pytest.approx((0, 0))
    assert sorted(rates[:6]) == rates[:6]
    assert sorted(rates[5:], reverse=True) == rates[5:]


def test_what_is_dropped_is_the_same_of_all_tokens_and_made_up_for():
    torch = network.torch
    torch.manual_seed(1)
    dropped = network.drop(torch.ones(3, 4, 5000), 1, 0.2)
    assert dropped.unique().tolist() == [0, pytest.approx(1.25)]
    assert dropped.mean().item() == pytest.approx(1, abs=0.02)
    assert (dropped == dropped[:1]).all()
    assert (network.drop(torch.ones(3, 4, 5000), 3, 0.2) != dropped).any(0).any()
    assert network.drop(dropped, 1, 0.0) is dropped
