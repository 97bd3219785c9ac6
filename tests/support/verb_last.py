"""Sentences with tags and trees whose verb comes second, and belongs to the end in the target's order."""

import itertools

from preorder.data import Alignment, Bitext
from preorder.syntax.read import parse_bracketing
from tests.support import texts

SUBJECTS, VERBS, OBJECTS = ("I", "you", "we"), ("see", "eat", "hear"), ("fish", "birds", "trees")


def svo(subject, verb, *objects):
    """Return a sentence with its positions."""
    phrase = " ".join(f"(NN {word})" for word in objects)
    sentence = parse_bracketing(f"(ROOT (S (NP (PRP {subject})) (VP (VBP {verb}) (NP {phrase}))))")
    return sentence, (0, len(sentence) - 1, *range(1, len(sentence) - 1))


CORPUS = [svo(s, v, *o) for s, v in itertools.product(SUBJECTS, VERBS) for o in (OBJECTS[:1], OBJECTS[:2])]
SHORT = [parse_bracketing(""), parse_bracketing("(S (NN fish))"), parse_bracketing("")]
SENTENCES = [sentence for sentence, _ in CORPUS]
POSITIONS = [positions for _, positions in CORPUS]
SOURCES = [" ".join(sentence.words) for sentence in SENTENCES]
ASKED = list(map(texts.links, POSITIONS))
TAGS = [" ".join("X" for _ in sentence.words) for sentence in SENTENCES]
LINES = [*SENTENCES, *SHORT, svo("they", "grow", "apples", "pears", "plums", "nuts")[0]]


def links(*targets):
    """Align token i with the i-th target."""
    return Alignment(frozenset(enumerate(targets)))


def bitext(corpus=CORPUS):
    """Return the sentences with alignments that ask for their positions."""
    sentences, positions = zip(*corpus, strict=True)
    return Bitext(sentences, [links(*p) for p in positions])
