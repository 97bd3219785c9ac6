import random

import pytest


@pytest.fixture(scope="session")
def reference():
    """Give 400 lines of 5 to 12 words."""
    generator = random.Random(0)
    return [" ".join(generator.choices("abcdefghij", k=generator.randint(5, 12))) for _ in range(400)]
