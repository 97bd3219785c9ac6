"""Word alignment by eflomal (Östling and Tiedemann 2016), seeded.

eflomal is a separate program (GPL, installed by the extra ``align``): we run it and never import it. It reads
its seed from ``/dev/urandom``: we run a temporary copy that reads a file with our seed instead.

Counts of one part of a text (linked words, jumps and fertilities) become eflomal's priors for other parts, as
with ``eflomal-makepriors``. Each direction has the counts of its own links, and tokens without a link count.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import struct
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from preorder.alignment.links import SYMMETRIZATIONS, Links, Samples, read_links
from preorder.data.sentence import Alignment
from preorder.errors import MissingExtraError, UsageError
from preorder.processes import start
from preorder.progress import LOGGER, counted

MODEL = 3  # HMM with fertilities, after iterations of IBM 1 and HMM
THREADS = 2  # runs at a time: one for each direction
CHAINS = 3  # sampling chains of a run; eflomal adds up their counts
REVERSE = "-r"
WAYS = ("-f", REVERSE)  # eflomal's options: forward (a source token for each target token), reverse
NULL_PRIOR = 0.2
MAX_FERTILITY = 7  # eflomal counts greater ones as this one
MAX_ALIGNED = 1023  # tokens: eflomal does not align longer sentences

Sentences = Sequence[Sequence[str]]  # the tokens of each sentence of one side of a text

_RANDOM_DEVICE = b"/dev/urandom\0"


def align(sources: Sentences, targets: Sentences, symmetrization: str, seed: int) -> list[Alignment]:
    """Align the tokens of sentences and of their translations; the same seed, from 0, gives equal links."""
    return list(Aligner(symmetrization, seed)(sources, targets))


class Aligner:
    """Aligns the parts of a text one after the other; the first gives the priors of the others."""

    def __init__(self, symmetrization: str, seed: int, threads: int = THREADS) -> None:
        ways = {"forward": ("-f",), "reverse": ("-r",)}.get(symmetrization, WAYS)
        self._symmetrize = SYMMETRIZATIONS[symmetrization]
        self._runs = _Runs([seed], CHAINS, threads, ways)

    def __call__(self, sources: Sentences, targets: Sentences) -> Iterator[Alignment]:
        """Yield the alignments of the next part."""
        (sampled,) = self._runs(sources, targets).draws
        forward, reverse = sampled[0], sampled[-1]  # the same links if only one direction is asked for
        for pair, (source, target) in enumerate(zip(sources, targets, strict=True)):
            links = self._symmetrize(forward.as_set(pair), reverse.as_set(pair))
            yield Alignment(links, source_length=len(source), target_length=len(target))


class Sampler:
    """Aligns as :class:`Aligner` by several samplers with different seeds; returns the links of each."""

    def __init__(self, samplers: int, seed: int, threads: int = THREADS) -> None:
        self._runs = _Runs([(seed << 16) + number for number in range(samplers)], 1, threads)

    def __call__(self, sources: Sentences, targets: Sentences) -> Samples:
        """Return the links that the samplers draw for the next part."""
        return self._runs(sources, targets)


class _Runs:
    """Runs of eflomal on the parts of a text: each direction with each seed, some side by side."""

    def __init__(self, seeds: Sequence[int], chains: int, threads: int, ways: Sequence[str] = WAYS) -> None:
        self._seeds, self._chains, self._threads, self._ways = seeds, chains, threads, ways
        self._priors: dict[str, Priors] = {}

    def __call__(self, sources: Sentences, targets: Sentences) -> Samples:
        """Return the links of each seed and direction for a part; the first part gives the others' priors."""
        program = _find_eflomal()
        began = time.monotonic()
        LOGGER.info(f"aligning {counted(len(sources), 'pair')}")
        if count := sum(max(map(len, pair)) > MAX_ALIGNED for pair in zip(sources, targets, strict=True)):
            LOGGER.warning(f"{counted(count, 'line')} of more than {MAX_ALIGNED:,} tokens have no links")
        source, target = (
            Side.of(tokens if len(tokens) <= MAX_ALIGNED else () for tokens in side)
            for side in (sources, targets)
        )
        sides = source, target
        with TemporaryDirectory(prefix="preorder-align-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            _write(folder / "source", source.lines())
            _write(folder / "target", target.lines())
            for way, priors in self._priors.items():
                _write(folder / f"priors{way}", priors.lines(sides, way == REVERSE))
            self._run(program, folder, len(sources))
            folders = [folder / str(number) for number in range(len(self._seeds))]
            draws = [tuple(read_links(each / f"links{way}") for way in self._ways) for each in folders]
        self._priors = self._priors or {
            way: Priors.learn(sides, drawn, way == REVERSE)
            for way, drawn in zip(self._ways, zip(*draws, strict=True), strict=True)
        }
        LOGGER.info(f"aligned ({time.monotonic() - began:.1f} s)")
        return Samples(np.diff(source.starts), np.diff(target.starts), draws)

    def _run(self, program: Path, folder: Path, pairs: int) -> None:
        jobs = []
        for number, seed in enumerate(self._seeds):
            (folder / str(number)).mkdir()
            seeded = _seeded_copy(program, folder / str(number), seed)
            for way in self._ways:
                job = _command(seeded, way, pairs, self._chains)
                jobs.append([*job, "-p", f"../priors{way}"] if self._priors else job)
        for first in range(0, len(jobs), self._threads):
            side_by_side = jobs[first : first + self._threads]
            with contextlib.ExitStack() as runs:
                for run in [runs.enter_context(_run(job)) for job in side_by_side]:
                    errors = run.communicate()[1].decode(errors="replace").strip().splitlines()
                    if run.returncode != 0:
                        reason = errors[-1] if errors else "it gave no reason"
                        raise UsageError(f"eflomal failed ({run.returncode}): {reason}")


def _find_eflomal() -> Path:
    spec = importlib.util.find_spec("eflomal")
    program = Path(spec.origin).parent / "bin" / "eflomal" if spec and spec.origin else None
    if program is None or not program.exists():
        raise MissingExtraError("eflomal", "align")
    return program


def _seeded_copy(program: Path, folder: Path, seed: int) -> Path:
    code = program.read_bytes()
    if code.count(_RANDOM_DEVICE) != 1:
        raise UsageError("this build of eflomal does not read /dev/urandom: it cannot be seeded")
    copy = folder / "eflomal"
    copy.write_bytes(code.replace(_RANDOM_DEVICE, b"seed\0".ljust(len(_RANDOM_DEVICE), b"\0")))
    copy.chmod(0o700)
    # Its generator must not start from zero: 0 is a fixed point of xorshift.
    (folder / "seed").write_bytes(struct.pack("<Q", (seed + 1) * 0x9E3779B97F4A7C15 & (2**64 - 1)))
    return copy


def _write(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="ascii") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def _command(program: Path, flag: str, pairs: int, chains: int) -> list[str]:
    """Return the command of a run in one direction, with eflomal's own number of iterations."""
    iterations = max(2, round(5000 / math.sqrt(max(1, pairs))))
    few = max(1, iterations // 4)
    command = [str(program), "-q", "-m", str(MODEL), "-s", "../source", "-t", "../target"]
    command += ["-N", str(NULL_PRIOR), "-n", str(chains)]
    for number, count in enumerate((max(2, few), few, iterations), 1):
        command += [f"-{number}", str(count)]
    return [*command, flag, f"links{flag}"]


@contextlib.contextmanager
def _run(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    # One thread: with more, the chains would draw from the generator in any order.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    pipes: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with start(command, cwd=Path(command[0]).parent, env=environment, **pipes) as run:
        try:
            yield run
        finally:
            run.terminate()


@dataclass(frozen=True, slots=True)
class Side:
    """The source or the target side of a text, its words as numbers from 0."""

    vocabulary: Mapping[str, int]
    starts: np.ndarray  # (sentences + 1): sentence n has the tokens from starts[n] to starts[n + 1]
    tokens: np.ndarray  # (tokens), the numbers of their words

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> Side:
        """Number the words. O(tokens)."""
        vocabulary: dict[str, int] = {}
        ends, tokens = [0], []
        for words in sentences:
            tokens += [vocabulary.setdefault(word, len(vocabulary)) for word in words]
            ends.append(len(tokens))
        return cls(vocabulary, np.array(ends), np.array(tokens, np.int32))

    def lines(self) -> Iterator[str]:
        """Yield the lines of eflomal's input: the numbers of sentences and words, then each sentence."""
        yield f"{len(self.starts) - 1} {len(self.vocabulary)}"
        for begin, end in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            yield " ".join(map(str, (end - begin, *self.tokens[begin:end].tolist())))


@dataclass(frozen=True, slots=True)
class Priors:
    """Counts of one direction: each token of one side is linked to at most one token of the other."""

    words: tuple[Mapping[str, int], Mapping[str, int]]  # word → number, of the other side and of the first
    lexicon: np.ndarray  # (pairs, 2): numbers of linked words
    jumps: np.ndarray  # (jumps): from the token that one token is linked to, to that of the next
    fertilities: np.ndarray  # (fertilities, 2): a word of the other side, and how many links a token has
    counts: tuple[np.ndarray, ...]  # of the rows of the three

    @classmethod
    def learn(cls, sides: tuple[Side, Side], draws: Sequence[Links], is_reverse: bool) -> Priors:
        """Average the counts of several samplers; ``is_reverse``: each source token has one link at most."""
        given, emitted = sides[::-1] if is_reverse else sides
        parts = [_counted(given, emitted, *_ends(links, is_reverse)) for links in draws]
        kinds = map(np.concatenate, zip(*parts, strict=True))
        counted = (np.unique(kind, axis=0, return_counts=True) for kind in kinds)
        (lexicon, jumps, fertilities), counts = zip(*counted, strict=True)
        shares = tuple(count / len(draws) for count in counts)
        return cls((given.vocabulary, emitted.vocabulary), lexicon, jumps, fertilities, shares)

    def lines(self, sides: tuple[Side, Side], is_reverse: bool) -> Iterator[str]:
        """Yield the lines of eflomal's file of priors for another text, with words numbered from 1."""
        vocabularies = [side.vocabulary for side in (sides[::-1] if is_reverse else sides)]
        given, emitted = (  # the numbers of words in the other text, from 1; 0: not there
            np.array([vocabulary.get(word, -1) + 1 for word in words], np.int64)
            for words, vocabulary in zip(self.words, vocabularies, strict=True)
        )
        lexicon = np.stack((given[self.lexicon[:, 0]], emitted[self.lexicon[:, 1]]), axis=1)
        known = (lexicon > 0).all(axis=1)
        words = given[self.fertilities[:, 0]]
        fertilities = np.stack((words, self.fertilities[:, 1]), axis=1)[words > 0]
        lexicon = lexicon[known, ::-1] if is_reverse else lexicon[known]
        sizes = (len(self.jumps), 0), (len(fertilities), 0)
        of_ways = [size for pair in sizes for size in (pair[::-1] if is_reverse else pair)]
        header = (*(len(side.vocabulary) + 1 for side in sides), len(lexicon), *of_ways)
        yield " ".join(map(str, header))
        yield from _rows(lexicon, self.counts[0][known])
        yield from _rows(self.jumps[:, None], self.counts[1])
        yield from _rows(fertilities, self.counts[2][words > 0])


def _ends(links: Links, is_reverse: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of each link its pair, and its tokens: first of the side with several links a token."""
    pairs = np.repeat(np.arange(len(links.starts) - 1), np.diff(links.starts))
    ends = (links.targets, links.sources) if is_reverse else (links.sources, links.targets)
    order = np.lexsort((ends[1], pairs))
    return pairs[order], ends[0][order].astype(np.int64), ends[1][order].astype(np.int64)


def _counted(
    given: Side, emitted: Side, pairs: np.ndarray, ones: np.ndarray, others: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all links as pairs of words, all jumps, and all tokens as words with their fertility."""
    lengths = np.diff(given.starts)
    places = given.starts[pairs] + ones
    lexicon = np.stack((given.tokens[places], emitted.tokens[emitted.starts[pairs] + others]), axis=1)
    # The first jump of a pair begins before its tokens, and the last ends after them.
    linked = np.unique(pairs)
    owners = np.concatenate((pairs, linked))
    order = np.argsort(owners, kind="stable")
    at = np.concatenate((ones, lengths[linked]))[order]
    before = np.where(np.diff(owners[order], prepend=-1) != 0, -1, np.roll(at, 1))
    fertilities = np.minimum(np.bincount(places, minlength=len(given.tokens)), MAX_FERTILITY)
    has_both = np.repeat(np.diff(emitted.starts) > 0, lengths)
    return lexicon, at - before, np.stack((given.tokens, fertilities), axis=1)[has_both]


def _rows(numbers: np.ndarray, counts: np.ndarray) -> Iterator[str]:
    for row, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        yield " ".join((*map(str, row), f"{count:g}"))
