"""Sentences that are easily read in two ways: as lines, as tokens, and what is to be made of them."""

import random
import re
from typing import NamedTuple

from preorder.cli import main
from tests.support.by_hash import positions

_generator = random.Random(7)

HARD = {
    "plain": "I like the pen that my father bought .",
    "empty": "",
    "one token": "yes",
    "one token that is a number": "42",
    "numbers": "0 1 2 10 ٣ ² Ⅳ 1,000 -5 0x1F",
    "300 tokens": " ".join(f"w{_generator.randrange(90)}" for _ in range(300)),
    "a long token": "a " + "x" * 5000 + " b",
    "named entities of Moses": "&lt; a &gt; &amp; &quot; don &apos;t",
    "numeric entities of Moses": "&#91; a &#93; b &#124; c",
    "entities of white space": "&#32; a &#160;b c&#12288; d&#8195;e",
    "entities of an ampersand": "&#38; &#38;#91; &#38;#160; &amp;#160;",
    "entities of the separator": "&#65512; a&#65512;0 b",
    "entities that are no characters": "&#0; &#55296; &#1114112; &#99999999; &#x3000; &#; &# #; &",
    "entities with zeros": "&#032; &#00160; &#0038;",
    "the separator": "a ￨ b",
    "the separator inside": "a￨b c￨1 d ￨2",
    "a joiner": "￭ a￭ ￭b c￭d",
    "a spacer": "▁ ▁a b▁ c▁d",
    "marks of subword-nmt": "@@ a@@ b @@c d@-@e",
    "placeholders": "｟a：b｠ ｟mrk_case_modifier_C｠ a",
    "special symbols": "<unk> a <s> b </s> <blank> c <pad>",
    "a blank alone": "<blank>",
    "no-break spaces": "10\u00a0000 \u00a0 a\u202fb \u2007",
    "ideographic spaces": "\u3000 a\u3000 \u3000b c\u3000d",
    "a line of white space": "\u00a0 \u3000 \u2003",
    "zero-width characters": "a\u200bb \u200b c\u200d\u200cd \ufeff e\ufefff \u2060 \xad",
    "line breaks of Unicode": "a\u2028b \u2029 c\x85d \x0b \x0c e\x1cf \x1d \x1e \x1f",
    "a carriage return": "a\rb \r c",
    "marks of byte order": "\ufeffa \ufeff b\ufeff",
    "NUL": "a\0b \0 c",
    "control characters": "\x01 a\x07b \x7f \x9b31m \x1b[31m \x80",
    "right to left": "שלום \u200fa\u202e مرحبا \u2066b\u2069",
    "combining marks": "e\u0301 é \u0301 a\u0308\u0304 ｶﾞ が",
    "compatibility forms": "ﬁ ① ﾊﾝｶｸ Ａ ½ Å Å",
    "beyond the basic plane": "𝄞 𠮷 👩‍👩‍👧 🏳️‍🌈 \U000e0041",
    "case": "Straße STRASSE İ ı ς Σ ǅ",
    "brackets": "( a ) [ b ] { c } < d > (e) [f]",
    "brackets of the Penn Treebank": "-LRB- a -RRB- -LSB- -RSB- -LCB- -RCB-",
    "quotes of the Penn Treebank": "`` a '' ` ' \" 1\\/2 \\* \\",
    "bars": "| || ||| a|b 0-0",
    "rows of CoNLL-U": "# text = a _ 1-2 1.1 sent_id",
    "marks of annotation": "NN VBZ 's n't % * ~ / :",
    "links and weights": "0-0 1-2:0.5 3?4 1p2",
    "shell and paths": "- -- --src $HOME `ls` *.gz ~/x ../y a=b",
}
"""Name → line."""

LINES = list(HARD.values())
TOKENS = [tuple(filter(None, line.replace("\r", " ").split(" "))) for line in LINES]
"""What every reader has to find in the lines."""

CLASSES = {word: str(len(word) % 3) for words in TOKENS[::2] for word in words}
"""Of some of the words; the others are unknown."""

TAGSETS = {
    "Penn": "NN VBZ -LRB- -RRB- PRP$ `` '' , . : $ # NNP|NN HYPH".split(),
    "universal": "NOUN VERB PUNCT _ X SYM ADP".split(),
}


def tag_layer(name):
    """Return a tag for each token, of a tagset."""
    tagset = TAGSETS[name]
    return [tuple(tagset[(s + i) % len(tagset)] for i in range(len(t))) for s, t in enumerate(TOKENS)]


def run(line, *more):
    assert main([*line.split(), *more]) == 0


def check(found, expected):
    """Compare what was found in each line with what is expected there."""
    assert dict(zip(HARD, found, strict=True)) == dict(zip(HARD, expected, strict=True))


class Reading(NamedTuple):
    """What a reader makes of a sentence: its positions show which layers the model was given."""

    features: str
    positions: tuple[int, ...]


def reading(tokens, **layers):
    """Return what a reader has to make of tokens and layers, for a model of :mod:`tests.support.by_hash`."""
    found = positions(words=tokens, **layers)
    return Reading(" ".join(f"{escaped(t)}￨{p}" for t, p in zip(tokens, found, strict=True)), found)


_BREAKING = ["￨", "\0", "\ufeff", *filter(str.isspace, map(chr, range(0x3001)))]
_CODES = "|".join(str(ord(character)) for character in ("&", *_BREAKING))
_SPECIAL = re.compile(f"&(?=#({_CODES});)|[{''.join(_BREAKING)}]")


def escaped(token):
    """Return a token as features have it: reversibly, without what breaks them."""
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", token)
