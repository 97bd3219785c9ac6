"""A language whose verbs come second, put into one whose verbs come last."""

import random

from tests.support.texts import links, write


def sentence(seed, longest=3):
    """Return words: a subject, a verb, and objects."""
    generator = random.Random(seed)
    objects = generator.randint(1, longest)
    return [f"{kind}{generator.randrange(8)}" for kind in ("Sue", "Verb", *["Obj"] * objects)]


def positions(words):
    """Return where each word belongs."""
    return [0, len(words) - 1, *range(1, len(words) - 1)]


def alignment(words):
    """Return the links to a translation in which the verb comes last."""
    return links(positions(words))


def translation(words):
    """Return it: lower case, the verb last."""
    return " ".join([words[0], *words[2:], words[1]]).lower()


def features(words, places=None):
    """Return the words with their positions, or with those given."""
    places = places or positions(words)
    return " ".join(f"{word}￨{place}" for word, place in zip(words, places, strict=True))


def write_texts(folder, name, sentences):
    """Write sentences with their positions, NAME.src, without, NAME.plain, and translated, NAME.tgt."""
    for ending, line_of in (("src", features), ("plain", " ".join), ("tgt", translation)):
        write(folder / f"{name}.{ending}", *map(line_of, sentences))
