"""Alignment through the real eflomal."""

import random

import pytest

from preorder.alignment import eflomal as module
from preorder.alignment.eflomal import align
from preorder.errors import MissingExtraError, UsageError


def bitext(size=300):
    """Sentences and their word-by-word translations in the opposite order."""
    generator = random.Random(0)
    words = [f"w{i}" for i in range(30)]
    sources = [generator.sample(words, generator.randint(2, 8)) for _ in range(size)]
    return sources, [[word.upper() for word in reversed(source)] for source in sources]


def test_finds_a_reversed_language():
    sources, targets = bitext()
    first = align(sources, targets, "intersect", seed=5)
    right = sum(
        len(alignment.links & {(i, len(source) - 1 - i) for i in range(len(source))})
        for alignment, source in zip(first, sources, strict=True)
    )
    assert right > 0.9 * sum(map(len, sources))


def test_the_seed_decides_what_the_text_does_not():
    sources, _ = bitext()
    unrelated = sources[::-1]
    first = align(sources, unrelated, "union", seed=5)
    assert align(sources, unrelated, "union", seed=5) == first
    assert align(sources, unrelated, "union", seed=6) != first


def test_empty_and_overlong_sentences_keep_their_lines(caplog):
    sources, targets = bitext(20)
    sources[3], targets[5] = [], []
    sources[7] = ["w1"] * (module.MAX_LENGTH + 1)
    sources[9] = ["w1"] * (module.MAX_LENGTH - len(sources[9])) + sources[9]
    alignments = align(sources, targets, "union", seed=1)
    assert len(alignments) == 20
    assert not any(alignments[line].links for line in (3, 5, 7))
    assert (module.MAX_LENGTH - 1, 0) in alignments[9].links
    assert "1 lines of more than 1,023 tokens have no links" in caplog.text


def test_missing_eflomal_names_the_extra(monkeypatch):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="eflomal is not installed: pip install 'eflomal"):
        align([["a"]], [["b"]], "intersect", seed=1)


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
        align([["a"]], [["b"]], "intersect", seed=1)
