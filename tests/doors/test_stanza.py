"""One sentence, one reading: the tags and trees that Stanza gives the hard sentences, through every door."""

from pathlib import Path

import pytest

from onmt_preorder.input.on_the_fly import OnTheFlyPreorderer
from preorder.annotate import stanza
from preorder.annotate.options import AnnotatorOptions
from preorder.annotate.stanza import annotator
from preorder.data.sentence import Sentence
from preorder.methods.model_directory import load_model
from preorder.syntax.read import parse_bracketing, parse_conllu
from tests.support.by_hash import places, save_by_hash
from tests.support.hard_sentences import HARD, Reading, escaped, reading, run
from tests.support.hard_sentences import TOKENS as ALL_TOKENS
from tests.support.running import annotate_here
from tests.support.texts import read, write

SLOW = "a long token"  # each of its characters is a step for a network
NAMES = [name for name in HARD if name != SLOW]
LINES = [HARD[name] for name in NAMES]
TOKENS = [tokens for name, tokens in zip(HARD, ALL_TOKENS, strict=True) if name != SLOW]


@pytest.fixture(scope="module")
def models(shared):
    pytest.importorskip("stanza", reason="needs Stanza: pip install -e '.[stanza]'")
    yield str(shared("models/stanza"))
    stanza.annotator.cache_clear()


@pytest.fixture(
    scope="module", params=[(None, "upos"), ("constituency", "xpos"), ("dependency", "upos")], ids=str
)
def options(request, models, tmp_path_factory):
    """Work in a folder with the text, what Stanza adds to it, and a model that reads that."""
    trees, tagset = request.param
    options = AnnotatorOptions("en", trees, tagset, folder=models)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("stanza"))
        annotate_here(patch)
        save_by_hash(patch, "model", "words", "tags", *filter(None, [trees]), language="en", stanza=options)
        write(Path("src"), *LINES)
        given = ["--trees", trees] if trees else []
        given += ["--lang", "en", "--tagset", tagset, "--stanza-dir", models]
        run("annotate", "--src", "src", "--out", "annot", "--pos-out", "pos", *given)
        if trees:
            next(Path().glob("annot.[tc]*")).rename("trees")
        yield options


@pytest.fixture(scope="module")
def expected(options):
    """Return the reading of each sentence: of the table's tokens and what Stanza itself says of them."""
    found = []
    annotated = annotator(options).annotate(list(map(Sentence, TOKENS)))
    for words, (tags, tree) in zip(TOKENS, annotated, strict=True):
        layers = {"tags": tags}
        if options.trees is not None:
            layers["tree"] = places(parsed(tree).tree)
        found.append(reading(words, **layers))
    return dict(zip(NAMES, found, strict=True))


def parsed(tree):
    if not tree or tree.startswith("("):
        return parse_bracketing(tree)
    ((_, (sentence,)),) = parse_conllu(enumerate(tree.split("\n"), 1))
    return sentence


def apply(*given):
    run("apply", "--model", "model", "--out", "features", *given)
    return list(map(reading_of, read("features")))


def reading_of(line):
    return Reading(line, tuple(int(token.rpartition("￨")[2]) for token in line.split()))


def in_shards(options):
    for begin in range(0, len(LINES), 20):
        write(Path(f"{begin:02}.part"), *LINES[begin : begin + 20])
    run("apply", "--model", "model", "--src", "*.part", "--out-dir", "out")
    return [reading_of(line) for path in sorted(Path("out").glob("*.part")) for line in read(path)]


def trees_of(options):
    return ["--trees", "trees"] if options.trees else []


def on_the_fly(options):
    words = [" ".join(map(escaped, tokens)) for tokens in TOKENS]
    found = OnTheFlyPreorderer(load_model("model")).positions(words)
    pairs = (zip(line.split(), positions, strict=True) for line, positions in zip(words, found, strict=True))
    return [reading_of(" ".join(f"{word}￨{place}" for word, place in line)) for line in pairs]


DOORS = {
    "apply": lambda options: apply("--src", "src"),
    "apply, in shards": in_shards,
    "annotate, apply --annot": lambda options: apply("--annot", "annot", *trees_of(options)),
    "annotate, apply --pos": lambda options: apply("--src", "src", "--pos", "pos", *trees_of(options)),
    "annotate, apply --trees": lambda options: apply("--src", "src", *trees_of(options)),
    "on the fly": on_the_fly,
}


@pytest.mark.parametrize("door", DOORS)
def test_tags_and_trees(options, expected, door):
    assert dict(zip(NAMES, DOORS[door](options), strict=True)) == expected
