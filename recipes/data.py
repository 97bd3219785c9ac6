"""Copy a folder of parallel text into a run: check it, and filter the training part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from preorder.data import files
from preorder.data.errors import DataError
from preorder.data.formats import FEATURE_SEPARATOR, parse_tokens
from recipes.job import PARTS, Job

MAX_LENGTH = 50  # Kawara et al. 2021, §V-A, like the ratio
MAX_RATIO = 9


def copy_data(job: Job, data: Path, use_alignment: bool) -> str:
    """Copy what the job needs of ``data`` into its folder, and write both sides of all parts in one file.

    Returns:
        A message: how many of the training pairs are kept.

    Raises:
        DataError: a file is missing, a part's files differ in length, a sentence of dev or
            test is empty, a part has no pair, or a source token holds ``￨``.
    """
    suffixes = [job.source, job.target]
    tags = f"{job.source}.pos"
    if all((data / f"{part}.{tags}").exists() for part in PARTS):
        suffixes.append(tags)
    if use_alignment:
        suffixes.append("align")
    (job.folder / "data").mkdir(parents=True, exist_ok=True)
    whole: list[list[str]] = [[], []]
    for part in PARTS:
        rows = list(_rows(data, part, suffixes))
        kept = [row for row in rows if part != "train" or _is_fit(row)]
        if not kept:
            raise DataError("no sentence pair is left", str(data / f"{part}.{job.source}"))
        if part == "train":
            rule = f"1 to {MAX_LENGTH} tokens a side, neither over {MAX_RATIO} times the other"
            message = f"{len(kept)} of {len(rows)} training pairs are kept: {rule}"
        columns = list(zip(*kept, strict=True))
        for suffix, lines in zip(suffixes, columns, strict=True):
            files.write_lines(str(job.folder / f"data/{part}.{suffix}"), lines)
        for side, lines in zip(whole, columns, strict=False):
            side.extend(lines)
    for side, lines in zip(suffixes, whole, strict=False):
        files.write_lines(str(job.folder / job.text("all", side)), lines)
    return message


def _rows(data: Path, part: str, suffixes: list[str]) -> Iterator[tuple[str, ...]]:
    paths = [str(data / f"{part}.{suffix}") for suffix in suffixes]
    lines = files.in_parallel(*((path, files.read_lines(path)) for path in paths))
    for number, row in enumerate(lines, 1):
        if FEATURE_SEPARATOR in row[0]:
            raise DataError(f"{FEATURE_SEPARATOR} in a token, where a feature would begin", paths[0], number)
        if part != "train":
            for path, line in zip(paths[:2], row, strict=False):
                if not parse_tokens(line):
                    raise DataError("an empty sentence, which cannot be scored", path, number)
        yield row


def _is_fit(row: tuple[str, ...]) -> bool:
    lengths = [len(parse_tokens(line)) for line in row[:2]]
    return min(lengths) > 0 and max(lengths) <= MAX_LENGTH and max(lengths) <= MAX_RATIO * min(lengths)
