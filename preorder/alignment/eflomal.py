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
from pathlib import Path

from preorder.alignment.symmetrize import SYMMETRIZATIONS
from preorder.data.alignment import Alignment
from preorder.data.errors import MissingExtraError, UsageError
from preorder.processes import start, temporary_directory
from preorder.progress import LOGGER

SAMPLERS = 3
NULL_PRIOR = 0.2
MAX_LENGTH = 1023  # tokens; eflomal aligns no longer sentences: they get no links

_RANDOM_DEVICE = b"/dev/urandom\0"
_SEED_FILE = b"seed\0"


def align(
    sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], symmetrization: str, seed: int
) -> list[Alignment]:
    """Align the tokens of sentences and of their translations; the same seed, from 0, gives the same links.

    Both directions run side by side, each on one core: IBM 1, HMM and fertility models, three samplers, and
    as many iterations as eflomal itself chooses for a corpus of this size. Their links are joined by one of
    :data:`preorder.alignment.symmetrize.SYMMETRIZATIONS`.

    Raises:
        MissingExtraError: eflomal is not installed.
        UsageError: this build of eflomal cannot be seeded, or it failed.
    """
    start_time = time.monotonic()
    LOGGER.info(f"aligning {len(sources):,} pairs")
    with temporary_directory("preorder-align-") as folder:
        program = _seeded_copy(_find_eflomal(), folder, seed)
        _write_indices(folder / "source", sources)
        _write_indices(folder / "target", targets)
        with contextlib.ExitStack() as runs:
            started = [runs.enter_context(_run(program, folder, flag, len(sources))) for flag in ("-f", "-r")]
            for run in started:
                _finish(run)
        LOGGER.info(f"aligned ({time.monotonic() - start_time:.1f} s)")
        forward = _read_links(folder / "links-f")
        reverse = _read_links(folder / "links-r")
        symmetrize = SYMMETRIZATIONS[symmetrization]
        return [
            Alignment(symmetrize(one, other), source_length=len(source), target_length=len(target))
            for source, target, one, other in zip(sources, targets, forward, reverse, strict=True)
        ]


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


@contextlib.contextmanager
def _run(program: Path, folder: Path, flag: str, count: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run eflomal in one direction; it has ended after the block."""
    iterations = max(2, round(5000 / math.sqrt(max(1, count))))
    few = max(1, iterations // 4)
    command = [str(program), "-q", "-m", "3", "-s", "source", "-t", "target", "-N", str(NULL_PRIOR)]
    command += ["-n", str(SAMPLERS), "-1", str(max(2, few)), "-2", str(few), "-3", str(iterations)]
    command += [flag, f"links{flag}"]
    # One thread: with more, the samplers would draw from the generator in any order.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with start(command, cwd=folder, env=environment, **pipes) as run:
        try:
            yield run
        finally:
            run.terminate()


def _finish(run: subprocess.Popen[bytes]) -> None:
    _, errors = run.communicate()
    if run.returncode != 0:
        said = errors.decode(errors="replace").strip().splitlines()
        raise UsageError(f"eflomal failed ({run.returncode}): {said[-1] if said else 'it gave no reason'}")


def _read_links(path: Path) -> Iterator[frozenset[tuple[int, int]]]:
    with path.open(encoding="ascii") as lines:
        for line in lines:
            pairs = (link.split("-") for link in line.split())
            yield frozenset((int(i), int(j)) for i, j in pairs)
