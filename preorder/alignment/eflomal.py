"""Word alignment by eflomal (Östling and Tiedemann 2016), seeded.

eflomal is a separate program (GPL, installed by the extra ``align``): we run it and never import it. It reads
its seed from ``/dev/urandom``: we run a temporary copy that reads a file with our seed instead.
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

from preorder.alignment.links import SYMMETRIZATIONS, Samples, read_links
from preorder.data.sentence import Alignment
from preorder.errors import MissingExtraError, UsageError
from preorder.processes import start
from preorder.progress import LOGGER, counted

MODEL = 3  # HMM with fertilities, after iterations of IBM 1 and HMM
THREADS = 2  # runs at a time: one for each direction
CHAINS = 3  # sampling chains of a run; eflomal adds up their counts
WAYS = ("-f", "-r")  # eflomal's options: forward (a source token for each target token), reverse
NULL_PRIOR = 0.2
MAX_ALIGNED = 1023  # tokens: eflomal does not align longer sentences

Sentences = Sequence[Sequence[str]]  # the tokens of each sentence of one side of a text

_RANDOM_DEVICE = b"/dev/urandom\0"


def align(
    sources: Sentences, targets: Sentences, symmetrization: str, seed: int, threads: int = THREADS
) -> Iterator[Alignment]:
    """Align the tokens of sentences and of their translations; the same seed, from 0, gives equal links."""
    ways = {"forward": ("-f",), "reverse": ("-r",)}.get(symmetrization, WAYS)
    symmetrize = SYMMETRIZATIONS[symmetrization]
    (drawn,) = _runs(sources, targets, [seed], CHAINS, threads, ways).draws
    forward, reverse = drawn[0], drawn[-1]  # the same links if only one direction is asked for
    for pair, (source, target) in enumerate(zip(sources, targets, strict=True)):
        links = symmetrize(forward.as_set(pair), reverse.as_set(pair))
        yield Alignment(links, source_length=len(source), target_length=len(target))


def sample(
    sources: Sentences, targets: Sentences, samplers: int, seed: int, threads: int = THREADS
) -> Samples:
    """Align as :func:`align` by several samplers with different seeds; return the links of each."""
    seeds = [(seed << 16) + number for number in range(samplers)]
    return _runs(sources, targets, seeds, 1, threads)


def _runs(
    sources: Sentences,
    targets: Sentences,
    seeds: Sequence[int],
    chains: int,
    threads: int,
    ways: Sequence[str] = WAYS,
) -> Samples:
    """Run eflomal in each direction with each seed, some side by side; return the links of each."""
    program = _find_eflomal()
    began = time.monotonic()
    LOGGER.info(f"aligning {counted(len(sources), 'pair')}")
    if count := sum(max(map(len, pair)) > MAX_ALIGNED for pair in zip(sources, targets, strict=True)):
        LOGGER.warning(f"{counted(count, 'line')} of more than {MAX_ALIGNED:,} tokens have no links")
    source, target = (
        Side.of(tokens if len(tokens) <= MAX_ALIGNED else () for tokens in side)
        for side in (sources, targets)
    )
    with TemporaryDirectory(prefix="preorder-align-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        _write(folder / "source", source.lines())
        _write(folder / "target", target.lines())
        folders = [folder / str(number) for number in range(len(seeds))]
        jobs = []
        for each, seed in zip(folders, seeds, strict=True):
            each.mkdir()
            seeded = _seeded_copy(program, each, seed)
            jobs += [_command(seeded, way, len(sources), chains) for way in ways]
        for first in range(0, len(jobs), threads):
            _run_side_by_side(jobs[first : first + threads])
        draws = [tuple(read_links(each / f"links{way}") for way in ways) for each in folders]
    LOGGER.info(f"aligned ({time.monotonic() - began:.1f} s)")
    return Samples(np.diff(source.starts), np.diff(target.starts), draws)


def _run_side_by_side(jobs: Iterable[Sequence[str]]) -> None:
    with contextlib.ExitStack() as runs:
        for run in [runs.enter_context(_run(job)) for job in jobs]:
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
