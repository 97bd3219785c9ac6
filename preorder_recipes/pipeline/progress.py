"""Which of how many steps a run is at, and how long the rest may take."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from preorder_recipes.pipeline.steps import Step


class Progress:
    """Counts steps and estimates their time from those of the same kind: what stands before ``/`` in a name.

    All times are in seconds, ``now`` on any clock that does not go back.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._expected: dict[str, Step] = {}
        self._begun: dict[str, float] = {}
        self._first: dict[str, tuple[float, float]] = {}  # when a share of a step was first known, and which
        self._running: dict[str, tuple[float, float]] = {}  # by its present speed: end, seconds in all
        self._done: dict[str, float] = {}  # how long it took

    def expect(self, steps: Iterable[Step]) -> None:
        """Take up steps that will be run."""
        self._expected |= {step.name: step for step in steps}

    def begin(self, step: Step, now: float) -> None:
        """Note that a step begins."""
        self._begun[step.name] = now

    def reach(self, step: Step, share: float, now: float) -> None:
        """Note how much of a running step is done, 0 to 1."""
        begin, first = self._first.setdefault(step.name, (now, share))
        if share > first:
            whole = (now - begin) / (share - first)
            self._running[step.name] = now + (1 - share) * whole, whole

    def end(self, step: Step, seconds: float) -> None:
        """Note that a step is done, now or in an earlier run, and how long it took."""
        self._done[step.name] = seconds

    @property
    def place(self) -> str:
        """``step 3 of 20: `` where all steps are known, else nothing."""
        begun = sum(name in self._done or name in self._begun for name in self._expected)
        return f"step {begun} of {len(self._expected)}: " if begun else ""

    def left(self, now: float) -> str:
        """Return how long the rest takes, as text; nothing while the time of a long step is unknown.

        ``at least`` stands before it while the time of short steps of some kind is unknown: then less than a
        minute is nothing to go by.
        """
        rest, is_all_known = [], True
        for step in self._expected.values():
            if step.name in self._done:
                continue
            seconds = self._rest(step.name, now)
            if seconds is None and step.checkpoints:
                return ""
            is_all_known &= seconds is not None
            rest.append(seconds or 0.0)
        whole = max([sum(rest) / self._jobs, *rest])
        if whole < (1 if is_all_known else 60):
            return ""
        return f"{'about' if is_all_known else 'at least'} {duration(whole)} left"

    def _rest(self, name: str, now: float) -> float | None:
        if name in self._running:
            return max(0.0, self._running[name][0] - now)
        whole = {other: seconds for other, (_, seconds) in self._running.items()}
        for known in (self._done, whole):
            alike = [known[other] for other in known if other.partition("/")[0] == name.partition("/")[0]]
            if alike:
                return max(0.0, statistics.fmean(alike) - (now - self._begun.get(name, now)))
        return None


def duration(seconds: float) -> str:
    """Return a time in seconds, minutes or hours, as people say it."""
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{round(seconds)} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
