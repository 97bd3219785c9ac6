"""Processes that end with their parent, even if it is killed; and signals that end this process.

They notice its end by a pipe that only the parent can write. A worker process watches the pipe; other
programs run below a launcher that does: this file as a script, which imports only Python's own library.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import logging
import mmap
import os
import resource
import select
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    import subprocess
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

T = TypeVar("T")
Result = TypeVar("Result")

MAX_AHEAD = 2  # items that are read ahead for each worker
GRACE = 10  # seconds from a program's SIGTERM to its SIGKILL
INTERRUPTED = 130  # exit status after Ctrl-C, SIGTERM, and SIGHUP, which a terminal sends when it is closed

_BLAS_ROOM = 5 * 2**25  # bytes for OpenBLAS, its two buffers of 32 MiB, and what SciPy loads before
_WITH_BLAS = ("numpy", "scipy.linalg")  # each has an OpenBLAS of its own
_NO_THREAD_DATA = 127  # exit status that glibc ends with where a thread-local variable finds no memory
_PARENT_DEATH_SIGNAL = 1  # of prctl(2): it reaches compiled code, too
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_lifeline = functools.cache(os.pipe)  # its writing end is closed with this process


def start(command: Sequence[str], keep: Sequence[int] = (), **options: Any) -> subprocess.Popen:
    """Start a program below a launcher; options are those of ``subprocess.Popen``.

    When this process or the program ends, the program and all its children are killed. ``terminate()`` sends
    SIGTERM, and SIGKILL after :data:`GRACE` seconds. Ctrl-C in the terminal does not reach the program. It
    inherits the descriptors in ``keep``.
    """
    import subprocess

    reading, _ = _lifeline()
    launcher = [sys.executable, "-I", "-S", __file__, str(reading), *command]
    return subprocess.Popen(launcher, start_new_session=True, pass_fds=(reading, *keep), **options)


def watch(descriptor: int, action: Callable[[], None]) -> None:
    """Call a function in a new thread when the other end of a pipe is closed."""

    def wait() -> None:
        os.read(descriptor, 1)
        action()

    threading.Thread(target=wait, daemon=True).start()


def in_order(
    submit: Callable[[T], Future[Result]], items: Iterable[T], max_ahead: int
) -> Iterator[tuple[T, Result]]:
    """Yield each item with the result of its future, in order; submit ``max_ahead`` items ahead."""
    waiting: deque[tuple[T, Future[Result]]] = deque()
    for item in items:
        waiting.append((item, submit(item)))
        if len(waiting) > max_ahead:
            earlier, future = waiting.popleft()
            yield earlier, future.result()
    for item, future in waiting:
        yield item, future.result()


def in_processes(work: Callable[[T], Result], items: Iterable[T], workers: int) -> Iterator[tuple[T, Result]]:
    """Yield each item with ``work(item)``, in the order of the items; work, items and results are pickled.

    With 0 workers this process does the work. Workers are spawned, and their log records are forwarded. When
    the caller stops early, unfinished work is given up at once.
    """
    if not workers:
        yield from ((item, work(item)) for item in items)
        return
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor  # slow to import
    from multiprocessing import get_context

    from preorder.errors import UsageError
    from preorder.progress import LOGGER

    context = get_context("spawn")
    ended, end = context.Pipe(duplex=False)
    logged, log = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _begin_worker, (ended, log, LOGGER.getEffectiveLevel()))
    relay = threading.Thread(target=_relay_logs, args=(logged, LOGGER))
    relay.start()

    try:
        yield from in_order(lambda item: pool.submit(work, item), items, MAX_AHEAD * workers)
        pool.shutdown()  # once the workers have logged all
    except BrokenProcessPool:
        reason = "a worker process died, for lack of memory perhaps: fewer processes need less"
        raise UsageError(reason) from None
    finally:
        end.close()
        pool.shutdown(cancel_futures=True)
        ended.close()
        log.close()
        relay.join()
        logged.close()


def _begin_worker(ended: Connection, log: Connection, level: int) -> None:
    from preorder.progress import LOGGER

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _is_memory_limited():
        _guard_blas()
    watch(os.dup(ended.fileno()), lambda: os._exit(0))
    LOGGER.addHandler(_PipeHandler(log))
    LOGGER.setLevel(level)
    LOGGER.propagate = False


class _PipeHandler(logging.Handler):
    """Writes each record into a pipe as one line: its level, whether it is to be logged once, its text.

    It needs no lock, which a killed process would keep: writes of at most ``PIPE_BUF`` bytes never mix.
    """

    def __init__(self, log: Connection) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        text = " ".join(record.getMessage().splitlines())
        line = f"{record.levelno} {int(hasattr(record, 'once'))} {text}".encode()
        with contextlib.suppress(OSError):  # that nobody can read it is no reason to stop
            os.write(self._log.fileno(), line[: select.PIPE_BUF - 1] + b"\n")


def _relay_logs(logged: Connection, logger: logging.Logger) -> None:
    known = set()
    with open(logged.fileno(), "rb", closefd=False) as lines:
        for line in lines:
            level, once, text = line.decode(errors="replace").rstrip("\n").split(" ", 2)
            if once == "0" or text not in known:
                logger.log(int(level), text)
            if once == "1":
                known.add(text)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt a block as Ctrl-C does, unless they are ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler in (signal.SIG_DFL, _end_at_once):
            signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_command(module: str) -> int:
    """Import a module and run its ``main``; also during the imports, Ctrl-C says one word."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed: else a file of ours would get its number
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    is_limited = _is_memory_limited()
    if is_limited and hasattr(signal, "sigwaitinfo"):
        _work_in_child()
    if is_limited:
        _guard_blas()
    end_when_interrupted()
    try:
        main = importlib.import_module(module).main
    except ModuleNotFoundError:
        raise
    except Exception:  # of modules in C it may be any
        if not is_limited:
            raise
        return _say_no_memory()
    status = main()
    if is_limited:  # libraries in C++ may fail in their clean-up
        sys.stdout.flush()
        atexit._run_exitfuncs()
        os._exit(status)
    return status


def _is_memory_limited() -> bool:
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _guard_blas() -> None:
    """Let the import of NumPy or SciPy fail where OpenBLAS would ask for memory without end.

    Numba then works without SciPy; code that needs SciPy ends with one line. OpenBLAS gets one thread, since
    each takes memory.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.meta_path.insert(0, _BlasGuard())


class _BlasGuard:
    def find_spec(self, name: str, path: Sequence[str] | None = None, *_: object) -> ModuleSpec | None:
        """Find a library that loads OpenBLAS; raise an ImportError if there is no memory for it."""
        if name == "scipy.special":  # it loads OpenBLAS, too, before it imports scipy.linalg
            importlib.import_module("scipy.linalg")
        if name not in _WITH_BLAS:
            return None
        try:
            mmap.mmap(-1, _BLAS_ROOM).close()
        except OSError:
            from preorder.errors import NO_MEMORY

            raise ImportError(NO_MEMORY) from None
        if (spec := PathFinder.find_spec(name, path)) and spec.loader:
            load = functools.partial(_load_blas, spec.loader.exec_module)
            spec.loader.exec_module = load  # type: ignore[method-assign]  # of this loader alone
        return spec


def _load_blas(load: Callable[[ModuleType], None], module: ModuleType) -> None:
    """Load NumPy or ``scipy.linalg``, and call OpenBLAS once: the first call takes its buffer."""
    load(module)
    getattr(module, "linalg", module).inv([[1.0]])


def _work_in_child() -> None:
    """Return in a child process; the parent waits, ends as the child ends, and reports aborts of libraries.

    With limited memory (``ulimit -v``), compilers and libraries of C++ abort the process.
    """
    child = os.fork()
    if not child:
        import ctypes

        with contextlib.suppress(AttributeError, OSError, TypeError):  # a system without it
            ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        return
    waited = {*_SIGNALS, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        got = signal.sigwaitinfo(waited)
        if got.si_signo != signal.SIGCHLD and got.si_pid:  # the terminal's signals reach the child, too
            os.kill(child, got.si_signo)
    status = os.waitstatus_to_exitcode(ended[1])
    if status == _NO_THREAD_DATA or -status in (signal.SIGABRT, signal.SIGBUS, signal.SIGSEGV):
        from preorder.io.atomic import remove_all_left

        for word in sys.argv[1:]:
            remove_all_left(word)
        status = _say_no_memory()
    _end_as(status)


def _say_no_memory() -> int:
    from preorder.errors import NO_MEMORY

    os.write(2, f"{NO_MEMORY}\n".encode())
    return 2


def _end_as(status: int) -> NoReturn:
    """End with a status, or by a signal, given as a negative status."""
    if status < 0:
        with contextlib.suppress(OSError, ValueError):  # SIGKILL needs no handler
            signal.signal(-status, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        os.kill(os.getpid(), -status)
    os._exit(status)


def end_when_interrupted() -> None:
    """Let Ctrl-C, SIGTERM and SIGHUP end this process with one word and a status.

    Outside of :func:`interruptible` they end it at once; inside, after twice :data:`GRACE` seconds at the
    latest, since Python does not interrupt compiled code.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end_at_once)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)  # it gets the number of each signal at once
    os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))

    def end() -> None:
        while os.read(reading, 1)[0] not in _SIGNALS:
            pass
        time.sleep(2 * GRACE)
        _end_at_once()

    threading.Thread(target=end, daemon=True).start()


def _end_at_once(*_: object) -> None:
    with contextlib.suppress(OSError):  # the terminal is closed, or nobody reads
        os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def _launch(lifeline: str, *command: str) -> None:
    """Run a program in its own process group; end as it ends."""
    os.set_inheritable(int(lifeline), False)
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # until the program can get them
    defaults = (signal.SIGPIPE, signal.SIGXFSZ)  # which Python ignores
    try:
        pid = os.posix_spawnp(command[0], command, os.environ, setpgroup=0, setsigmask=(), setsigdef=defaults)
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")
    kill = functools.partial(_kill_group, pid)

    def end(number: int, _frame: object) -> None:
        os.kill(pid, number)
        signal.alarm(GRACE)

    signal.signal(signal.SIGALRM, lambda *_: kill())
    for number in _SIGNALS:
        signal.signal(number, end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    watch(int(lifeline), kill)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    kill()  # its children
    _end_as(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: all of it has ended
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    _launch(*sys.argv[1:])
