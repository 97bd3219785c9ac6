"""Random syntax trees."""

import hypothesis.strategies as st

from preorder.data import Sentence
from preorder.data.trees import ConstituencyTree, Constituent, DependencyTree

CATEGORIES = ("S", "NP", "VP", "PP", "X", "SBAR")


def words(n):
    return tuple(f"w{i}" for i in range(n))


@st.composite
def constituency(draw, least=0, most=12):
    """Draw a sentence with a tree of any arity, with unary chains and tokens beside phrases."""
    n = draw(st.integers(least, most))
    phrases = []

    def grow(begin, end):
        for _ in range(draw(st.integers(0, 2))):
            phrases.append(Constituent(begin, end, draw(st.sampled_from(CATEGORIES))))
        if end - begin > 1:
            cuts = sorted(draw(st.sets(st.integers(begin + 1, end - 1), min_size=1, max_size=4)))
            for b, e in zip([begin, *cuts], [*cuts, end], strict=True):
                grow(b, e)

    if n:
        grow(0, n)
    return Sentence(words(n), ("NN",) * n, tree=ConstituencyTree(n, tuple(phrases)))


@st.composite
def dependency(draw, least=0, most=12):
    """Draw a sentence with any dependency tree, projective or not, of one root or more."""
    n = draw(st.integers(least, most))
    names = draw(st.permutations(range(n)))
    heads = [0] * n
    for place, token in enumerate(names):
        heads[token] = names[draw(st.integers(0, place - 1))] if place and draw(st.booleans()) else -1
    if n and draw(st.booleans()):
        first = names[0]
        heads = [first if head == -1 and token != first else head for token, head in enumerate(heads)]
    relations = tuple(draw(st.sampled_from(("nsubj", "obj", "case"))) for _ in range(n))
    return Sentence(words(n), ("X",) * n, tree=DependencyTree(tuple(heads), relations))


sentences = constituency() | dependency()


def random_sentence(generator, n):
    """Draw a sentence with a tree; its words, tags and categories are few."""
    words = tuple(generator.choice(["a", "b", "w1", "w2", "w3"], n).tolist())
    tags = tuple(generator.choice(["NN", "X"], n).tolist())
    phrases = []

    def grow(begin, end):
        phrases.append(Constituent(begin, end, str(generator.choice(["S", "NP"]))))
        if end - begin > 1:
            split = int(generator.integers(begin + 1, end))
            grow(begin, split)
            grow(split, end)

    if n:
        grow(0, n)
    return Sentence(words, tags, tree=ConstituencyTree(n, tuple(phrases)))
