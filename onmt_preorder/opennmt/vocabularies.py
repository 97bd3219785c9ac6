"""Vocabularies: written whole or not at all, and checked when they are read.

Why: ``onmt_build_vocab`` empties what it overwrites and then writes in place; when it is stopped or the disk
is full, half a file stays, and it waits for ever for the process that writes samples. Reading one that is
damaged ends in a traceback, or in a model of other words.

Can go when OpenNMT-py writes beside a file and then renames, and says what is wrong with a line.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import signal
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from onmt_preorder.opennmt.configuration import read_corpora
from onmt_preorder.opennmt.numbers import MOST
from onmt_preorder.opennmt.wrapping import adapts
from onmt_preorder.options import is_ours
from preorder.errors import DataError, UsageError
from preorder.io.atomic import atomic_file, is_special
from preorder.processes import temporary_directory

_SAMPLES_FAILED = signal.SIGUSR1
_FOLDER = "onmt-preorder-"
_COUNTED = re.compile(r"\S+\s+[0-9]{1,18}")
_CONTROL = re.compile("[\0\r\ufeff]")  # of a binary file, of Windows


@adapts("onmt.bin.build_vocab", "build_vocab_main")
def _build_vocab(original: Any, opts: Namespace) -> None:
    """Let OpenNMT-py write into a folder of links to files that take their names in the end."""
    outputs = _outputs(opts)
    samples = os.path.join(os.path.dirname(opts.save_data or ""), "sample")
    before = signal.signal(_SAMPLES_FAILED, lambda *_: _refuse_samples(samples))
    try:
        with _linked(outputs) as folder:
            _redirect(opts, folder)
            try:
                original(opts)
            finally:
                _end_children()  # which hold what the folder's keeper waits for
    finally:
        signal.signal(_SAMPLES_FAILED, before)


def _end_children() -> None:
    for child in multiprocessing.active_children():
        child.terminate()
        child.join()


def _outputs(opts: Namespace) -> dict[str, str]:
    """Return the files that ``onmt_build_vocab`` would write: name in the folder of links, path.

    Raises:
        UsageError: they are there already, without ``-overwrite``, or one is a text or another output.
    """
    corpora = read_corpora(opts.data) if opts.data else {}
    outputs = {"src": opts.src_vocab}
    if not opts.share_vocab and opts.tgt_vocab:
        outputs["tgt"] = opts.tgt_vocab
    if not opts.overwrite:
        for path in outputs.values():
            if os.path.exists(path) and not is_special(path):
                raise UsageError(f"{path} is there already: -overwrite replaces it")
    features = 1 if opts.preorder_model and is_ours(opts) else opts.n_src_feats
    outputs |= {f"src_feat{number}": f"{opts.src_vocab}_feat{number}" for number in range(features)}
    if opts.dump_samples and opts.save_data:
        place = os.path.join(os.path.dirname(opts.save_data), "sample")
        names = [f"{name}.sample.{side}" for name in corpora if name != "valid" for side in ("src", "tgt")]
        outputs |= {os.path.join("sample", name): os.path.join(place, name) for name in names}
    texts = [corpus.get(key) for corpus in corpora.values() for key in ("path_src", "path_tgt", "path_align")]
    known = {os.path.realpath(text) for text in texts if text}
    for path in outputs.values():
        real = os.path.realpath(path)
        if real in known and not is_special(path):
            raise UsageError(f"{path} would be overwritten while it is needed: name another file")
        known.add(real)
    return outputs


@contextlib.contextmanager
def _linked(outputs: Mapping[str, str]) -> Iterator[Path]:
    """Make a folder with a link for each output; what is written there takes its place at the end."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(temporary_directory(_FOLDER))
        for name, path in outputs.items():
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            target = path if is_special(path) else stack.enter_context(atomic_file(path))
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).symlink_to(os.path.abspath(target))
        yield folder


