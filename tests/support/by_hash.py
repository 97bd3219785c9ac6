"""A preorderer that sorts tokens by their hashes: one that is read in another way stands elsewhere."""

import sys

import numpy as np

from preorder.btg.grammar import NODE_FIELDS
from preorder.learning.encode import Encoder
from preorder.methods.base import HashedPreorderer, permutations
from preorder.methods.model_directory import Model, save_model
from preorder.methods.registry import METHODS


class ByHash(HashedPreorderer):
    method = "by-hash"

    def __init__(self, token_layers):
        self.token_layers = tuple(token_layers)
        self.layers = frozenset(token_layers) - {"words"}

    def parse_hashed(self, batch, threads=1):
        keys = batch.tokens.sum(0, dtype=np.uint64)
        bounds = zip(batch.starts, batch.starts + batch.lengths, strict=True)
        found = [keys[begin:end].argsort(kind="stable").argsort() for begin, end in bounds]
        flat = np.concatenate([np.empty(0, np.int64), *found]).astype(np.int32)
        return np.zeros((flat.size, NODE_FIELDS), np.int32), flat

    def order(self, sentences, threads=1):
        return permutations(self.parse_hashed(Encoder(self.token_layers)(sentences))[1], sentences)

    def state(self):
        return {"layers": self.token_layers}, {}

    @classmethod
    def from_state(cls, values, arrays):
        return cls(values["layers"])


def positions(**layers):
    """Return where tokens stand, given the strings of each layer; by no code of the project's."""
    hashed = [[hash_of(name, string) for string in strings] for name, strings in layers.items()]
    keys = [sum(column) % 2**64 for column in zip(*hashed, strict=True)]
    ranked = sorted(range(len(keys)), key=keys.__getitem__)
    return tuple(map(ranked.index, range(len(keys))))


def hash_of(layer, string):
    """Return the hash of a token: FNV-1a and the finaliser of MurmurHash3, in whole numbers of Python."""
    return _mixed(string.encode(), _mixed(layer.encode(), 0xCBF29CE484222325))


def _mixed(text, value):
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * factor % 2**64
    return value ^ value >> 33


def save_by_hash(monkeypatch, folder, *layers, **parts):
    """Save a model that reads such layers, with further parts of a :class:`Model`; return its folder."""
    monkeypatch.setitem(METHODS, ByHash.method, ("", "by_hash:ByHash"))
    monkeypatch.setitem(sys.modules, "preorder.methods.by_hash", sys.modules[__name__])
    save_model(Model(ByHash(layers), **parts), str(folder))
    return str(folder)
