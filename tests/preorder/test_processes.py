"""Work in several processes: its order, its limits, and its end whatever happens."""

import logging
import os
import select
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from preorder.errors import DataError, UsageError
from preorder.processes import in_order, in_processes
from preorder.progress import LOGGER, announce
from tests.support.running import environment, still_running, wait_until

LONG = 600
"""Seconds that no test waits for, however busy the machine is."""


def square(number):
    time.sleep(0.05 * (number % 3 == 0))
    return number * number


def fail(number):
    raise DataError("is bad", "file", number)


def die(number):
    os._exit(1)


def sleep(number):
    if number:
        time.sleep(LONG)
    return number


def test_one_item_ahead_of_the_result_that_is_taken():
    taken = []
    with ThreadPoolExecutor(1) as pool:
        items = (taken.append(i) or i for i in range(10))
        found = in_order(lambda item: pool.submit(abs, -item), items, 1)
        for i in range(9):
            assert next(found) == (i, i)
            assert taken == list(range(i + 2))
        assert list(found) == [(9, 9)]


@pytest.mark.parametrize(("workers", "items"), [(0, 20), (1, 5), (3, 20), (2, 0)])
def test_results_come_in_order(workers, items):
    assert list(in_processes(square, range(items), workers)) == [(i, i * i) for i in range(items)]


@pytest.mark.parametrize(
    ("work", "error", "reason"),
    [
        (fail, DataError, r"^file:[12]: is bad$"),
        (die, UsageError, "a worker process died, for lack of memory perhaps"),
    ],
)
def test_errors_of_workers(work, error, reason):
    with pytest.raises(error, match=reason):
        list(in_processes(work, [1, 2], 2))


def test_giving_up_early():
    results = in_processes(sleep, range(4), 2)
    begin = time.monotonic()
    assert next(results) == (0, 0)
    results.close()
    assert time.monotonic() - begin < LONG / 2


def tell(number):
    announce("wait")
    LOGGER.warning(f"{number}:\nこ{'の' * number}")
    LOGGER.debug("nothing")


def test_what_workers_tell_is_told_here(caplog):
    with caplog.at_level(logging.INFO, "preorder"):
        list(in_processes(tell, range(4), 2))
    assert sorted(caplog.messages) == [*(f"{i}: こ{'の' * i}" for i in range(4)), "wait"]
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_long_messages_of_workers_are_cut_so_that_none_mix(caplog):
    sizes = [5_000 + i for i in range(8)]
    list(in_processes(tell, sizes, 4))
    told = sorted(message for message in caplog.messages if message != "wait")
    assert [message[:5] for message in told] == [f"{size}:" for size in sizes]
    assert all(set(message[6:-1]) == set("この") for message in told)
    assert max(len(message.encode()) for message in told) <= select.PIPE_BUF


SCRIPT = "from tests.preorder import test_processes as t; list(t.in_processes(t.tell_and_sleep, [1], 1))"


def tell_and_sleep(_):
    print("begun", flush=True)
    time.sleep(LONG)


def test_workers_end_with_the_process_that_is_killed(tmp_path):
    command, variables = [sys.executable, "-c", SCRIPT], environment()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=variables, cwd=tmp_path) as process:
        assert process.stdout.readline() == "begun\n"
        process.kill()
        assert process.stdout.read() == ""  # until the worker, too, has closed it
    wait_until(lambda: not still_running(str(tmp_path)), LONG)
