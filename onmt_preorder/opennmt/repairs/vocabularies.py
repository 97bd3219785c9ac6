"""Vocabularies: written whole or not at all, and checked when they are read.

Why: ``onmt_build_vocab`` writes in place: when it is stopped, half a file stays. It ends its workers before
all of their samples are sent: with ``-dump_samples`` it then waits for ever. Reading a damaged vocabulary
ends in a traceback, or in a model of other words.

Can go when OpenNMT-py writes beside a file and then renames, lets workers end, and says what is wrong with a
line.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from onmt_preorder.opennmt.configuration import read_corpora
from onmt_preorder.opennmt.options import is_ours
from onmt_preorder.opennmt.repairs.numbers import MOST
from onmt_preorder.wrapping import adapts
from preorder.command_line.paths import check_outputs
from preorder.errors import DataError, UsageError
from preorder.io.atomic import FULL, atomic_file, is_special, reported
from preorder.io.files import decoded, make_folder, read_bytes

_COUNTED = re.compile(r"(\S+)\s+([0-9]{1,18})\s*")
_CONTROL = re.compile(b"[\0\r]|\xef\xbb\xbf")  # of a binary file, of Windows


@adapts("onmt.bin.build_vocab", "build_vocab_main")
def _build_vocab(original: Any, opts: Namespace) -> None:
    """Let OpenNMT-py write into a temporary folder, and copy what is complete."""
    outputs = _outputs(opts)
    with tempfile.TemporaryDirectory() as folder, reported(opts.src_vocab, FULL):
        opts.src_vocab = os.path.join(folder, "src")
        opts.tgt_vocab = opts.tgt_vocab and os.path.join(folder, "tgt")
        original(opts)
        with contextlib.ExitStack() as stack:
            for name, path in outputs.items():
                target = path if is_special(path) else stack.enter_context(atomic_file(path))
                shutil.copyfile(os.path.join(folder, name), target)


@adapts("onmt.bin.build_vocab", "mp.Pool")
@contextlib.contextmanager
def _pool(original: Any, *args: Any) -> Iterator[Any]:
    """Let workers end by themselves: those that are ended may not have sent all that is in their queues."""
    with original(*args) as pool:
        yield pool
        pool.close()
        pool.join()


def _outputs(opts: Namespace) -> dict[str, str]:
    """Return the path of each file that ``onmt_build_vocab`` makes, all of which can be written."""
    outputs = {"src": opts.src_vocab}
    if not opts.share_vocab and opts.tgt_vocab:
        outputs["tgt"] = opts.tgt_vocab
    if not opts.overwrite:
        for path in outputs.values():
            if os.path.exists(path) and not is_special(path):
                raise UsageError(f"{path} is there already: -overwrite replaces it")
    features = 1 if opts.preorder_model and is_ours(opts) else opts.n_src_feats
    outputs |= {f"src_feat{number}": f"{opts.src_vocab}_feat{number}" for number in range(features)}
    corpora = read_corpora(opts.data) if opts.data else {}
    texts = [corpus.get(key) for corpus in corpora.values() for key in ("path_src", "path_tgt", "path_align")]
    for path in outputs.values():
        make_folder(os.path.dirname(path) or os.curdir)
    check_outputs(list(filter(None, texts)), list(outputs.values()))
    return outputs


@adapts("onmt.inputters.inputter", "build_vocab")
def _read(original: Any, opt: Namespace, specials: Any) -> dict[str, Any]:
    if is_ours(opt):
        check(opt.src_vocab, opt.src_words_min_frequency)
        if not opt.share_vocab:
            check(opt.tgt_vocab, opt.tgt_words_min_frequency)
    return original(opt, specials)


def check(path: str, min_count: int = 0) -> None:
    """Check a vocabulary as OpenNMT-py will read it: a word a line, each with a count behind it, or none."""
    lines = read_bytes(path).split(b"\n")
    if lines.pop():
        raise DataError("the last line has no line end", path, len(lines) + 1)
    words: dict[str, int] = {}
    is_counted = False
    for number, content in enumerate(lines, 1):
        line = decoded(content, path, number)
        match = _COUNTED.fullmatch(line)
        is_counted = match is not None if number == 1 else is_counted
        if _CONTROL.search(content) or not (match if is_counted else line.strip()):
            raise DataError(f"not a word{' with its count' * is_counted}: {line[:80]!r}", path, number)
        word, count = (match[1], int(match[2])) if is_counted and match else (line, MOST)
        if word in words:
            raise DataError(f"the word is there twice: {word[:80]!r}", path, number)
        words[word] = count
    if not any(count >= min_count for count in words.values()):
        raise DataError(f"no word occurs {min_count} times" if words else "the file is empty", path)
