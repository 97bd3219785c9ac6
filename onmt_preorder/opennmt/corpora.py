"""Reading of sources with positions.

Why:

- ``parse_features`` fails on doubled spaces, empty lines and lines where only some tokens have a feature; of
  files of different length it drops the rest; and a token that ``str.strip`` removes, such as U+3000, shifts
  all features after it.
- It splits an empty target into one word, the empty one, which is ``<unk>``.
- In a training batch, sentences of the same text are merged though their positions differ.
- Where the transforms leave nothing of a bucket, a ``TypeError``; of a corpus, a training without end.
- Positions not seen by ``onmt_build_vocab`` would all become ``<unk>``.

Can go when OpenNMT-py reads features token by token, compares them too, and lets their vocabulary be given.
"""

from __future__ import annotations

import logging
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from onmt_preorder.input.pipeline import SOURCE_NAME
from onmt_preorder.input.positions import NO_POSITION, PositionCheck, feature_vocabulary, parse_source
from onmt_preorder.input.raw_text import make_tokenizer
from onmt_preorder.opennmt.alignments import sure_links
from onmt_preorder.opennmt.options import is_ours, uses_positions
from onmt_preorder.wrapping import adapts
from preorder.data.formats import escape_tokens, parse_tokens
from preorder.data.texts import text_lines
from preorder.errors import DataError, errors_in
from preorder.io.files import in_parallel, read_lines, without_line_end

MOST_LOST = 10_000
"""Training lines that transforms may drop one after another."""


class PositionedCorpus:
    """Replaces a ``ParallelCorpus`` of OpenNMT-py, whose shares of a short corpus may be empty.

    Each data worker has a line in turn. A token without a position keeps its original one. Every line of
    the source gives one example, except those without a target in a training and its validation.
    ``lacks_positions``: the model needs positions, and nothing gives them to a line without any. ``tokenize``
    splits lines that are raw text; None: they hold tokens.
    """

    def __init__(
        self,
        corpus: Any,
        lacks_positions: bool = True,
        tokenize: Callable[[str], Sequence[str]] | None = None,
        skip_empty_level: str = "warning",
    ) -> None:
        self.id = corpus.id
        self.source, self.target, self.align = corpus.src, corpus.tgt, corpus.align
        self.features = corpus.n_src_feats  # 0 or 1
        self.check = PositionCheck(lacks_positions)
        self._tokenize = tokenize
        self._skip_empty_level = skip_empty_level
        self.is_whole = True  # not one of several lists of lines
        self._was_read = False

    def load(self, offset: int = 0, stride: int = 1) -> Iterator[dict[str, Any]]:
        """Yield one example a line, of the lines ``offset``, ``offset + stride``, …, from 0."""
        line_number, has_examples = 0, False
        names = (SOURCE_NAME, "<target>", "<alignment>")
        files = zip(names, (self.source, self.target, self.align), strict=True)
        given = [_named_lines(name, file) for name, file in files if file is not None]
        if self._tokenize is None and self.is_whole:
            texts = 1 if self.target is None else 2
            given[:texts] = [(name, text_lines(name, iter(lines))) for name, lines in given[:texts]]
        # One of several data workers looks at the positions of all lines, once.
        checks = self.features and not offset and not self._was_read
        for line_number, lines in enumerate(in_parallel(*given), 1):
            is_own = (line_number - 1) % stride == offset
            if not is_own and not checks:
                continue
            example = self._example(*lines, places=[(name, line_number) for name, _ in given])
            if self._leaves_out(example["tgt"], line_number):
                continue
            if checks:
                self.check.see(example["src_feats"][0].split(), given[0][0], line_number)
            if is_own:
                has_examples = True
                yield example
        if not line_number:
            raise DataError("the file is empty", given[0][0])
        if line_number <= offset:
            raise DataError(f"fewer lines than data workers (num_workers): {line_number}", given[0][0])
        if not has_examples:
            raise DataError("all lines are empty, or all of a data worker (num_workers)", self.target)
        if self.is_whole:
            self.check.finish()
            self._was_read = True

    def _leaves_out(self, target: str | None, line_number: int) -> bool:
        """Return whether a pair is not learned from since it has no target; warn of the first."""
        from onmt.constants import CorpusName

        if target != "" or self.id == CorpusName.INFER:
            return False
        if self._skip_empty_level == "error":
            raise DataError("the line is empty (skip_empty_level: error)", self.target, line_number)
        if self._skip_empty_level == "warning":
            self._skip_empty_level = "silent"
            where = f"{self.target}:{line_number}"
            logging.getLogger("onmt").warning(f"{where}: an empty line: pairs without a target are left out")
        return True

    def _example(self, source: str, *others: str, places: list[tuple[str, int]]) -> dict[str, Any]:
        target = None if self.target is None else " ".join(escape_tokens(parse_tokens(others[0])))
        with errors_in(*places[0]):
            if self._tokenize is None:
                words, positions = parse_source(source, self.features > 0)
            else:
                words = escape_tokens(self._tokenize(source))
                positions = [NO_POSITION] * len(words)
        text = " ".join(words)
        example: dict[str, Any] = {"src": text, "tgt": target}
        example |= {"src_original": text, "tgt_original": target}
        if self.align is not None:
            example |= sure_links(others[-1], *places[-1])
        if self.features:
            example["src_feats"] = [" ".join(positions)]
        return example


def _named_lines(name: str, file: Any) -> tuple[str, Iterable[str]]:
    if not isinstance(file, list):
        return file, read_lines(file)
    lines = (line.decode("utf-8") if isinstance(line, bytes) else line for line in file)
    return name, map(without_line_end, lines)


@adapts("onmt.inputters.text_corpus", "get_corpora")
def _get_corpora(original: Any, opts: Namespace, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
    corpora = original(opts, *args, **kwargs)
    if corpora is None or not is_ours(opts):
        return corpora
    if hasattr(opts, "preorder_encoding"):  # of a training
        lacks_positions = uses_positions(opts, trains=True) and not opts.preorder_model
    else:
        lacks_positions = getattr(opts, "lacks_positions", False)
    parallel = ((name, each) for name, each in corpora.items() if hasattr(each, "src"))
    tokenize = make_tokenizer(opts.tokenize, opts.escapes) if getattr(opts, "tokenize", "") else None
    level = getattr(opts, "skip_empty_level", "warning")
    return corpora | {
        name: PositionedCorpus(each, lacks_positions, tokenize, level) for name, each in parallel
    }


class _Bucket(list):
    """The lines of a bucket, of which the transforms may leave none."""


@adapts("onmt.inputters.text_utils", "process")
def _process(original: Any, task: str, lines: list[Any], **kwargs: Any) -> list[Any] | None:
    """Return an empty list for an empty bucket; ``onmt_build_vocab`` needs OpenNMT-py's None."""
    examples = original(task, lines, **kwargs)
    return [] if examples is None and isinstance(lines, _Bucket) else examples


@adapts("onmt.inputters.dynamic_iterator:DynamicDatasetIter", "_tuple_to_json_with_tokIDs")
def _numericalise(original: Any, self: Any, lines: list[Any]) -> list[Any]:
    """Read an empty target as no word, and stop a training of whose lines nothing is left."""
    from onmt.constants import CorpusTask

    examples = original(self, _Bucket(lines))
    if any(isinstance(corpus, PositionedCorpus) for corpus in self.corpora.values()):
        for example in examples:
            _drop_empty_words(example["tgt"])
    self.lost_lines = 0 if examples else getattr(self, "lost_lines", 0) + len(lines)
    if self.task == CorpusTask.TRAIN and self.lost_lines >= MOST_LOST:
        raise DataError(f"the transforms leave none of {self.lost_lines} training lines in a row")
    return examples


def _drop_empty_words(target: dict[str, Any] | None) -> None:
    """Leave out the word that an empty line is split into; transforms may have put others before it."""
    if target is not None and "  " in f" {target['tgt']} ":
        words, (begin, *ids, end) = target["tgt"].split(" "), target["tgt_ids"]
        target["tgt_ids"] = [begin, *(number for word, number in zip(words, ids, strict=True) if word), end]


@adapts("onmt.inputters.dynamic_iterator:DynamicDatasetIter", "batch_iter")
def _batch_iter(original: Any, self: Any, data: Iterable[Any], *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Add the features to the text by which OpenNMT-py finds equal sentences of a batch."""

    def with_features() -> Iterator[Any]:
        for example, index in data:
            source = example["src"]
            if "feats" in source:
                source["src"] = (source["src"], *map(tuple, source["feats"]))
            yield example, index

    return original(self, with_features(), *args, **kwargs)


@adapts("onmt.inputters.inputter", "build_vocab")
def _build_vocab(original: Any, opt: Namespace, specials: Any) -> dict[str, Any]:
    if not is_ours(opt) or not opt.n_src_feats:
        return original(opt, specials)
    import pyonmttok
    from onmt.constants import DefaultTokens

    features, opt.n_src_feats = opt.n_src_feats, 0
    vocabs = original(opt, specials)
    opt.n_src_feats = features
    positions = pyonmttok.build_vocab_from_tokens(feature_vocabulary(), special_tokens=opt.default_specials)
    positions.default_id = positions[DefaultTokens.UNK]
    vocabs["src_feats"] = [positions]
    return vocabs
