"""The frame of every command: parse options, check files, run, show messages, end with a status.

``preorder``, ``onmt_preorder`` and the recipes share it.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import json
import logging
import os
import re
import resource
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

from preorder.command_line.paths import check_paths, given_paths
from preorder.errors import NO_MEMORY, PreorderError, cut, require
from preorder.io.atomic import is_special
from preorder.io.files import STANDARD
from preorder.processes import INTERRUPTED, interruptible
from preorder.progress import LINES_ALONE, LOGGER, show_line

if TYPE_CHECKING:
    from rich.text import Text

    from preorder.analysis.results import Table

COMPLETION = "_ARGCOMPLETE"  # environment variable of a shell that asks for completions

_FILE_WIDTH = 200  # characters, in a file or a pipe
_MAX_SAID = 300  # characters of a message that may quote 10,000 file names
_MAX_WIDTH = 10_000  # characters that the widest table may need

_STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_NO_MEMORY = re.compile(
    "(allocate|not enough|out of) memory|start new thread|map segment|load shared object"
    "|without( setting an)? exception|pointer is null"
)
"""Messages of PyTorch, Python's threads and modules in C and Rust, which raise no MemoryError."""

_VALUE = re.compile(r"`(\w+)`")  # a value's name in a message

_MISSPELT = 2  # letters that a misspelt name may lack or add: order is not meant by reordered
_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")


class Parser(argparse.ArgumentParser):
    """Accepts only whole option names, and reports a mistake in one line."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{"allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        """End with status 2."""
        said = cut(message, _MAX_SAID)
        if choice := _CHOICE.search(message):
            given, known = choice[1], choice[2].replace("'", "").split(", ")
            known = [name for name in known if abs(len(name) - len(given)) <= _MISSPELT]
            close = difflib.get_close_matches(given, known, n=1)
            said += "".join(f"; did you mean {name}?" for name in close)
        _, unknown, words = message.partition("unrecognized arguments: ")
        if unknown and all(os.path.exists(word) for word in words.split(" ")):
            said += "; a file needs its option (--src), a pattern is to be in quotes: 'in/*.gz'"
        self.exit(2, f"{self.prog}: {visible(said)} (see {self.prog} --help)\n")


def flag(name: str) -> str:
    """Return the option of a name."""
    return "--" + name.replace("_", "-")


def execute(parser: argparse.ArgumentParser, argv: Sequence[str] | None = None) -> int:
    """Parse a command line and run its subcommand; return its exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # whatever the locale
        sys.stdout.reconfigure(encoding="utf-8")
    if COMPLETION in os.environ:
        require("argcomplete", "completion").autocomplete(parser)
    try:
        arguments = parser.parse_args(argv)
    finally:  # --help ends the program; its reader may be gone
        _discard_output()
    command = getattr(arguments, "parser", parser)
    outputs = given_paths(command, arguments, outputs=True)
    lost = kept = [path for path in outputs if path != STANDARD and not is_special(path)]
    with show_messages(arguments):
        try:
            check_paths(command, arguments)
            with interruptible():
                arguments.run(arguments)
                lost = []
                sys.stdout.flush()
            for path in kept:
                LOGGER.info(f"saved in {path}")
            unit = 2**20 if sys.platform == "darwin" else 2**10
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
            LOGGER.debug(f"done, with at most {peak:,.0f} MiB of memory")
        except BrokenPipeError:  # the reader of our output is gone
            _discard_output()
            if lost:
                LOGGER.error(f"standard output was closed too early: {' and '.join(lost)} may be missing")
                return 2
        except KeyboardInterrupt:
            _discard_output()
            LOGGER.error("interrupted")
            return INTERRUPTED
        except BaseException as error:  # those of safetensors, in Rust, are no Exception
            reason = reason_of(error)
            if reason is None:
                raise
            _discard_output()
            LOGGER.error(reason)
            return error.status if isinstance(error, PreorderError) else 2
    return 0


def reason_of(error: BaseException) -> str | None:
    """Return the message of an error that the user can mend; None: it is a fault of the program.

    The user can mend a full disk, a folder without permissions, or sizes that need too much memory.
    """
    if isinstance(error, PreorderError):
        return str(error)
    may_be_memory = isinstance(error, RuntimeError | ImportError | OSError | SystemError)
    may_be_memory |= type(error).__name__ == "PanicException"
    if isinstance(error, MemoryError) or (may_be_memory and _NO_MEMORY.search(str(error))):
        return NO_MEMORY
    if isinstance(error, OSError):
        return f"{error.filename or 'standard output'}: {error.strerror or error}"
    return None


