"""Compare with sacrebleu: counting statistics of translations, and testing systems for significance.

``python -m benchmarks.significance``: 5 made-up systems, 3,000 sentences, 1,000 resamples.
Testing begins with statistics that are counted already, in both. We test every pair of
systems, by bootstrap and sign test; sacrebleu tests each system against the first, by paired
bootstrap. Medians of processor times, measured in turns.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import PairedTest

from benchmarks.process import medians, seconds
from preorder.cli.table import print_table
from preorder.metrics.metric import DEFAULTS, METRICS
from preorder.metrics.scoring import SystemStatistics, measure_translations, score_systems
from preorder.metrics.translation import METRIC_CLASSES

THEIRS = {"bleu": BLEU, "chrf": CHRF, "ter": TER}
VOCABULARY = 2000
LENGTHS = range(5, 41)
SPOILT = 0.3  # share of every system's words


def made_up(sentences: int, systems: int) -> tuple[list[str], dict[str, list[str]]]:
    """Return a reference, and systems in which some of its words are replaced or missing."""
    generator = random.Random(1)
    words = [f"w{k}" for k in range(VOCABULARY)]
    often = list(accumulate(1 / (k + 1) for k in range(VOCABULARY)))  # Zipf's law

    def draw(number: int) -> list[str]:
        return generator.choices(words, cum_weights=often, k=number)

    reference = [draw(generator.choice(LENGTHS)) for _ in range(sentences)]

    def spoilt(line: Sequence[str]) -> str:
        return " ".join(
            generator.choice([*draw(1), ""]) if generator.random() < SPOILT else word for word in line
        )

    texts = {f"system {k}": list(map(spoilt, reference)) for k in range(systems)}
    return list(map(" ".join, reference)), texts


class Bench:
    """A reference and systems, and functions that count and test them, ours and sacrebleu's."""

    def __init__(self, sentences: int, systems: int, resamples: int) -> None:
        """Make up the texts."""
        self._reference, self._texts = made_up(sentences, systems)
        self._first = next(iter(self._texts.values()))
        self._resamples = resamples

    def counting(self, name: str) -> list[Callable[[], Any]]:
        """Return functions that count a system's statistics: ours, and sacrebleu's if it has the metric."""
        ways = [lambda: METRIC_CLASSES[name]([self._reference], DEFAULTS).statistics(self._first)]
        if name in THEIRS:
            metric = THEIRS[name]
            ways.append(lambda: metric().corpus_score(self._first, [self._reference]))
        return ways

    def testing(self, names: Sequence[str]) -> list[Callable[[], Any]]:
        """Return functions that test all systems: ours, and sacrebleu's of a single metric that it has."""
        systems = {name: [text] for name, text in self._texts.items()}
        counted = measure_translations([self._reference], systems, names)
        ways = [lambda: score_systems(counted, resamples=self._resamples)]
        if len(names) == 1 and names[0] in THEIRS:
            ways.append(self._theirs(THEIRS[names[0]](), counted[0]))
        return ways

    def _theirs(self, metric: Metric, counted: SystemStatistics) -> Callable[[], Any]:
        """Return sacrebleu's test with the same statistics: of TER, the edits of all kinds together."""
        ter = isinstance(metric, TER)
        known = {
            id(self._texts[name]): np.column_stack((rows[:, :4].sum(1), rows[:, 4])).tolist()
            if ter
            else rows.tolist()
            for name, [rows] in counted.systems.items()
        }
        metric._extract_corpus_statistics = lambda text, _: known[id(text)]
        metric.num_refs = 1
        systems = list(self._texts.items())
        return lambda: PairedTest(systems, {"": metric}, None, "bs", self._resamples)()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, number in (("sentences", 3000), ("systems", 5), ("resamples", 1000), ("repeat", 3)):
        parser.add_argument(f"--{name}", type=int, default=number, help="(default: %(default)s)")
    options = parser.parse_args(arguments)
    bench = Bench(options.sentences, options.systems, options.resamples)
    bench.testing(METRICS)[0]()  # compiles
    rows = [
        *(_row(f"counting a system: {name}", bench.counting(name), options.repeat) for name in METRICS),
        *(_row(f"testing: {name}", bench.testing([name]), options.repeat) for name in METRICS),
        _row("testing: all of them", bench.testing(METRICS), options.repeat),
    ]
    print_table(None, ("", "ours, s", "sacrebleu, s", "ratio"), rows)


def _row(title: str, ways: Sequence[Callable[[], Any]], repeat: int) -> list[str]:
    ours, *theirs = medians([partial(seconds, way) for way in ways], repeat)
    return [title, f"{ours:.3f}", *([f"{theirs[0]:.3f}", f"{theirs[0] / ours:.1f}×"] if theirs else "––")]


if __name__ == "__main__":
    main()
