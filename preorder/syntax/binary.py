"""Syntax trees made binary, over the same tokens.

The parts of a phrase, or a token and its dependents, are a family. The nodes of a family of three or more
members split off the first or the last member, one after the other; here H is the head:

- ``left`` splits off the last member first: ``((a b) H) c``; ``right`` the first: ``a (b (H c))``;
- ``head`` goes from the outside to the head. Of a phrase it splits off first what follows the head, then what
  precedes it: ``(a (b H)) c``. Of a token with dependents it splits off first punctuation, then what precedes
  the token, then what follows it, and at last determiners and the like:
  ``(he (has (bought ((a pen) (for her))))) .``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from preorder.compiled import entry_point
from preorder.data.sentence import Sentence
from preorder.data.trees import ROOT, Binarisation, Branch, ConstituencyTree, DependencyTree

HEAD = "head"  # label of the token itself in the family of its dependents
INNER = "'"  # after the category of a node that covers only some parts of the phrase
PUNCTUATION = "punct"
# Relations of dependents that are split off last:
CLOSE = frozenset({"det", "amod", "nummod", "compound", "flat", "fixed", "clf"})


class _Family(NamedTuple):
    """The parts of a phrase, or a token and its dependents; members are neighbours."""

    begins: Sequence[int]  # the boundary at which each member begins
    end: int  # the boundary at which the last member ends
    labels: Sequence[str]  # the category, tag or relation of each member
    head: int  # its index among the members
    category: str | None  # None: a token with dependents, whose nodes are named by what they split off
    distances: Sequence[int]  # of each member from the head; the more distant is split off first


def binary_branches(sentence: Sentence, how: Binarisation) -> list[Branch]:
    """Return the nodes of the binary tree of a sentence with tags and a tree, parents before children."""
    families: Iterable[_Family] = ()
    if isinstance(sentence.tree, ConstituencyTree):
        families = _phrases(sentence.tree, sentence.tags or ())
    elif isinstance(sentence.tree, DependencyTree):
        families = _dependents(sentence.tree)
    return [branch for family in families for branch in _divided(family, how)]


def _phrases(tree: ConstituencyTree, tags: Sequence[str]) -> list[_Family]:
    """Return the families of the phrases, parents first.

    A unary chain is one phrase: its nodes have its lowest category; among its siblings it has the highest.
    """
    ends = list(range(1, len(tree) + 1))  # of the largest phrase seen that begins at each token
    labels = list(tags)
    families = []
    whole = (0, len(tree), "")  # joins several phrases at the top
    for begin, end, category in (*reversed(tree.constituents), whole):
        begins = []
        token = begin
        while token < end:
            begins.append(token)
            token = ends[token]
        if len(begins) > 1:
            parts = [labels[token] for token in begins]
            head = head_child(category, parts)
            distances = [int(i > head) for i in range(len(parts))]
            families.append(_Family(begins, end, parts, head, category, distances))
        if begins:
            ends[begin], labels[begin] = end, category
    return families[::-1]


def _dependents(tree: DependencyTree) -> Iterator[_Family]:
    n = len(tree)
    heads = np.array(tree.heads, np.int64)
    lift(heads)
    members: list[list[int]] = [[token] for token in range(n)] + [[]]  # the last: of the root
    for token, head in enumerate(heads.tolist()):
        members[head].append(token)
    order = [ROOT]
    for token in order:
        order.extend(member for member in members[token] if member != token)
    begins, ends = list(range(n)), list(range(1, n + 1))
    for token in reversed(order[1:]):
        begins[token] = min(begins[member] for member in members[token])
        ends[token] = max(ends[member] for member in members[token])
    for token in order:
        family = sorted(members[token])
        if len(family) > 1:
            labels = [HEAD if member == token else tree.relations[member] for member in family]
            head = 0 if token == ROOT else family.index(token)
            first = [member if member == token else begins[member] for member in family]
            end = ends[family[-1]] if family[-1] != token else token + 1
            distances = [_distance(label, i < head) for i, label in enumerate(labels)]
            yield _Family(first, end, labels, head, None, distances)


@entry_point
def lift(heads):
    """Give tokens the head of their head until every subtree is contiguous (Nivre and Nilsson 2005).

    An arc is lifted if it spans a token that is not below its head; the shortest first, then the leftmost.
    ``heads``: int64, the index of each token's head; below 0 for the root.
    """
    while True:
        chosen, shortest = -1, heads.size
        for token in range(heads.size):
            head = heads[token]
            first, last = min(token, head), max(token, head)
            if head < 0 or last - first >= shortest:
                continue
            for between in range(first + 1, last):
                above = between
                while above >= 0 and above != head:
                    above = heads[above]
                if above < 0:
                    chosen, shortest = token, last - first
                    break
        if chosen < 0:
            return
        heads[chosen] = heads[heads[chosen]]


def _distance(relation: str, precedes: bool) -> int:
    relation = relation.partition(":")[0]
    return 3 if relation == PUNCTUATION else 0 if relation in CLOSE else 1 + precedes


def _divided(family: _Family, how: Binarisation) -> Iterator[Branch]:
    begins, end, labels, head, category, distances = family
    first, last = 0, len(begins) - 1
    while first < last:
        if how == "head":
            last_off = first == head or (last != head and distances[last] > distances[first])
        else:
            last_off = how == "left"
        off = last if last_off else first
        split = begins[last] if last_off else begins[first + 1]
        name = category
        if name is None:
            name = f"-{labels[off]}" if last_off else f"{labels[off]}-"
        yield Branch(begins[first], split, end, name)
        if last_off:
            last, end = last - 1, split
        else:
            first += 1
        if category is not None and not category.endswith(INNER):
            category += INNER


_RULES = """
ADJP   first NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB
ADVP   last  RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN
CONJP  last  CC RB IN
FRAG   last
LST    last  LS :
NAC    first NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW
PP     last  IN TO VBG VBN RP FW
PRT    last  RP
QP     first $ IN NNS NN JJ RB DT CD NCD QP JJR JJS
ROOT   first S SBARQ SQ SINV SBAR FRAG VP NP
RRC    last  VP NP ADVP ADJP PP
S      first TO IN VP S SBAR ADJP UCP NP
SBAR   first WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG
SBARQ  first SQ S SINV SBARQ FRAG
SINV   first VBZ VBD VBP VB MD VP S SINV ADJP NP
SQ     first VBZ VBD VBP VB MD VP SQ
UCP    last
VP     first TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP
WHADJP first CC WRB JJ ADJP
WHADVP last  CC WRB
WHNP   first WDT WP WP$ WHADJP WHPP WHNP
WHPP   last  IN TO FW
"""

RULES = {  # category → whether to search from the last child backwards; the categories to find, best first
    category: (side == "last", priorities)
    for category, side, *priorities in map(str.split, _RULES.strip().splitlines())
}

# Whether to search from the last child backwards, and the categories to find.
_NOUN_RULES: Sequence[tuple[bool, set[str]]] = (
    (True, {"NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR"}),
    (False, {"NP"}),
    (True, {"$", "ADJP", "PRN"}),
    (True, {"CD"}),
    (True, {"JJ", "JJS", "RB", "QP"}),
)

_DECORATION = re.compile(r"^@(?=.)|(?<=[^@=-])[=^|_-].*")  # of NP-SBJ, NP^g, NP_3, @NP all but NP


def head_child(category: str, children: Sequence[str]) -> int:
    """Return the index of the head among a phrase's children, given their categories and tags.

    By the rules of Magerman (1995; Collins 1999, appendix A, without his correction for coordinations).
    """
    category, *children = (_DECORATION.sub("", label) for label in (category, *children))
    last = len(children) - 1
    if category in ("NP", "NX"):
        rules, default = _NOUN_RULES, last
        if children[last] == "POS":
            return last
    else:
        from_last, priorities = RULES.get(category, (False, []))
        rules, default = [(from_last, {wanted}) for wanted in priorities], last if from_last else 0
    for from_last, wanted in rules:
        for i in range(last + 1)[:: -1 if from_last else 1]:
            if children[i] in wanted:
                return i
    return default
