"""What all tests share."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest

from onmt_preorder import _hook

hypothesis.settings.register_profile("project", deadline=None)  # a first call compiles
hypothesis.settings.load_profile("project")

HERE = Path(__file__).parent
FOR_ANY = ("conftest", "eole")  # tests of onmt_preorder without OpenNMT-py
NEED_OPENNMT = [
    *(f"benchmarks/test_{name}_benchmark.py" for name in ("attention", "training")),
    "config",
    "doors/test_opennmt.py",
    *(f"faults/test_{name}.py" for name in "opennmt opennmt_inputs options recipe_options server".split()),
    *(str(each.relative_to(HERE)) for each in HERE.glob("onmt_preorder/[!_]*") if each.stem not in FOR_ANY),
    *(f"recipes/test_{name}.py" for name in ("papers", "robustness", "systems")),
    "test_documented_commands.py",
]
collect_ignore = [] if find_spec("onmt") else NEED_OPENNMT
_hook.install()  # this process is one of OpenNMT-py's commands, and of ours


@pytest.fixture(autouse=True)
def _nothing_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processes that a test starts find out by themselves what they run."""
    monkeypatch.delenv(_hook.SWITCH, raising=False)


def pytest_report_header() -> str | None:
    """Say which tests are left out."""
    return f"OpenNMT-py is not installed: without {', '.join(collect_ignore)}" if collect_ignore else None


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """Give a function from a name under ``../shared`` to its path; it skips the test where that is absent."""

    def find(name: str) -> Path:
        path = Path(__file__).parents[2] / "shared" / name
        if not path.exists():
            pytest.skip(f"needs {path}")
        return path

    return find
