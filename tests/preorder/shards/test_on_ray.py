"""Shards on a real Ray of two nodes: what dies is done again, what is wrong is told in a line."""

import contextlib
import logging
import threading
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("ray") is None:
    pytest.skip("Ray is not installed: pip install -e '.[ray]'", allow_module_level=True)


from preorder.data.errors import UsageError
from preorder.shards.on_ray import engine
from preorder.shards.on_ray.connection import connected, load_ray
from preorder.shards.on_ray.options import RayOptions
from preorder.shards.on_ray.room import Needs
from preorder.shards.run import ShardsError, run_shards
from tests.support import ray_work
from tests.support.running import wait_until

ray = load_ray()
SMALL = {"include_dashboard": False, "object_store_memory": 80 * 2**20}
SOON = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 200, "health_check_timeout_ms": 1000}


@pytest.fixture(scope="module")
def cluster():
    """Two nodes, to which this process is connected."""
    with pytest.MonkeyPatch.context() as patch:
        from ray.cluster_utils import Cluster

        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        cluster = Cluster(True, head_node_args={"num_cpus": 1, "_system_config": SOON, **SMALL})
        cluster.second = cluster.add_node(num_cpus=1, **SMALL)
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture
def do(cluster, tmp_path, monkeypatch):
    """Give a function that does shards of these names."""
    monkeypatch.setattr(engine, "LOOK", 0.2)

    def do(*names, facts=ray_work.same, **options):
        on_ray = partial(engine.on_ray, RayOptions(**options), facts)
        run_shards(ray_work.shards(tmp_path, *names), ray_work.work, on_ray, lambda shard: False)

    return do


def written(folder):
    return {path.name for path in folder.iterdir() if "." not in path.name}


def begun(folder, name=""):
    return [*folder.glob(f"{name}*.begun-*")]


def test_dead_workers_and_bad_shards(do, tmp_path, caplog):
    names = "dies", "1", "once-a", "bad", "warns-a", "2", "warns-b", "once-b", "3", "4"
    with (
        caplog.at_level(logging.INFO, "preorder"),
        pytest.raises(ShardsError, match=r"^2 of 10 shards failed; the others are there$"),
    ):
        do(*names, tries=2)
    assert written(tmp_path) == {*names} - {"dies", "bad"}
    assert [len(begun(tmp_path, name)) for name in ("dies", "once-a", "once-b", "bad", "1")] == [
        2,
        2,
        2,
        1,
        1,
    ]
    assert sum("a worker has died" in message for message in caplog.messages) == 4
    assert sum("is odd" in message for message in caplog.messages) == 1
    assert {"in/warns-a is short", "in/warns-b is short"} < {*caplog.messages}
    *_, counts, first, second = caplog.messages
    assert counts.startswith("10 of 10 shards, 16 lines, ")
    assert first == "in/dies: given up after 2 tries: each time the worker died, for lack of memory perhaps"
    assert second == "in/bad:7: is bad"


@pytest.mark.parametrize(("name", "reason"), [("diverged", "^weights are not"), ("full", "No space left")])
def test_other_errors_end_the_run(do, name, reason):
    with pytest.raises((UsageError, OSError), match=reason):
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


@pytest.mark.parametrize(("needs", "address"), [(Needs(2), None), (Needs(1, 0.5), "there")], ids=str)
def test_no_room(do, monkeypatch, needs, address):
    """No machine is large enough: on a cluster, one may come yet."""
    monkeypatch.setattr(engine, "connected", lambda *_: contextlib.nullcontext(ray))
    reason = rf"^no worker on Ray in \d seconds: each needs {needs}; of 2 machines none has more than 1 CPU"
    with pytest.raises(UsageError, match=reason):
        do("1", needs=needs, address=address, patience=60 if address is None else 0.5)


def test_no_cluster(cluster):
    with pytest.raises(UsageError, match="^Ray at nonsense cannot be used: "), connected("nonsense", 0):
        raise AssertionError


def test_a_node_is_killed(cluster, do, tmp_path, caplog):
    """While shards are done on both nodes; those of the killed one are done on the other."""
    names = [f"waits-{number}" for number in range(6)]
    lost = cluster.second.node_id

    def kill():
        wait_until(lambda: len(begun(tmp_path)) == 2, 60)
        (process,) = (path.name.split("-")[-1] for path in begun(tmp_path) if lost in path.name)
        cluster.remove_node(cluster.second, allow_graceful=False)
        wait_until(lambda: not Path("/proc", process).exists())  # a worker ends soon after its node
        (tmp_path / "go").touch()

    thread = threading.Thread(target=kill)
    thread.start()
    with caplog.at_level(logging.INFO, "preorder"):
        do(*names)
    thread.join()
    assert written(tmp_path) == {*names, "go"}
    (again,) = (path.name.split(".")[0] for path in begun(tmp_path) if lost in path.name)
    assert len(begun(tmp_path, again)) == 2
    assert caplog.messages[-1].startswith("6 of 6 shards, 12 lines, ")