def _redirect(opts: Namespace, folder: Path) -> None:
    if opts.learn_subwords and opts.src_subword_model is None:
        opts.src_subword_model = os.path.join(
            os.path.dirname(opts.save_data or ""), f"{opts.src_subword_type}.model"
        )
    opts.src_vocab, opts.overwrite = str(folder / "src"), True
    if opts.tgt_vocab:
        opts.tgt_vocab = str(folder / "tgt")
    if opts.save_data:
        opts.save_data = str(folder / "data")


def _refuse_samples(path: str) -> None:
    raise DataError("the samples cannot be written: is the disk full?", path)


@adapts("onmt.bin.build_vocab", "write_files_from_queues")
def _write_samples(original: Any, *args: Any) -> None:
    """Leave Ctrl-C to the parent, which ends its children; tell it of a disk that is full."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        original(*args)
    except OSError:
        os.kill(multiprocessing.parent_process().pid, _SAMPLES_FAILED)  # getppid() may be the fork server's


@adapts("onmt.bin.build_vocab", "init_pool")
def _init_pool(original: Any, *args: Any) -> None:
    """Leave Ctrl-C to the parent, which ends its children: they would show a traceback each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    original(*args)


@adapts("onmt.bin.build_vocab", "make_learner")
def _make_learner(original: Any, *args: Any) -> Any:
    return _Learner(original(*args))


class _Learner:
    """Replaces a learner of subwords: writes its model whole or not at all."""

    def __init__(self, learner: Any) -> None:
        self.ingest = learner.ingest
        self._learn = learner.learn

    def learn(self, path: str) -> None:
        """Learn from what has been given, and write the model."""
        with atomic_file(path) as temporary:
            self._learn(str(temporary))


@adapts("onmt.bin.build_vocab", "check_path")
def _check_path(original: Any, path: str, *args: Any, **kwargs: Any) -> None:
    """Make no words about what is in our folder."""
    if not os.path.basename(os.path.dirname(path)).startswith(_FOLDER):
        original(path, *args, **kwargs)


@adapts("onmt.inputters.inputter", "build_vocab")
def _read(original: Any, opt: Namespace, specials: Any) -> dict[str, Any]:
    if is_ours(opt):
        check(opt.src_vocab, opt.src_words_min_frequency)
        if not opt.share_vocab:
            check(opt.tgt_vocab, opt.tgt_words_min_frequency)
    return original(opt, specials)


def check(path: str, min_count: int = 0) -> None:
    """Check a vocabulary as OpenNMT-py will read it: a word a line, each with a count behind it, or none.

    Raises:
        DataError: a line is no such line, or a word comes twice; or no word is left.
    """
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    if lines.pop():
        raise DataError("the last line has no line end", path, len(lines) + 1)
    words: dict[str, int] = {}
    is_counted = False
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode("utf-8")
            is_counted = _COUNTED.fullmatch(text) is not None if number == 1 else is_counted
            word, count = _parse(text, is_counted)
            if word in words:
                raise DataError(f"the word is there twice: {word[:80]!r}")
        except UnicodeDecodeError as error:
            raise DataError(f"not valid UTF-8 (byte {error.start + 1} of the line)", path, number) from None
        except DataError as error:
            raise error.at(path, number) from None
        words[word] = count
    if not any(count >= min_count for count in words.values()):
        raise DataError(f"no word occurs {min_count} times" if words else "the file is empty", path)


def _parse(line: str, is_counted: bool) -> tuple[str, int]:
    """Return the word of a line and its count, :data:`MOST` where there is none."""
    if _CONTROL.search(line):
        raise DataError(f"not text: {line[:80]!r}")
    if not is_counted and line.strip():
        return line, MOST
    if is_counted and _COUNTED.fullmatch(line):
        word, count = line.split()
        return word, int(count)
    raise DataError(f"not a word{' with its count' if is_counted else ''}: {line[:80]!r}")
