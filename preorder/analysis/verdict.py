"""Is an order worth trying? A verdict by the nearest of the texts on which models were trained.

What an order gains follows from more than how far the two orders are apart: it must be predictable, the words
must be known, and there must be long sentences. So a text is measured in six ways (:class:`Profile`), and the
measured case at the least distance speaks for it; beyond :data:`NEAR` none does.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

from preorder.analysis.results import Table

FEW = 5  # a token seen fewer times in training is rare
MOSTLY = 0.5  # share of sentences in order from which order is no problem
FEWEST = 1000  # pairs; with fewer, links are too few to measure an order, and models learn no words
NEAR = 2.5  # a case at a greater distance says nothing


@dataclass(frozen=True)
class Profile:
    """What ``preorder diagnose`` measures of a text, on lines that its preorderer has not seen."""

    pairs: int
    tau: float  # of the source's order, -1 to 1
    in_order: float  # share of sentences without a reversed pair of tokens
    share_of_the_way: float  # from the source's order to that of the links, predicted
    rare: float  # share of tokens seen fewer than FEW times in the rest of the text: mean of the sides
    length: float  # mean tokens of a sentence: mean of the sides

    def distance(self, other: Profile) -> float:
        """Return the Euclidean distance, each measure in the steps of :data:`MEASURES`."""
        differences = (measure.steps(self, other) for measure in MEASURES)
        return math.sqrt(sum(difference**2 for difference in differences))


@dataclass(frozen=True)
class Measure:
    """A field of :class:`Profile`: its title, how it is shown, and what difference counts as one step."""

    name: str
    title: str
    form: str
    step: float  # where the measure ``is_ratio``: the factor that is one step
    is_ratio: bool = False

    def steps(self, one: Profile, other: Profile) -> float:
        """Return by how many steps two texts differ."""
        first, second = getattr(one, self.name), getattr(other, self.name)
        if self.is_ratio:
            return math.log(max(first, 1) / max(second, 1), self.step)
        return (first - second) / self.step

    def shown(self, profile: Profile) -> str:
        """Return the value as it is printed."""
        return self.form.format(getattr(profile, self.name))


MEASURES = (
    Measure("pairs", "sentence pairs", "{:,}", 4, is_ratio=True),
    Measure("tau", "tau of the source's order", "{:.2f}", 0.15),
    Measure("in_order", "sentences in order", "{:.0%}", 0.15),
    Measure("share_of_the_way", "share of the way predicted", "{:.0%}", 0.2),
    Measure("rare", f"tokens seen fewer than {FEW} times, mean of sides", "{:.1%}", 0.05),
    Measure("length", "tokens a sentence, mean of sides", "{:.1f}", 1.5, is_ratio=True),
)


@dataclass(frozen=True)
class Case:
    """A text on which models were trained without and with a predicted order, and what the order gained."""

    name: str
    profile: Profile
    baseline: float  # BLEU without an order
    gain: float  # in BLEU
    precision: float  # gained in BLEU's precision
    sure: bool  # the gain is significant, p < 0.01, as many cases are compared, and precision does not fall

    @property
    def outcome(self) -> str:
        """What happened, as part of a sentence."""
        gain = f"{self.gain:+.1f} (precision {self.precision:+.1f})"
        if not self.sure:
            gain += ", by length alone" if self.precision < 0 < self.gain else ", not significantly"
        return f"a predicted order changed BLEU by {gain}, from {self.baseline:.1f}"


_CASES = """
case                                          pairs   tau  order    way   rare  length   BLEU   gain  precise
a made-up verb-final language, 6,000 pairs     6000  0.30   0.01   0.96  0.000    17.7   71.0  12.2*      8.5
Python's documentation, En→Ja, 1,000 pairs     1000  0.68   0.23   0.28  0.219    21.1   5.27    0.3      0.5
Python's documentation, En→Ja, 3,000 pairs     3000  0.60   0.22   0.46  0.129    20.7   8.20   0.9*      0.6
Python's documentation, En→Ja, 10,000 pairs    9641  0.57   0.19   0.56  0.076    19.3  16.67   4.7*      3.9
Python's documentation, En→Ja, 41,301 pairs   39814  0.51   0.17   0.60  0.035    19.3  28.79   3.2*      1.2
Python's documentation, Ja→En, 10,000 pairs    9641  0.56   0.18   0.53  0.076    19.2  11.42   3.5*      3.1
Python's documentation, Ja→En, 41,301 pairs   41301  0.54   0.16   0.54  0.032    20.8  24.31    1.8     -0.5
Python's documentation, En→Tr, 1,000 pairs     1000  0.77   0.45  -0.09  0.347    16.3   3.48   -0.3     -0.6
Python's documentation, En→Tr, 3,949 pairs     3949  0.62   0.27   0.51  0.202    16.4   9.28   2.9*      2.0
KFTT, En→Ja, 9,742 pairs                       9742  0.60   0.20   0.35  0.154    23.8    8.1   1.0*      1.0
KFTT, En→Ja, 97,272 pairs                     97272  0.58   0.18   0.41  0.044    23.7   15.6   2.2*      0.9
KFTT, Ja→En, 9,742 pairs                       9742  0.60   0.20   0.26  0.154    23.8    4.9   0.9*      0.8
KFTT, Ja→En, 29,188 pairs                     29188  0.61   0.19   0.26  0.091    23.8    9.2   1.8*      1.2
KFTT, Ja→En, 97,272 pairs                     97272  0.58   0.18   0.31  0.044    23.7   13.1   2.0*      0.8
KFTT, Ja→En, 346,033 pairs, large model      346033  0.60   0.19   0.27  0.019    23.7   21.2    0.2     -1.9
Tanaka corpus (enja), En→Ja                   50000  0.60   0.32   0.69  0.021     9.6   32.6    0.4      0.7
Tanaka corpus (enja), Ja→En                   50000  0.60   0.32   0.62  0.021     9.6   31.5    0.5      0.2
Multi30k, En→De                               29000  0.94   0.75   0.07  0.053    12.7   36.0    0.6      0.9
Multi30k, De→En                               29000  0.94   0.75   0.24  0.053    12.7   38.9    0.8      0.7
"""


def _case(line: str) -> Case:
    name, *cells = re.split("  +", line)
    pairs, *measures, baseline, gain, precision = (float(cell.rstrip("*")) for cell in cells)
    return Case(name, Profile(int(pairs), *measures), baseline, gain, precision, cells[-2].endswith("*"))


CASES = tuple(map(_case, _CASES.splitlines()[2:]))
"""What predicted orders were worth in our own trainings; an asterisk marks gains that are sure."""


def rare_share(sentences: Sequence[Sequence[str]], held: Set[int]) -> float:
    """Return the share of the tokens of held lines that are rare in all others; of no tokens 0."""
    seen = Counter(chain.from_iterable(line for index, line in enumerate(sentences) if index not in held))
    tokens = [token for index in held for token in sentences[index]]
    return sum(seen[token] < FEW for token in tokens) / max(1, len(tokens))


@dataclass(frozen=True)
class Verdict:
    """What the nearest case says of a text."""

    profile: Profile
    nearest: Case
    distance: float

    @classmethod
    def of(cls, profile: Profile, cases: Sequence[Case] = CASES) -> Verdict:
        """Find the nearest case."""
        nearest = min(cases, key=lambda case: profile.distance(case.profile))
        return cls(profile, nearest, profile.distance(nearest.profile))

    @property
    def is_near(self) -> bool:
        """Whether the case says anything of the text."""
        return self.distance <= NEAR

    @property
    def text(self) -> str:
        """The verdict in one or two sentences."""
        if self.profile.pairs < FEWEST:
            most = max(case.gain for case in CASES if case.profile.pairs <= FEWEST)
            gained = f"{FEWEST:,} gained {most:.1f} BLEU at most"
            return f"Too little text: you have {self.profile.pairs:,} pairs, and {gained}."
        share = f"{self.profile.in_order:.0%} of your sentences are in order already"
        there = f"In the nearest case, {self.nearest.name}, {self.nearest.outcome}."
        if self.profile.in_order >= MOSTLY and not (self.is_near and self.nearest.sure):
            return f"Word order is not your problem: {share}." + (f" {there}" if self.is_near else "")
        if not self.is_near:
            return f"No case is near: {share}, and we have measured no text like yours. Try a small model."
        way = f"{self.profile.share_of_the_way:.0%} of the way to the target's order"
        predicted = f"a quick preorderer goes {way}"
        if self.nearest.sure:
            return f"Word order is worth trying: {share}, and {predicted}. {there}"
        return f"An order is unlikely to pay: {share}, and {predicted}. {there}"

    def as_json(self) -> dict[str, Any]:
        """Return the objects ``profile``, ``nearest`` and ``verdict`` of ``preorder diagnose --json``."""
        nearest = asdict(self.nearest) | {"distance": self.distance, "is_near": self.is_near}
        return {"profile": asdict(self.profile), "nearest": nearest, "verdict": self.text}

    def table(self) -> Table:
        """Return the measures of the text beside those of the nearest case."""
        rows = tuple(
            (measure.title, measure.shown(self.profile), measure.shown(self.nearest.profile))
            for measure in MEASURES
        )
        columns = ("measure", "your text", f"nearest case: {self.nearest.name}")
        return Table("What decides whether an order pays", columns, rows)


CASE_COLUMNS = (
    "case",
    "distance",
    *(one.title for one in MEASURES),
    "BLEU without",
    "gained",
    "precision gained",
)


def cases_table(profile: Profile, cases: Sequence[Case] = CASES) -> Table:
    """Return all cases, the nearest first; an asterisk marks significant gains."""
    rows = tuple(
        (
            case.name,
            f"{profile.distance(case.profile):.1f}",
            *(measure.shown(case.profile) for measure in MEASURES),
            f"{case.baseline:.1f}",
            f"{case.gain:+.1f}" + "*" * case.sure,
            f"{case.precision:+.1f}",
        )
        for case in sorted(cases, key=lambda case: profile.distance(case.profile))
    )
    return Table("Measured cases", CASE_COLUMNS, rows)
