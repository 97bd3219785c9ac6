"""Words of pieces, and links mapped to other tokens, against what is known by construction."""

import random
import re
from collections import defaultdict
from dataclasses import replace
from itertools import chain, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preorder.alignment.tokens import BLOCK, map_links, overlapping, words_of_pieces
from preorder.data import spellings
from preorder.data.sentence import Alignment
from preorder.errors import DataError


def test_confidences_and_possible_links_follow():
    links = Alignment.weighted({(0, 0): 0.5, (0, 1): 0.75, (1, 2): 1.0})
    links = replace(links, possible=frozenset({(1, 0), (1, 1)}))
    mapped = map_links(links, None, overlapping(["a", "b", "c"], ["ab", "c"]))
    assert mapped.confidences() == {(0, 0): 0.75, (1, 1): 1.0}
    assert mapped.possible == {(1, 0)}


CAPITAL, UPPER, LOWER = (
    f"｟mrk_{name}｠" for name in ("case_modifier_C", "begin_case_region_U", "end_case_region_U")
)
NONE, BOTH = [], [0, 1]


def stems(pieces, words):
    return [list(stem) for stem in words_of_pieces(pieces, words)]


@pytest.mark.parametrize(
    ("words", "pieces", "expected"),
    [
        ("unseen cats.", "un￭ seen cat ￭s ￭.", [0, 0, 1, 1, 1]),
        ("unseen cats", "▁ un seen ▁ cats ▁", [0, 0, 0, 1, 1, 1]),
        ("of the cat", "▁of▁the ▁cat", [BOTH, 2]),
        ("a ▁ b", "▁a ▁ ▁b", [0, 1, 2]),
        ("￭ a@@ b", "￭ a@@ b", [0, 1, 2]),
        ("a@@ bc", "a@@ b@@ c", [0, 1, 1]),
        ("▁c d▁e", "▁c ▁d ▁e", [0, 1, 1]),
        ("c▁d ￭e", "c ￭_￭ d ■ ￭e", [0, 0, 0, 1, 1]),
        ("Hello NASA.", f"{CAPITAL} hello {UPPER} na￭ sa {LOWER} ￭.", [0, 0, 1, 1, 1, 1, 1]),
        ("wait… ﬁne", "▁wait ... ▁fi ne", [0, 0, 1, 1]),
        ("東x y", "▁ <0xE6> <0x9D> <0xB1> x ▁y", [0, 0, 0, 0, 0, 1]),
        ("x 東", "▁x ▁ <0xE6> <mask> <0xB1>", [0, 1, 1, 1, 1]),
        ("a &quot; b", "<de> a &qu@@ ot@@ ; b", [NONE, 0, 1, 1, 1, 2]),
        ("& amp ; b", "<de> & amp ; b", [NONE, 0, 1, 2, 3]),
        ("don't \u200b résumé", "DON@@ 'T RE@@ SU@@ ME", [0, 0, 2, 2, 2]),
        ("a \u200b bc", "a <mask>", [0, 2]),  # not from what tools leave out
        ("to Berlin", "｟de｠ to Berlin", [NONE, 0, 1]),
        ("the modern house", "de the modern house", [NONE, 0, 1, 2]),
        ("she said that he had seen it", "en she said that he had seen it", [NONE, *range(7)]),
        ("she said that he had seen it", "he had seen it", [3, 4, 5, 6]),
        ("she said", "she said she", [0, 1, NONE]),
        ("one two three", "▁one ▁tw", [0, 1]),
        ("one two", "q r s t", [0, 0, 1, 1]),
        ("aa b", "▁a a a ▁b", [0, 0, NONE, 1]),  # a word begins with a space
        ("baa aa", "ba ￭a a a ￭a", [0, 0, NONE, 1, 1]),  # no word ends before a joiner
        ("xyz uv", "▁x y <mask> v", [0, 0, 1, 1]),  # what is masked begins the word: v does not
        ("in ĠæĿ± äº¬", "in 東京", [0, [1, 2]]),
        ("( a ) , b", "(a), b", [[0, 1, 2, 3], 4]),
        ("the newest house", "the new@@ <mask> house", [0, 1, 1, 2]),
        ("the newest house", "<mask> newest car", [0, 1, 2]),
        ("a b c d e f", "a b c d f </s>", [0, 1, 2, 3, 5, NONE]),
        ('he said “ no ” , then " yes "', 'he said " no " , then " yes "', [*range(10)]),
        ("", "a", [NONE]),
        ("a", "", []),
    ],
)
def test_examples(words, pieces, expected):
    lists = [each if isinstance(each, list) else [each] for each in expected]
    assert stems(pieces.split(), words.split()) == lists


