"""Which devices multiply bfloat16 faster than float32."""

import pytest

from preorder.learning import backend


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
    monkeypatch.setattr(backend.binding, "get_host_cpu_name", lambda: name)
    monkeypatch.setattr(backend.binding, "get_host_cpu_features", lambda: features)
    assert backend.multiplies_bfloat16("cpu") is faster


@pytest.mark.parametrize("has", [True, False])
def test_gpus_that_multiply_bfloat16_themselves(monkeypatch, has):
    monkeypatch.setattr(
        backend.torch.cuda, "is_bf16_supported", lambda including_emulation: has and not including_emulation
    )
    assert backend.multiplies_bfloat16("cuda") is has
