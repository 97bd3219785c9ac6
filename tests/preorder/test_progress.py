"""How far work is, on a terminal and elsewhere."""

import io
import logging
import multiprocessing
import sys

import pytest

from preorder import progress as progress_module
from preorder.progress import LOGGER, announce, named, progress, progress_bar, show_line


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Give what makes standard error a terminal: in the test itself, before which pytest sets it again."""

    def make():
        monkeypatch.setattr(sys, "stderr", Terminal())
        return sys.stderr

    return make


@pytest.fixture
def clock(monkeypatch):
    """A clock on which each look takes 25 seconds."""
    times = iter(range(0, 10_000, 25))
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: float(next(times)))


def test_a_bar_on_a_terminal(terminal, caplog):
    screen = terminal()
    assert list(progress("abc", "lines", 3, "read")) == list("abc")
    lines = screen.getvalue().splitlines()
    assert [line for line in lines if "read" in line and "100%" in line and "3 of 3 lines" in line]
    assert not caplog.messages


def test_lines_and_bars_share_a_terminal(terminal, caplog):
    """A line stands above the bar, and work within work has no bar of its own."""
    screen = terminal()
    with caplog.at_level(logging.INFO, "preorder"), progress_bar("lines", 3, text="outer") as add:
        show_line("[bold]a name[/bold]")
        assert list(progress("ab", "words", 2, "inner")) == list("ab")
        add(3)
    assert "[bold]a name[/bold]\n" in screen.getvalue()
    assert "inner" not in screen.getvalue()
    show_line("later")
    assert screen.getvalue().endswith("later\n")


@pytest.mark.parametrize("reason", ["a worker process", "quiet"])
def test_no_bar(terminal, clock, caplog, monkeypatch, reason):
    screen = terminal()
    if reason == "a worker process":
        monkeypatch.setattr(multiprocessing, "parent_process", object)
    else:
        monkeypatch.setattr(LOGGER, "level", logging.WARNING)
        announce("wait")
    assert list(progress("abc", "lines", 3)) == list("abc")
    with progress_bar("lines", 3) as add:
        add(3)
    assert screen.getvalue() == ""
    assert not caplog.messages


def test_lines_that_begin_with_a_name(caplog):
    with caplog.at_level(logging.INFO, "preorder"):
        with named("model 1 of 2"):
            LOGGER.info("%d lines", 3)
            announce("wait")
        LOGGER.info("done")
    assert caplog.messages == ["model 1 of 2: 3 lines", "wait", "done"]


@pytest.mark.parametrize(("total", "of_all"), [(None, ""), (1234, " of 1,234")])
def test_lines_elsewhere(clock, caplog, capsys, total, of_all):
    with caplog.at_level(logging.INFO, "preorder"):
        assert list(progress(range(9), "sentences", total, "tagged")) == list(range(9))
    assert capsys.readouterr().err == ""
    assert caplog.messages == [f"{count}{of_all} sentences tagged" for count in (3, 6, 9)]


def test_what_takes_long_is_announced_without_any_logging(caplog):
    announce("wait")
    assert [(record.levelname, record.message) for record in caplog.records] == [("WARNING", "wait")]