def _discard_output() -> None:
    """Flush standard output; if that fails, discard what is left."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def add_verbosity(parser: argparse.ArgumentParser) -> None:
    """Add ``-q/--quiet``, ``-v/--verbose`` and ``--log-format``."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-q", "--quiet", action="store_true", help="say nothing but warnings and errors")
    text = "say more, and when: the time of day, and the seconds since the start"
    group.add_argument("-v", "--verbose", action="store_true", help=text)
    text = "json: each message is a line {time, level, message}, without progress bars (default: text)"
    parser.add_argument("--log-format", choices=("text", "json"), default="text", help=text)


@contextlib.contextmanager
def show_messages(arguments: argparse.Namespace) -> Iterator[None]:
    """Show the log records of this block on standard error, as the options ask."""
    as_json = getattr(arguments, "log_format", "text") == "json"
    is_verbose, is_quiet = (getattr(arguments, name, False) for name in ("verbose", "quiet"))
    handler = _Lines(time.monotonic() if is_verbose else None, as_json, vars(arguments).keys())
    loggers = [LOGGER, logging.getLogger()] if as_json else [LOGGER]  # the root: warnings of OpenNMT-py
    before = LOGGER.level, LOGGER.propagate
    LOGGER.setLevel(logging.WARNING if is_quiet else logging.DEBUG if is_verbose else logging.INFO)
    for logger in loggers:
        logger.addHandler(handler)
    LOGGER.propagate = False  # OpenNMT-py shows all lines that reach the root
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        LOGGER.setLevel(before[0])
        LOGGER.propagate = before[1]


class _Lines(logging.Handler):
    """Writes each message as a line above the progress bars, with the time and the seconds since ``start``.

    ``start`` None: without times. ``as_json``: an object of ``time`` (ISO 8601), ``level`` and ``message``.
    A value in backquotes becomes its option, if ``names`` has it.
    """

    def __init__(self, start: float | None, as_json: bool, names: Collection[str] = ()) -> None:
        super().__init__()
        self._start, self._as_json, self._names = start, as_json, names
        if as_json:
            self.name = LINES_ALONE

    def emit(self, record: logging.LogRecord) -> None:
        message = _VALUE.sub(self._option, record.getMessage())
        line = visible(message)
        if self._as_json:
            now = datetime.now().astimezone().isoformat(timespec="milliseconds")
            level = record.levelname.lower()
            line = json.dumps({"time": now, "level": level, "message": message})
        elif self._start is not None:
            line = f"[{time.strftime('%H:%M:%S')} {time.monotonic() - self._start:6.1f} s] {line}"
        with contextlib.suppress(OSError):  # nobody can read it: go on
            show_line(line)

    def _option(self, match: re.Match[str]) -> str:
        name = "pos" if match[1] == "tags" else match[1]  # as the API calls them
        return flag(name) if name in self._names else match[0]


def visible(text: str) -> str:
    """Escape what steers a terminal: control characters, and those that turn the direction of writing."""
    return _STEERING.sub(lambda found: repr(found[0])[1:-1], text)


def print_table(
    title: str | None, columns: Sequence[str], rows: Iterable[Sequence[str | Text]], lines: bool = False
) -> None:
    """Print a table on standard output; all columns but the first are aligned right.

    ``lines``: draw lines between the rows, for cells of several lines.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    class Output(Console):
        def on_broken_pipe(self) -> None:  # rich would end the process with status 1
            raise BrokenPipeError

    table = Table(show_lines=lines)
    for index, column in enumerate(columns):
        how: dict[str, Any] = {"justify": "right" if index else "left", "no_wrap": index == 0}
        table.add_column(Text(visible(column)), overflow="fold", **how)
    for row in rows:
        # as Text, brackets in a name are no markup
        table.add_row(*(Text(visible(cell)) if isinstance(cell, str) else cell for cell in row))
    output = Output(width=None if sys.stdout.isatty() else _FILE_WIDTH)
    unbounded = output.options.update(max_width=_MAX_WIDTH)
    output.width = max(output.width, output.measure(table, options=unbounded).minimum)  # no name is cut
    if title:  # above the table, as wide as it is
        output.print(Text(visible(title), style="table.title"), soft_wrap=True)
    output.print(table)


def print_tables(tables: Iterable[Table]) -> None:
    """Print tables with their notes on standard output."""
    for table in tables:
        print_table(table.caption, table.columns, table.rows)
        if table.note:
            print(visible(table.note))
