"""Shards on a real Ray of two nodes: what dies is done again, what is wrong is told in a line."""

import contextlib
import gzip
import logging
import os
import subprocess
import sys
import tempfile
import threading
from functools import partial
from glob import glob
from importlib.util import find_spec
from subprocess import PIPE

import pytest

if find_spec("ray") is None:
    pytest.skip("Ray is not installed: pip install -e '.[ray]'", allow_module_level=True)

from preorder.cli import main
from preorder.errors import NotFiniteError, UsageError
from preorder.shards import on_ray as engine
from preorder.shards.jobs import ShardsError, run_shards
from preorder.shards.on_ray import RayOptions, connected, load_ray
from tests.support import ray_work
from tests.support.running import environment, still_running, wait_until
from tests.support.tiny_model import train_tiny

pytestmark = pytest.mark.slow  # Ray takes its time to start

ray = load_ray()
SMALL = {"include_dashboard": False, "object_store_memory": 80 * 2**20}
SOON = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 200, "health_check_timeout_ms": 1000}


@pytest.fixture(scope="module")
def cluster():
    """Two nodes, to which this process is connected."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="ray-") as folder:
        from ray.cluster_utils import Cluster

        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_TMPDIR", folder)  # short: Ray puts sockets there
        cluster = Cluster(True, head_node_args={"num_cpus": 1, "_system_config": SOON, **SMALL})
        cluster.add_node(num_cpus=1, **SMALL)
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture
def do(cluster, tmp_path, monkeypatch):
    """Give a function that does shards of these names."""
    monkeypatch.setattr(engine, "LOOK", 0.2)
    monkeypatch.setattr(engine, "connected", lambda *_: contextlib.nullcontext(ray))

    def do(*names, facts=ray_work.same, **options):
        on_ray = partial(engine.on_ray, RayOptions(**options), facts)
        run_shards(ray_work.shards(tmp_path, *names), ray_work.work, on_ray, lambda shard: False)

    return do


def test_dead_workers_and_bad_shards(do, tmp_path, caplog, capfd):
    names = "dies", "1", "once-a", "bad", "warns-a", "2", "warns-b", "once-b", "3", "4"
    with (
        caplog.at_level(logging.INFO, "preorder"),
        pytest.raises(ShardsError, match=r"^2 of 10 shards failed; the others are there$"),
    ):
        do(*names, tries=2)
    assert {path.name for path in tmp_path.iterdir() if "." not in path.name} == {*names} - {"dies", "bad"}
    begun = {name: len([*tmp_path.glob(f"{name}*.begun-*")]) for name in names[:4]}
    assert begun == {"dies": 2, "1": 1, "once-a": 2, "bad": 1}
    assert sum("a worker has died" in message for message in caplog.messages) == 4
    assert caplog.messages.count("this takes a while") == 1
    assert sum("is odd" in message for message in caplog.messages) == 1
    assert {"in/warns-a is short", "in/warns-b is short"} < {*caplog.messages}
    *_, first, second = caplog.messages
    assert first == "in/dies: given up after 2 tries: each time the worker died, for lack of memory perhaps"
    assert second == "in/bad:7: is bad"
    assert "raylet" not in capfd.readouterr().out  # what Ray would print of each death


@pytest.mark.parametrize(("name", "reason"), [("diverged", "^weights are not"), ("full", "No space left")])
def test_other_errors_end_the_run(do, name, reason):
    with pytest.raises((NotFiniteError, OSError), match=reason):
        do(name, "waits")


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (ray_work.process, "has another process than here$"),
        (ray_work.OnlyAt(), r": out/.preorder.json: cannot be read: No such file .* this command has$"),
        (threading.active_count, "'int' object is not iterable"),
    ],
)
def test_machines_that_differ(do, facts, reason):
    with pytest.raises(UsageError, match=reason):
        do("1", facts=facts)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"cpus": 2}, "this machine has no room for a worker: each needs 2 CPU"),
        ({"gpus": 0.5, "address": "there", "patience": 0.5}, "no worker on Ray for 0.5 seconds"),
    ],
)
def test_no_room(do, options, reason):
    """No machine is large enough: on a cluster, one may come yet."""
    with pytest.raises(UsageError, match=f"^{reason}.*; the largest machine has 1 CPU.*, and "):
        do("1", **options)


@pytest.mark.parametrize(
    ("address", "reason"), [("127.0.0.1:1", ".*refused"), ("nonsense", "Invalid address"), (None, "twice")]
)
def test_no_cluster(cluster, address, reason):
    """The last is the cluster itself: nobody connects to two."""
    where = address or cluster.address
    with pytest.raises(UsageError, match=f"^Ray at {where} cannot be used: .*{reason}"), connected(where, 0):
        raise AssertionError


def test_a_command_on_the_cluster(cluster, tmp_path, monkeypatch):
    """It is stopped while a shard waits for its tags; what is left is done without Ray, to the same bytes."""
    monkeypatch.chdir(tmp_path)
    for name in "abc":
        for folder, text in (("in", f"{name}1 2\n3\n"), ("tags", "X Y\nZ\n")):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / name).write_text(text)
    options = ["annotate", "--src", "in/*", "--pos", "tags/*", "--out-dir"]
    assert main([*options, "alone"]) == 0
    (tmp_path / "tags/b").unlink()
    os.mkfifo(tmp_path / "tags/b")
    command = [*options, "out", "--engine", "ray", "--address", cluster.address]
    pipes = {"stdout": PIPE, "stderr": PIPE, "text": True, "env": environment()}
    process = subprocess.Popen([sys.executable, "-m", "preorder", *command], **pipes)
    wait_until(lambda: {"a", "c"} <= {path.name for path in tmp_path.glob("out/[abc]")}, 60)
    process.terminate()
    assert process.communicate() == ("", "interrupted\n")
    assert process.returncode == 130
    (tmp_path / "tags/b").unlink()
    (tmp_path / "tags/b").write_text("X Y\nZ\n")
    assert main([*options, "out"]) == 0
    for name in (".preorder.json", *"abc"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()


def test_a_ray_of_our_own(tmp_path, monkeypatch):
    """It is started and stopped, leaves nothing behind, and writes what one process writes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAY_TMPDIR", raising=False)
    (tmp_path / "in").mkdir()
    for name in range(5):
        (tmp_path / "in" / f"{name}.gz").write_bytes(gzip.compress(f"S{name} V2 O3\n".encode() * (name + 1)))
    (tmp_path / "in/bad.gz").write_bytes(b"no gzip")
    train_tiny(tmp_path, classes=3)
    (tmp_path / "home").mkdir()
    apply = ["apply", "-q", "--model", "model", "--src", "in/*"]
    assert main([*apply, "--out-dir", "alone"]) == 2
    command = [sys.executable, "-m", "preorder", *apply, "--out-dir", "out", "--engine", "ray"]
    folder = f"{tempfile.gettempdir()}/preorder-ray-"
    before = {*glob(f"{folder}*")}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment(HOME=str(tmp_path / "home")), check=False
    )
    first, second, last = done.stderr.splitlines()
    assert first.startswith("left out: in/bad.gz:1: damaged gzip data: ")
    assert (f"left out: {second}", last) == (first, "1 of 6 shards failed; the others are there")
    assert (done.returncode, done.stdout) == (2, "")
    for path in (tmp_path / "alone").iterdir():
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()
    assert len([*tmp_path.glob("out/*.gz")]) == 5
    assert not [*(tmp_path / "home").iterdir()]
    assert {*glob(f"{folder}*")} == before
    wait_until(lambda: not [line for line in still_running(folder) if not any(map(line.count, before))])
