"""What tests of recipes share."""

import pytest


@pytest.fixture(scope="module")
def one_thread():
    """Let each program of a run use one thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield
