"""Training batches, the same for every model that is compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import pyonmttok
import torch
from onmt.constants import DefaultTokens
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from onmt_preorder.input import positions
from preorder.data.formats import parse_tokens
from preorder.io import files

Pair = tuple[Sequence[str], Sequence[str]]
Batch = dict[str, Tensor]
SPECIALS = [DefaultTokens.UNK, DefaultTokens.PAD, DefaultTokens.BOS, DefaultTokens.EOS]
SHAPE = 3.0  # of the gamma distribution of lengths of random sentences: a standard deviation of 58%


def read_pairs(source: str, target: str, count: int) -> list[Pair]:
    """Return the first pairs of a bitext that have words on both sides."""
    sides = ((name, files.read_parsed(name, parse_tokens)) for name in (source, target))
    return files.not_empty(source, islice(filter(all, files.in_parallel(*sides)), count))


def random_pairs(count: int, words: float, vocabulary: int) -> list[Pair]:
    """Return pairs of random sentences; both of a pair have the same length, on average ``words``."""
    generator = np.random.default_rng(1)
    lengths = 1 + generator.gamma(SHAPE, (words - 1) / SHAPE, count).astype(int)
    drawn = generator.integers(vocabulary, size=(2, lengths.sum())).astype(str)
    source, target = (np.split(side, np.cumsum(lengths)[:-1]) for side in drawn)
    return [(s.tolist(), t.tolist()) for s, t in zip(source, target, strict=True)]


def vocabularies(opt: Any, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return OpenNMT-py's vocabularies: of all words and, for a model that reads them, of positions."""
    source, target = (
        _vocabulary(sorted(set(chain.from_iterable(side)))) for side in zip(*pairs, strict=True)
    )
    features = {"src_feats": [_vocabulary(positions.feature_vocabulary())]} if opt.n_src_feats else {}
    others = {"data_task": opt.model_task, "decoder_start_token": opt.decoder_start_token}
    return {"src": source, "tgt": target, **features, **others}


def _vocabulary(tokens: Iterable[str]) -> pyonmttok.Vocab:
    made = pyonmttok.build_vocab_from_tokens([*SPECIALS, *tokens])
    made.default_id = made[DefaultTokens.UNK]
    return made


def batches(pairs: Sequence[Pair], vocabs: dict[str, Any], opt: Any, device: torch.device) -> Iterator[Batch]:
    """Yield batches of pairs of similar length, in random order.

    A batch has as many sentences, or tokens of the longer side, as the options say. If there is a vocabulary
    of positions, each sentence gets a random order: the cost of no model depends on the order.
    """
    generator = np.random.default_rng(1)
    alike = sorted(pairs, key=lambda pair: (len(pair[0]), len(pair[1])))
    by_sentences = opt.batch_type == "sents"
    weight = (lambda _: 1) if by_sentences else lambda pair: max(len(pair[0]), len(pair[1]) + 2)
    cut = list(files.batched(alike, opt.batch_size, weight))
    for index in generator.permutation(len(cut)):
        batch = _tensors(cut[index][::-1], vocabs, np.random.default_rng(index))
        yield {name: tensor.to(device) for name, tensor in batch.items()}


def _tensors(pairs: Sequence[Pair], vocabs: dict[str, Any], generator: np.random.Generator) -> Batch:
    """Return a batch as OpenNMT-py's trainer reads it."""
    source = _padded([vocabs["src"](words) for words, _ in pairs], vocabs["src"])
    begin, end = [DefaultTokens.BOS], [DefaultTokens.EOS]
    target = _padded([vocabs["tgt"]([*begin, *words, *end]) for _, words in pairs], vocabs["tgt"])
    for vocabulary in vocabs.get("src_feats", ()):
        orders = [generator.permutation(len(words)).astype(str).tolist() for words, _ in pairs]
        source = torch.cat((source, _padded(list(map(vocabulary, orders)), vocabulary)), dim=2)
    lengths = torch.tensor([(len(source), len(target)) for source, target in pairs])
    return {"src": source, "srclen": lengths[:, 0], "tgt": target, "tgtlen": lengths[:, 1] + 2}


def _padded(rows: Sequence[Sequence[int]], vocabulary: Any) -> Tensor:
    padding = vocabulary[DefaultTokens.PAD]
    return pad_sequence([torch.tensor(row) for row in rows], True, padding).unsqueeze(2)