MARKED = {
    "subword-nmt": lambda parts: [*(f"{part}@@" for part in parts[:-1]), parts[-1]],
    "WordPiece": lambda parts: [parts[0], *(f"##{part}" for part in parts[1:])],
    "joiner before": lambda parts: [parts[0], *(f"￭{part}" for part in parts[1:])],
    "joiner behind": lambda parts: [*(f"{part}￭" for part in parts[:-1]), parts[-1]],
    "joiner by itself": lambda parts: "/￭/".join(parts).split("/"),
    "spacer": lambda parts: [f"▁{parts[0]}", *parts[1:]],
    "spacer by itself": lambda parts: ["▁", *parts],
    "bytes": lambda parts: [f"Ġ{parts[0]}", *parts[1:]],
    "end of word": lambda parts: [*parts[:-1], f"{parts[-1]}</w>"],
    "case": lambda parts: [CAPITAL, parts[0], *(f"￭{part}" for part in parts[1:])],
}


def splits(units):
    """Yield all ways to cut a sequence into pieces that are not empty."""
    for cuts in product((False, True), repeat=len(units) - 1):
        borders = [0, *(place for place, cut in enumerate(cuts, 1) if cut), len(units)]
        yield ["".join(units[a:b]) for a, b in pairwise(borders)]


def segmentations(words, kind):
    """Yield all ways to cut words: the pieces, and the word of each."""
    for cut in product(*(map(MARKED[kind], splits(word)) for word in words)):
        yield [piece for parts in cut for piece in parts], [w for w, parts in enumerate(cut) for _ in parts]


def changes(pieces, owners, words):
    """Yield what transforms make of pieces; one that is put in counts to the next word, or to the last."""
    yield pieces, owners
    for token in ("a", "ab", "<de>"):
        yield [token, *pieces], [0, *owners]
        if token != words[-1]:  # else either may be the one that is put in
            yield [*pieces, token], [*owners, len(words) - 1]
    for word in range(len(words)):
        kept = [index for index, owner in enumerate(owners) if owner != word]
        yield [pieces[index] for index in kept], [owners[index] for index in kept]
    for index in range(len(pieces)):
        if pieces[index] not in ("￭", "▁", CAPITAL):
            yield [*pieces[:index], "<mask>", *pieces[index + 1 :]], owners


@pytest.mark.parametrize("kind", MARKED)
def test_all_segmentations_of_short_sentences(kind):
    """Where two ways lead to the same pieces, the words of either are right."""
    truth = defaultdict(list)
    for words in product(["a", "b", "ab", "ba", "aab"], repeat=2):
        for pieces, owners in segmentations(words, kind):
            for changed, stems_ in changes(pieces, owners, words):
                truth[words, tuple(changed)].append(stems_)
    for (words, pieces), right in truth.items():
        found = [min(stem.start, 1) for stem in words_of_pieces(pieces, words)]
        assert found in right, (words, pieces)


LETTERS = "a b c . , É ß 東 … ½ &amp; &#91; -LRB- “ e\u0301 ﬁ @@ ## ￭".split()


@pytest.mark.parametrize("kind", MARKED)
@given(data=st.data())
def test_segmentations_of_longer_sentences(kind, data):
    """Also of words with marks of other tools, and with a piece that is put in."""
    marks = "".join(MARKED[kind](["", ""]))
    letters = st.sampled_from([letter for letter in LETTERS if letter not in marks])
    words = data.draw(st.lists(st.lists(letters, min_size=1, max_size=5), min_size=1, max_size=8))
    pieces, owners = [], []
    for index, word in enumerate(words):
        ends = data.draw(st.sets(st.integers(1, len(word)), max_size=3)) | {len(word)}
        parts = MARKED[kind](["".join(word[a:b]) for a, b in pairwise((0, *sorted(ends)))])
        pieces += parts
        owners += [[index]] * len(parts)
    texts = list(map("".join, words))
    assert stems(pieces, texts) == owners
    assert stems(["<de>", *pieces], texts) == [[], *owners]


