"""Vocabularies, which are written whole or not at all.

Why: ``onmt_build_vocab`` writes in place: when it is stopped, half a file stays.

Can go when OpenNMT-py writes beside a file and then renames.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from argparse import Namespace
from typing import Any

from onmt_preorder.opennmt.configuration import read_corpora
from onmt_preorder.opennmt.options import is_ours
from onmt_preorder.wrapping import adapts
from preorder.command_line.paths import check_outputs
from preorder.errors import UsageError
from preorder.io.atomic import FULL, atomic_file, is_special, reported
from preorder.io.files import make_folder


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
