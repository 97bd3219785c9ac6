"""Which child of a phrase is its head, by rules for the categories of the Penn Treebank.

The rules are those of Magerman (1995) as Collins (1999, appendix A) gives them, without his correction for
coordinations. A phrase of any other category is headed by its first child.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_RULES = """
ADJP   first NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB
ADVP   last  RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN
CONJP  last  CC RB IN
FRAG   last
INTJ   first
LST    last  LS :
NAC    first NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW
PP     last  IN TO VBG VBN RP FW
PRN    first
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

RULES = {
    category: (side == "last", priorities)
    for category, side, *priorities in map(str.split, _RULES.strip().splitlines())
}
"""Category → whether to search from the last child backwards, and the categories to find, best first."""

NOUN_PHRASES = ("NP", "NX")
_NOUN_RULES = (  # whether to search from the last child backwards, and for any of what
    (True, {"NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR"}),
    (False, {"NP"}),
    (True, {"$", "ADJP", "PRN"}),
    (True, {"CD"}),
    (True, {"JJ", "JJS", "RB", "QP"}),
)

_DECORATION = re.compile(r"^@(?=.)|(?<=[^@=-])[=^|_-].*")  # of NP-SBJ, NP^g, NP_3, @NP all but NP


def head_child(category: str, children: Sequence[str]) -> int:
    """Return the index of the head among a phrase's children, given their categories and tags."""
    category, *children = (_DECORATION.sub("", label) for label in (category, *children))
    last = len(children) - 1
    if category in NOUN_PHRASES:
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
