"""Which of how many steps a run is at, and how long the rest may take."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from recipes.stamps import Step


@dataclass
class _Running:
    """A step that runs: since when, and the first and the last (time, share of its work) that it told."""

    begin: float
    first: tuple[float, float] | None = None
    last: tuple[float, float] | None = None

    @property
    def pace(self) -> float | None:
        """The seconds that the whole step takes at its present speed, or None before it is known."""
        if self.first is None or self.last is None or self.last[1] <= self.first[1]:
            return None
        return (self.last[0] - self.first[0]) / (self.last[1] - self.first[1])


class Progress:
    """Counts steps and estimates their time from those of the same kind: what stands before ``/`` in a name.

    All times are in seconds, ``now`` on any clock that does not go back.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._expected: dict[str, Step] = {}
        self._running: dict[str, _Running] = {}
        self._done: dict[str, float] = {}

    def expect(self, steps: Iterable[Step]) -> None:
        """Take up steps that will be run."""
        self._expected |= {step.name: step for step in steps}

    def begin(self, step: Step, now: float) -> None:
        """Note that a step begins."""
        self._running[step.name] = _Running(now)

    def reach(self, step: Step, share: float, now: float) -> None:
        """Note how much of a running step is done, 0 to 1."""
        running = self._running[step.name]
        running.first = running.first or (now, share)
        running.last = (now, share)

    def end(self, step: Step, seconds: float) -> None:
        """Note that a step is done, now or in an earlier run, and how long it took."""
        self._running.pop(step.name, None)
        self._done[step.name] = seconds

    @property
    def place(self) -> str:
        """``step 3 of 20: `` where all steps are known, else nothing."""
        begun = sum(name in self._done or name in self._running for name in self._expected)
        return f"step {begun} of {len(self._expected)}: " if begun else ""

    def left(self, now: float) -> str:
        """Return how long the rest takes, as text; nothing as long as the long steps cannot be foretold.

        ``at least`` stands before it where short steps of some kind are still unknown.
        """
        rest, is_all_known = [], True
        for step in self._expected.values():
            if step.name in self._done:
                continue
            seconds = self._rest(step, now)
            if seconds is None and step.share is not None:
                return ""
            is_all_known &= seconds is not None
            rest.append(seconds or 0.0)
        whole = max([sum(rest) / self._jobs, *rest])
        return f"{'about' if is_all_known else 'at least'} {duration(whole)} left" if whole >= 1 else ""

    def _rest(self, step: Step, now: float) -> float | None:
        running = self._running.get(step.name)
        if running is not None and running.last is not None and running.pace is not None:
            time, share = running.last
            return max(0.0, (1 - share) * running.pace - (now - time))
        whole = self._usual(step.name.partition("/")[0])
        if whole is None or running is None:
            return whole
        return max(0.0, whole - (now - running.begin))

    def _usual(self, kind: str) -> float | None:
        """Return the mean time of the steps of a kind; of those that run, where none is done."""
        done = [seconds for name, seconds in self._done.items() if name.partition("/")[0] == kind]
        paces = (one.pace for name, one in self._running.items() if name.partition("/")[0] == kind)
        found = done or [pace for pace in paces if pace is not None]
        return statistics.fmean(found) if found else None


def duration(seconds: float) -> str:
    """Return a time in seconds, minutes or hours, as people say it."""
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{round(seconds)} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
