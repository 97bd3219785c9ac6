"""Without OpenNMT-py, all of these tests are skipped."""

import pytest

pytest.importorskip("onmt", reason="OpenNMT-py is not installed: see the README")

import torch


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)
