"""Preorderers that sort tokens by their hashes: one that is read in another way stands elsewhere."""

import sys

import numpy as np

from preorder.btg.grammar import NODE_FIELDS
from preorder.data.permutation import Permutation
from preorder.data.trees import DependencyTree
from preorder.learning.encode import Encoder
from preorder.methods.base import permutations
from preorder.methods.model_directory import Model, save_model
from preorder.methods.registry import METHODS, Method


class ByHash:
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

    def knows_tag(self, tag):
        return True

    @classmethod
    def from_state(cls, values, arrays):
        return cls(values["layers"])


class ByTree:
    """Sorts tokens by the hashes of their words, tags and places in a tree."""

    method = "by-tree"

    def __init__(self, kind):
        self.layers = frozenset({"tags", kind})

    def order(self, sentences, threads=1):
        layers = ({"words": s.words, "tags": s.tags, "tree": places(s.tree)} for s in sentences)
        return [Permutation(positions(**each)) for each in layers]

    def state(self):
        return {"layers": sorted(self.layers)}, {}

    def knows_tag(self, tag):
        return True

    @classmethod
    def from_state(cls, values, arrays):
        return cls(*set(values["layers"]) - {"tags"})


def places(tree):
    """Return the place of each token in a tree, as a string."""
    if isinstance(tree, DependencyTree):
        return [f"{head} {name}" for head, name in zip(tree.heads, tree.relations, strict=True)]
    phrases = [[p for p in tree.constituents if p.begin <= i < p.end] for i in range(len(tree))]
    return [str(list(map(tuple, covering))) for covering in phrases]


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
    for kind in (ByHash, ByTree):
        monkeypatch.setitem(METHODS, kind.method, Method(type(None), f"by_hash:{kind.__name__}"))
    monkeypatch.setitem(sys.modules, "preorder.methods.by_hash", sys.modules[__name__])
    trees = {"constituency", "dependency"} & set(layers)
    save_model(Model(ByTree(*trees) if trees else ByHash(layers), **parts), str(folder))
    return str(folder)
