"""How a Ray cluster is used."""

from __future__ import annotations

from dataclasses import dataclass

from preorder.shards.on_ray.room import Needs

GPU_SHARE = 0.25
"""Share of a GPU that a worker takes where it needs one: Stanza's models and a batch need some 4 GB."""


ONE_CORE = Needs()


@dataclass(frozen=True, slots=True)
class RayOptions:
    """How to use a cluster.

    Attributes:
        address: ``auto`` or ``HOST:PORT``; None: a Ray of this machine alone.
        needs: of a worker.
        tries: how often a shard is begun whose workers die.
        patience: seconds without any worker after which the run is given up.
    """

    address: str | None = None
    needs: Needs = ONE_CORE
    tries: int = 3
    patience: float = 60.0


DEFAULTS = RayOptions()
