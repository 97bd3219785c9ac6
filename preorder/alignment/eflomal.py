"""Word alignment by eflomal (Östling and Tiedemann 2016), seeded.

eflomal is a separate program (GPL, installed by the extra ``align``): it is run, never imported. It has no
option for a seed, but reads eight bytes of ``/dev/urandom``. What runs is a temporary copy of it, in which
that name is replaced by the name of a file that holds the seed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import struct
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from preorder.alignment.samples import Links, Samples, read_links
from preorder.alignment.symmetrize import SYMMETRIZATIONS
from preorder.data.alignment import Alignment
from preorder.data.errors import MissingExtraError, UsageError
from preorder.processes import start, temporary_directory
from preorder.progress import LOGGER

MODELS = (1, 2, 3)
"""eflomal's models: IBM 1, HMM, and HMM with fertilities; each begins from the one before."""
DEFAULT_MODEL = 3
DEFAULT_THREADS = 2
"""Both directions run side by side, each on one core."""
CHAINS = 3
"""Sampling chains of one run, whose counts eflomal adds up before it decides on the links."""
WAYS = ("-f", "-r")
"""eflomal's options: forward, a source token for each target token; and reverse."""
NULL_PRIOR = 0.2
MAX_LENGTH = 1023  # tokens; eflomal aligns no longer sentences: they get no links

_RANDOM_DEVICE = b"/dev/urandom\0"
_SEED_FILE = b"seed\0"


@dataclass(frozen=True, slots=True)
class Settings:
    """How eflomal is run: its model, one of :data:`MODELS`; and how many runs go side by side."""

    model: int = DEFAULT_MODEL
    threads: int = DEFAULT_THREADS


def align(
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    symmetrization: str,
    seed: int,
    settings: Settings = Settings(),
) -> list[Alignment]:
    """Align the tokens of sentences and of their translations; the same seed, from 0, gives the same links.

    As many iterations as eflomal itself chooses for a corpus of this size. The links of both directions are
    joined by one of :data:`preorder.alignment.symmetrize.SYMMETRIZATIONS`.

    Raises:
        MissingExtraError: eflomal is not installed.
        UsageError: this build of eflomal cannot be seeded, or it failed.
    """
    ways = {"forward": ("-f",), "reverse": ("-r",)}.get(symmetrization, WAYS)
    (drawn,) = _run_all(sources, targets, [seed], CHAINS, settings, ways)
    forward, reverse = drawn[0], drawn[-1]  # one and the same where only one is asked for
    symmetrize = SYMMETRIZATIONS[symmetrization]
    return [
        Alignment(
            symmetrize(forward.as_set(pair), reverse.as_set(pair)),
            source_length=len(source),
            target_length=len(target),
        )
        for pair, (source, target) in enumerate(zip(sources, targets, strict=True))
    ]


def sample(
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    samplers: int,
    seed: int,
    settings: Settings = Settings(),
) -> Samples:
    """Align as :func:`align` by several samplers, each with a seed of its own, and keep what each drew.

    Raises:
        MissingExtraError, UsageError: as :func:`align`.
    """
    seeds = [(seed << 16) + number for number in range(samplers)]
    draws = _run_all(sources, targets, seeds, 1, settings)
    lengths = [np.array([len(tokens) for tokens in side], np.int32) for side in (sources, targets)]
    return Samples(*lengths, draws)


def _run_all(
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    seeds: Sequence[int],
    chains: int,
    settings: Settings,
    ways: Sequence[str] = WAYS,
) -> list[tuple[Links, ...]]:
    """Run eflomal each way with each seed, some runs side by side; return what each seed drew each way."""
    program = _find_eflomal()
    start_time = time.monotonic()
    LOGGER.info(f"aligning {len(sources):,} pairs")
    with temporary_directory("preorder-align-") as folder:
        _write_indices(folder / "source", sources)
        _write_indices(folder / "target", targets)
        jobs = []
        for number, seed in enumerate(seeds):
            (folder / str(number)).mkdir()
            seeded = _seeded_copy(program, folder / str(number), seed)
            jobs += [_command(seeded, flag, len(sources), chains, settings.model) for flag in ways]
        for first in range(0, len(jobs), settings.threads):
            with contextlib.ExitStack() as runs:
                for run in [runs.enter_context(_run(job)) for job in jobs[first : first + settings.threads]]:
                    _finish(run)
        LOGGER.info(f"aligned ({time.monotonic() - start_time:.1f} s)")
        folders = [folder / str(number) for number in range(len(seeds))]
        return [tuple(read_links(each / f"links{flag}") for flag in ways) for each in folders]


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
    copy.write_bytes(code.replace(_RANDOM_DEVICE, _SEED_FILE.ljust(len(_RANDOM_DEVICE), b"\0")))
    copy.chmod(0o700)
    # Its generator must not start from zero: 0 is a fixed point of xorshift.
    (folder / "seed").write_bytes(struct.pack("<Q", (seed + 1) * 0x9E3779B97F4A7C15 & (2**64 - 1)))
    return copy


def _write_indices(path: Path, sentences: Sequence[Sequence[str]]) -> None:
    vocabulary: dict[str, int] = {}
    lines = []
    for tokens in sentences:
        kept = tokens if len(tokens) <= MAX_LENGTH else ()
        indices = [vocabulary.setdefault(token, len(vocabulary)) for token in kept]
        lines.append(" ".join(map(str, (len(indices), *indices))))
    header = f"{len(sentences)} {len(vocabulary)}"
    path.write_text("\n".join((header, *lines)) + "\n", encoding="ascii")


def _command(program: Path, flag: str, pairs: int, chains: int, model: int) -> list[str]:
    """Return the command line of a run in one direction, in the folder of the program."""
    iterations = max(2, round(5000 / math.sqrt(max(1, pairs))))
    few = max(1, iterations // 4)
    schedule = [*(max(2, few), few)[: model - 1], iterations]
    command = [str(program), "-q", "-m", str(model), "-s", "../source", "-t", "../target"]
    command += ["-N", str(NULL_PRIOR), "-n", str(chains)]
    for number, count in enumerate(schedule, 1):
        command += [f"-{number}", str(count)]
    return [*command, flag, f"links{flag}"]


@contextlib.contextmanager
def _run(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run eflomal; it has ended after the block."""
    # One thread: with more, the chains would draw from the generator in any order.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with start(command, cwd=Path(command[0]).parent, env=environment, **pipes) as run:
        try:
            yield run
        finally:
            run.terminate()


def _finish(run: subprocess.Popen[bytes]) -> None:
    _, errors = run.communicate()
    if run.returncode != 0:
        said = errors.decode(errors="replace").strip().splitlines()
        raise UsageError(f"eflomal failed ({run.returncode}): {said[-1] if said else 'it gave no reason'}")
