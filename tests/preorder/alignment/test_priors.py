"""Priors beside those that eflomal's own program makes of the same links."""

import random
import subprocess
import sysconfig
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from preorder.alignment.eflomal import MAX_FERTILITY, Priors, Side
from preorder.alignment.links import Links

RANDOM = random.Random(1)
SOURCES = [RANDOM.choices("abcdef", k=RANDOM.randint(0, 9)) for _ in range(200)]
TARGETS = [RANDOM.choices("UVWXYZ", k=RANDOM.randint(0, 12)) for _ in range(200)]


def drawn(is_reverse):
    """Draw links as eflomal does: each target token has one at most, or in reverse each source token."""
    found = []
    for pair in zip(SOURCES, TARGETS, strict=True):
        one, other = map(len, pair[::-1] if is_reverse else pair)
        links = [(RANDOM.randrange(one), j) for j in range(other) if one and RANDOM.random() < 0.6]
        found.append([link[::-1] if is_reverse else link for link in links])
    return found


def arrays(links):
    flat = np.array([link for each in links for link in each], np.int16).reshape(-1, 2)
    return Links(np.cumsum([0, *map(len, links)]), flat[:, 0], flat[:, 1])


def made_by_eflomal(folder, links):
    """Return the counts of ``eflomal-makepriors``: kind → words or numbers → count."""
    lines = {
        "source": map(" ".join, SOURCES),
        "target": map(" ".join, TARGETS),
        "links": (" ".join(f"{i}-{j}" for i, j in each) for each in links),
    }
    for name, each in lines.items():
        (folder / name).write_text("".join(f"{line}\n" for line in each))
    program = Path(sysconfig.get_path("scripts"), "eflomal-makepriors")
    command = [program, "-s", "source", "-t", "target", "-f", "links", "-r", "links", "-p", "priors"]
    subprocess.run(command, cwd=folder, check=True)
    counts = {}
    for line in (folder / "priors").read_text().splitlines():
        kind, *key, count = line.split("\t")
        counts.setdefault(kind, Counter())[tuple(key)] += float(count)
    return counts


def capped(fertilities):
    """Return counts of fertilities, the greatest together, and without those of tokens without a link."""
    found = Counter()
    for (word, links), count in fertilities.items():
        if int(links):
            found[word, str(min(int(links), MAX_FERTILITY))] += count
    return found


def read(lines, is_reverse):
    """Return the same counts of a file that eflomal itself reads, and the sizes in its first line."""
    sizes, *rows = (line.split() for line in lines)
    names = [["NULL", *Side.of(side).vocabulary] for side in (SOURCES, TARGETS)]
    lexicon, forward, reverse, fertile, fertile_reverse = map(int, sizes[2:])
    assert len(rows) == lexicon + forward + reverse + fertile + fertile_reverse
    assert (forward == fertile == 0) if is_reverse else (reverse == fertile_reverse == 0)
    jumps = lexicon + forward + reverse
    return {
        "LEX": Counter({(names[0][int(e)], names[1][int(f)]): float(n) for e, f, n in rows[:lexicon]}),
        "HMM": Counter({(jump,): float(n) for jump, n in rows[lexicon:jumps]}),
        "FER": Counter({(names[is_reverse][int(e)], k): float(n) for e, k, n in rows[jumps:]}),
    }


@pytest.mark.parametrize("is_reverse", [False, True])
def test_the_counts_are_those_of_eflomal(tmp_path, is_reverse):
    links = drawn(is_reverse)
    sides = Side.of(SOURCES), Side.of(TARGETS)
    found = read(Priors.learn(sides, [arrays(links)], is_reverse).lines(sides, is_reverse), is_reverse)
    expected = made_by_eflomal(tmp_path, links)
    way = "R" if is_reverse else "F"
    assert found["LEX"] == expected["LEX"]
    jumps = expected[f"HMM{way}"]  # of pairs without a link, too, which eflomal's own counts leave out
    jumps.subtract(
        (str(len(pair[is_reverse]) + 1),)
        for pair, each in zip(zip(SOURCES, TARGETS, strict=True), links, strict=True)
        if not each
    )
    assert found["HMM"] == +jumps
    assert capped(found["FER"]) == capped(expected[f"FER{way}"])
    words = Counter()  # each token of a pair that has both sides has one fertility, also without a link
    for (word, _), count in found["FER"].items():
        words[word] += count
    pairs = [pair for pair in zip(SOURCES, TARGETS, strict=True) if all(pair)]
    assert words == Counter(word for pair in pairs for word in pair[is_reverse])


def test_several_samplers_count_by_their_share():
    sides = Side.of(SOURCES), Side.of(TARGETS)
    draws = [drawn(False), drawn(False)]
    both = read(Priors.learn(sides, list(map(arrays, draws)), False).lines(sides, False), False)
    each = [read(Priors.learn(sides, [arrays(draw)], False).lines(sides, False), False) for draw in draws]
    for kind, counts in both.items():
        total = each[0][kind] + each[1][kind]
        assert counts == Counter({key: count / 2 for key, count in total.items()})


def test_words_have_other_numbers_in_another_text():
    sides = Side.of([["a", "b"], ["c"]]), Side.of([["A", "B"], ["C"]])
    links = arrays([[(0, 0), (1, 1)], [(0, 0)]])
    others = Side.of([["c", "x", "a"]]), Side.of([["x", "C", "B"]])
    assert list(Priors.learn(sides, [links], False).lines(others, False)) == [
        "4 4 1 1 0 2 0",  # words and none; of the pairs a A, b B and c C only the last
        "1 2 1",
        "1 5",
        "3 1 1",
        "1 1 1",
    ]
    assert list(Priors.learn(sides, [links], True).lines(others, True)) == [
        "4 4 1 0 1 0 2",
        "1 2 1",
        "1 5",
        "3 1 1",
        "2 1 1",
    ]
    nothing = Priors.learn((Side.of([[], ["a"]]), Side.of([["A"], []])), [arrays([[], []])], False)
    assert list(nothing.lines(others, False)) == ["4 4 0 0 0 0 0"]