@pytest.mark.parametrize("number", [BLOCK // 2, 5 * BLOCK])
def test_long_lines(number):
    """Compared in blocks: every seventh word is left out, every eleventh masked."""
    words = [f"w{index}x" for index in range(number)]
    kept = [index for index in range(number) if index % 7]
    pieces = [piece for index in kept for piece in (f"w{index}@@", "x" if index % 11 else "<mask>")]
    assert stems(pieces, words) == [[index] for index in kept for _ in range(2)]


def test_long_lines_of_few_letters():
    """A block ends where its pieces also fit other places: what comes after it decides."""
    generator = random.Random(3)
    words = ["".join(generator.choices("ab", k=2)) for _ in range(400)]
    pieces = [piece for first, second in words for piece in (f"{first}@@", second)]
    for index in generator.sample(range(len(pieces)), 40):
        pieces[index] = "<mask>"
    found = stems(pieces, words)
    assert sum(stem == [index // 2] for index, stem in enumerate(found)) > 790


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("un@@ seen cat@@ s", "unseen cats", [[0], [0], [1], [1]]),
        ("un@@ seen cat@@ s", "▁unse en ▁ cats", [[0], [0, 1], [2, 3], [2, 3]]),
        ("▁ unseen ▁ cats", "un@@ seen cats", [[0, 1], [0, 1], [2], [2]]),
        ("it &apos;s &quot; 1 &#93;", "it's \"1]", [[0], [0], [1], [1], [1]]),
        ("`` -LRB- a well @-@ known AT&T ''", '"(a well-known AT &amp; T"', None),
        ("10\u00a0000 ａ\u200bb", "10 000 ab", [[0, 1], [2]]),
        ("cafe\u0301 Straße", "café STRASSE", [[0], [1]]),
        ("a\u20dd b\a", "a b", [[0], [1]]),
        ("（ Ｋyoto ㈱", "(kyo to ( 株)", [[0], [0, 1], [2, 3]]),
    ],
)
def test_spellings_and_marks_of_both_texts(old, new, expected):
    found = overlapping(old.split(" "), new.split(" "))
    assert found == (expected or [[0], [0], [0], [1], [1], [1], [2, 3, 4], [4]])
    back = [[i for i, each in enumerate(found) if j in each] for j in range(len(new.split(" ")))]
    assert overlapping(new.split(" "), old.split(" ")) == back


def test_texts_that_are_not_the_same():
    with pytest.raises(DataError, match="not the same characters: 'ab' and 'ac'"):
        overlapping(["a", "b"], ["ac"])
    with pytest.raises(DataError, match="link 0-2 is out of range"):
        map_links(Alignment(frozenset({(0, 2)})), None, overlapping(["a", "b"], ["ab"]))
    links = Alignment(frozenset({(0, 0), (1, 1), (2, 0)}))
    source = overlapping(["the", "cat", "sat"], ["<de>", "the", "ca@@", "t", "<mask>"], strict=False)
    assert map_links(links, source, None).links == {(1, 0), (2, 1), (3, 1), (4, 0)}


BYTES = {byte: letter for letter, byte in spellings._BYTE_LEVEL.items()}
TEXTS = ["é üß", "été à", "да я", "かな 猫", "🦙 a🦙", "a é 猫", "£5 °"]


@pytest.mark.parametrize("kind", [kind for kind in MARKED if kind != "case"])
@pytest.mark.parametrize("text", TEXTS)
def test_all_splits_of_short_texts(text, kind):
    """Pieces stem from the word that they were cut from, also those that end inside a character."""
    words = text.split()
    units = [[BYTES[byte] for byte in word.encode()] if kind == "bytes" else list(word) for word in words]
    for pieces in product(*map(splits, units)):
        written = list(map(MARKED[kind], pieces))
        if kind == "bytes":
            written[0][0] = written[0][0].removeprefix("Ġ")
        stems = [range(index, index + 1) for index, one in enumerate(written) for _ in one]
        tokens = list(chain.from_iterable(written))
        assert words_of_pieces(tokens, words) == stems, tokens
        ends = np.cumsum([0, *map(len, written)]).tolist()
        assert overlapping(words, tokens) == [list(range(a, b)) for a, b in pairwise(ends)], tokens


@pytest.mark.parametrize("kind", ["spacer", "spacer by itself", "subword-nmt", "joiner before"])
def test_unknown_pieces_in_all_splits_of_short_words(kind):
    """Also beside question marks, which ``⁇`` is in compatibility form."""
    for word in map("".join, product("a?🦙", repeat=4)):
        for pieces in splits(re.findall("🦙+|.", word)):
            if all(set(piece) == {"🦙"} for piece in pieces if "🦙" in piece):
                tokens = MARKED[kind](["⁇" if "🦙" in piece else piece for piece in pieces])
                found = overlapping([word, "🦙?"], [*tokens, *MARKED[kind](["⁇", "?"])])
                assert found[0] == list(range(len(tokens))), tokens


@pytest.mark.parametrize("unknown", ["[UNK]", "<unk>", "⁇"])
def test_an_unknown_piece_stands_for_what_is_in_its_place(unknown):
    assert overlapping(["I", "🦙", "soup"], ["I", unknown, "soup"]) == [[0], [1], [2]]
    assert overlapping(["a", "Zyx"], ["▁a", "▁", unknown, "y", "x"]) == [[0], [1, 2, 3, 4]]
    assert overlapping(["a", unknown], ["a", unknown]) == [[0], [1]]
    with pytest.raises(DataError, match="not the same characters"):
        overlapping(["a", "b"], ["a", unknown, "b"])  # it stands for nothing
    with pytest.raises(DataError, match="not the same characters"):
        overlapping(["a", "b", "c"], ["a", unknown, "x", "c"])


def test_syllables_that_are_joined_by_an_underscore():
    words, syllables = ["sinh_viên", "snake_case", "_"], ["sinh", "viên", "snake_case", "_"]
    assert overlapping(words, syllables) == [[0, 1], [2], [3]]
    assert overlapping(syllables, words) == [[0], [0], [1], [2]]
