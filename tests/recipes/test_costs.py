"""What the logs of OpenNMT-py tell of a system's costs."""

import pytest

from recipes.costs import parameters, words_per_second
from recipes.stamps import StepError

TRAINING = """\
[2026-01-01 00:00:00,000 7 INFO] encoder: 1200
[2026-01-01 00:00:00,000 7 INFO] decoder: 300
[2026-01-01 00:00:00,000 7 INFO] * number of parameters: 1500
"""


def test_the_costs_are_read_from_the_logs(tmp_path):
    (tmp_path / "log").write_text(TRAINING * 2)  # it went on after an interruption
    assert parameters(tmp_path / "log") == 1500
    (tmp_path / "source").write_text("a b c\n\nd\n")
    again = "Total translation time (s): 2.0\nTokens per second: 77.0\n"  # the last counts
    (tmp_path / "log").write_text("Total translation time (s): 6.0\n" + again)
    assert words_per_second(tmp_path / "log", tmp_path / "source") == 2.0
    (tmp_path / "log").write_text("Total translation time (s): 0.0\n")
    assert words_per_second(tmp_path / "log", tmp_path / "source") == 80.0


def test_logs_that_tell_nothing_are_an_error(tmp_path):
    with pytest.raises(StepError, match=r"log: cannot be read: No such file"):
        parameters(tmp_path / "log")
    (tmp_path / "log").write_text("nothing\n")
    with pytest.raises(StepError, match=r"log: has no line like .*number of parameters"):
        parameters(tmp_path / "log")
