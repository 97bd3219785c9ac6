"""What all tests share."""

from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("project", deadline=None)  # a first call compiles
hypothesis.settings.load_profile("project")


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """Give a function from a name under ``../shared`` to its path; it skips the test where that is absent."""

    def find(name: str) -> Path:
        path = Path(__file__).parents[2] / "shared" / name
        if not path.exists():
            pytest.skip(f"needs {path}")
        return path

    return find
