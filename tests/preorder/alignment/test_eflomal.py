"""Alignment through the real eflomal."""

import random

import pytest

from preorder.alignment import eflomal as module
from preorder.alignment.eflomal import align, sample
from preorder.errors import MissingExtraError, UsageError


def bitext(size=300):
    """Sentences and their word-by-word translations in the opposite order."""
    generator = random.Random(0)
    words = [f"w{i}" for i in range(30)]
    sources = [generator.sample(words, generator.randint(2, 8)) for _ in range(size)]
    return sources, [[word.upper() for word in reversed(source)] for source in sources]


def test_either_direction_and_both():
    """Forward links give a target token one source token at most, reverse ones a source token one target."""
    sources, _ = bitext(60)
    names = ("forward", "reverse", "intersect", "union")
    found = [align(sources, sources[::-1], name, seed=5) for name in names]
    for forward, reverse, both, either in zip(*([one.links for one in each] for each in found), strict=True):
        assert len({target for _, target in forward}) == len(forward)
        assert len({source for source, _ in reverse}) == len(reverse)
        assert (both, either) == (forward & reverse, forward | reverse)


def test_the_seed_decides_what_the_text_does_not():
    sources, _ = bitext()
    unrelated = sources[::-1]
    first, again, other = (list(align(sources, unrelated, "union", seed)) for seed in (5, 5, 6))
    assert first == again != other


def test_each_sampler_has_a_seed_of_its_own():
    """Also beside those of the next seed."""
    sources, _ = bitext(100)

    def drawn(seed):
        ways = [links for draw in sample(sources, sources[::-1], 2, seed).draws for links in draw]
        return [(links.sources.tolist(), links.targets.tolist()) for links in ways]

    first = drawn(5)
    assert drawn(5) == first
    every = first + drawn(6)
    assert not any(one in every[:number] for number, one in enumerate(every))


def test_empty_and_overlong_sentences_keep_their_lines(caplog):
    sources, targets = bitext(20)
    sources[3], targets[5] = [], []
    sources[7] = ["w1"] * (module.MAX_ALIGNED + 1)
    sources[9] = ["w1"] * (module.MAX_ALIGNED - len(sources[9])) + sources[9]
    alignments = list(align(sources, targets, "union", seed=1))
    assert len(alignments) == 20
    assert not any(alignments[line].links for line in (3, 5, 7))
    assert (module.MAX_ALIGNED - 1, 0) in alignments[9].links
    assert not sample(sources, targets, 1, 1).shares(7).size
    assert "1 line of more than 1,023 tokens have no links" in caplog.text


def test_missing_eflomal_names_the_extra(monkeypatch):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="eflomal is not installed: pip install 'eflomal"):
        list(align([["a"]], [["b"]], "intersect", seed=1))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no random device here", "cannot be seeded"),
        (
            b"#!/bin/sh\necho 'out of luck' >&2\nexit 3\n# /dev/urandom\0",
            r"eflomal failed \(3\): out of luck",
        ),
    ],
)
def test_an_eflomal_that_does_not_work(monkeypatch, tmp_path, content, message):
    (tmp_path / "eflomal").write_bytes(content)
    monkeypatch.setattr(module, "_find_eflomal", lambda: tmp_path / "eflomal")
    with pytest.raises(UsageError, match=message):
        list(align([["a"]], [["b"]], "intersect", seed=1))


def test_eflomal_is_run_with_its_own_defaults(monkeypatch, tmp_path):
    """5,000 / √100 iterations and three chains, of samplers one, each by one thread."""
    script = f"#!/bin/sh\necho $OMP_NUM_THREADS: $@ >> {tmp_path}/asked\n"
    script += "yes '' | head -n 100 | tee links-f > links-r\nexit\n# /dev/urandom\0"
    (tmp_path / "eflomal").write_text(script)
    monkeypatch.setattr(module, "_find_eflomal", lambda: tmp_path / "eflomal")
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    text, iterations = [["a"]] * 100, "-1 125 -2 125 -3 500"
    list(align(text, text, "reverse", 1, threads=1))
    sample(text, text, 1, 1, threads=1)
    expected = [
        f"1: -q -m 3 -s ../source -t ../target -N 0.2 -n {chains} {iterations} {way} links{way}"
        for chains, way in ((3, "-r"), (1, "-f"), (1, "-r"))
    ]
    assert (tmp_path / "asked").read_text().splitlines() == expected
