"""How many workers a cluster has room for: Ray waits for ever, and says nothing, where more are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_ROUNDING = 1e-6
"""Ray counts in shares of 1/10,000, as floating point."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What one worker needs of the machine that it runs on: processor cores, and a share of a GPU or none."""

    cpus: int = 1
    gpus: float = 0.0

    def amounts(self) -> dict[str, float]:
        """Return Ray's name of each resource that is needed, and how much."""
        return {name: amount for name, amount in (("CPU", self.cpus), ("GPU", self.gpus)) if amount}

    def __str__(self) -> str:
        return _shown(self.amounts())


def room_for(needs: Needs, machines: Sequence[Mapping[str, float]], free: Mapping[str, float]) -> int:
    """Return how many more workers a cluster has room for.

    Args:
        needs: of each worker, all on one machine.
        machines: what each machine has in all, by Ray's names of resources.
        free: what is free of the whole cluster; Ray does not say on which machines.
    """
    return min(sum(fitting(needs, machine) for machine in machines), fitting(needs, free))


def fitting(needs: Needs, resources: Mapping[str, float]) -> int:
    """Return how many workers resources would do for, if they were all on one machine."""
    return min(int(resources.get(name, 0) / amount + _ROUNDING) for name, amount in needs.amounts().items())


def describe(needs: Needs, machines: Sequence[Mapping[str, float]], free: Mapping[str, float]) -> str:
    """Return what a worker needs, and what there is of it, for a message."""
    names = needs.amounts()
    most = {name: max((machine.get(name, 0) for machine in machines), default=0) for name in names}
    left = {name: free.get(name, 0) for name in names}
    return f"each needs {needs}; the largest machine has {_shown(most)}, and {_shown(left)} are free in all"


def _shown(amounts: Mapping[str, float]) -> str:
    return " and ".join(f"{amount:g} {name}" for name, amount in amounts.items())
