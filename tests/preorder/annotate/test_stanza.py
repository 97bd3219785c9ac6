"""Chunks of sentences through a stand-in for Stanza; then Stanza itself, on the small models of ../shared."""

import json
import os
import shlex
import shutil
from types import SimpleNamespace

import pytest

from preorder.annotate import stanza
from preorder.annotate.options import FOLDER_VARIABLE, AnnotatorOptions
from preorder.annotate.stanza import (
    MAX_PARSED,
    Annotator,
    add_layers,
    annotate,
    annotator,
    load_pipeline,
    prepare,
)
from preorder.data import Sentence
from preorder.data.trees import ROOT, DependencyTree
from preorder.errors import MissingExtraError, UsageError
from preorder.learning.checkpoint import Checkpoints
from preorder.syntax.read import parse_bracketing, parse_conllu
from tests.support import fake_stanza

SENTENCES = [
    Sentence(tuple(line.split())) for line in ("", "a b c", "", "", "d", "e f g h i", "j k", "l m", "", "")
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in which the stand-in leaves traces; chunks are of a few tokens."""
    monkeypatch.setattr(stanza, "CHUNK", 5)
    fake_stanza.install(monkeypatch)
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


def done(folder):
    return {path.name for path in folder.glob("done-*")}


@pytest.mark.parametrize("trees", [None, "constituency", "dependency"])
def test_any_number_of_workers_says_the_same(folder, trees):
    options = AnnotatorOptions("en", trees, folder=str(folder))
    one, two = (list(annotate(SENTENCES, options, workers)) for workers in (1, 2))
    assert one == two == list(annotate(SENTENCES, options, 0))
    assert one == [(sentence, fake_stanza.annotation(options, sentence.words)) for sentence in SENTENCES]
    assert len(done(folder)) == 4


def test_on_a_gpu_there_is_one_worker(folder, monkeypatch):
    asked = []
    monkeypatch.setattr(stanza, "in_processes", lambda work, items, workers: asked.append(workers) or ())
    for workers in (0, 1, 3):
        list(annotate(SENTENCES, AnnotatorOptions("en", device="gpu", folder=str(folder)), workers))
    assert asked == [0, 1, 1]


def test_layers_are_added(folder):
    options = AnnotatorOptions("en", "dependency", "upos", folder=str(folder))
    first, second, *_ = add_layers(SENTENCES, options)
    assert first == Sentence((), (), tree=DependencyTree((), ()))
    assert second.tags == ("uA", "uB", "uC")
    assert second.tree == DependencyTree((ROOT, 0, 1), ("next",) * 3)
    given = Sentence(("a", "b"), ("A", "B"), tree=DependencyTree((ROOT, 0), ("root", "next")))
    assert list(add_layers([given], AnnotatorOptions("en", folder=str(folder), tagged=True))) == [given]


def test_what_the_annotation_depends_on():
    """Not on the folder of the models."""
    options = [
        AnnotatorOptions("de"),
        AnnotatorOptions("en", "dependency"),
        AnnotatorOptions("en", tagset="upos"),
        AnnotatorOptions("en", device="gpu"),
        AnnotatorOptions("en", folder="here"),
        AnnotatorOptions("en", folder="there"),
    ]
    settings = [*((one, ["models"]) for one in options), (options[-1], ["other models"])]
    keys = [next(stanza._chunks(SENTENCES, *one, Checkpoints()))[2] for one in settings]
    assert keys[-2] == keys[-3]
    assert len(set(keys)) == 6
    tagged = [[Sentence(("a", "b"), tags)] for tags in (("A", "B"), ("B", "A"), None)]
    assert len({next(stanza._chunks(one, options[0], [], Checkpoints()))[2] for one in tagged}) == 3


def test_no_such_devices(models):
    if not pytest.importorskip("torch").cuda.is_available():
        with pytest.raises(UsageError, match="there is no GPU that torch can use"):
            load_pipeline(AnnotatorOptions("en", folder=models, device="gpu"))


def test_stanza_is_not_installed(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"stanza is not installed: pip install 'stanza>=1.10'"):
        next(annotate(SENTENCES, AnnotatorOptions("en")))


@pytest.fixture(scope="module")
def models(shared):
    pytest.importorskip("stanza", reason="needs Stanza: pip install -e '.[stanza]'")
    return str(shared("models/stanza"))


def annotated(sentences, *options, **more):
    return annotator(AnnotatorOptions("en", *options, **more)).annotate(sentences)


@pytest.fixture(autouse=True)
def one_thread_here_alone():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
    stanza.annotator.cache_clear()


def dependency(tree):
    ((_, readings),) = parse_conllu(enumerate(tree.split("\n"), 1))
    return readings[0]


def test_agrees_with_what_the_models_said_before(models, shared):
    paths = (shared(f"data/enja/train.en{kind}") for kind in ("", ".pos", ".trees"))
    words, tags, trees = (path.read_text(encoding="utf-8").split("\n")[:60] for path in paths)
    sentences = [Sentence(tuple(line.split())) for line in words]
    found = annotated(sentences, "constituency", folder=models)
    pairs = zip(found, zip(tags, trees, strict=True), strict=True)
    equal = [(" ".join(one.tags), one.tree) == known for one, known in pairs]
    assert sum(equal) >= 0.95 * len(equal)  # another version of torch may round otherwise


def test_the_folder_in_the_environment(models, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, models)
    (found,) = annotated([Sentence(("the", "dog", "barks"))])
    assert found.tags[:2] == ("DT", "NN")


@pytest.mark.parametrize("trees", ["constituency", "dependency"])
def test_given_tags_decide(models, trees):
    words, options = ("dogs", "watch", "birds"), AnnotatorOptions("en", trees, folder=models, tagged=True)
    tagged = [Sentence(words, tags) for tags in (("NNS", "VBP", "NNS"), ("NNP", "NNP", "NNP"))]
    one, other = annotator(options).annotate(tagged)
    assert one.tree != other.tree


def test_long_sentences_are_parsed_in_pieces(models):
    words = tuple(f"dogs{i % 7 or ''}" for i in range(MAX_PARSED + 5))
    sentences = [Sentence(words), Sentence(("dogs", "bark"))]
    long, short = annotated(sentences, "constituency", folder=models)
    assert parse_bracketing(long.tree).words == words
    assert len(long.tags) == len(words)
    assert parse_bracketing(short.tree).words == ("dogs", "bark")


def test_pieces_have_their_own_tags():
    words = tuple(map(str, range(MAX_PARSED + 2)))
    pieces = stanza._pieces(Sentence(words, words))
    assert [len(piece) for piece in pieces] == [MAX_PARSED, 2]
    assert all(piece.tags == piece.words for piece in pieces)


def chain_of(words):
    """Return a piece of which each word depends on the one before it, but the second is the root."""
    heads = [2, 0, *range(2, len(words))]
    rest = {"upos": "U", "xpos": "X", "feats": None}
    rows = zip(words, heads, strict=True)
    return [SimpleNamespace(text=w, head=h, deprel="next" if h else "root", **rest) for w, h in rows]


def test_heads_of_later_pieces_are_counted_from_the_first():
    """Beside the chains themselves; roots of later pieces depend on that of the first."""
    size = 2 * MAX_PARSED + 5

    def pipeline(given):
        return SimpleNamespace(sentences=[SimpleNamespace(words=chain_of(words)) for words in given])

    annotator = Annotator(pipeline, AnnotatorOptions("en", "dependency"))
    ((_, tree),) = annotator.annotate([Sentence(tuple(map(str, range(size))))])
    found = dependency(tree)
    expected = [1, ROOT, *range(1, MAX_PARSED - 1)]
    for begin in (MAX_PARSED, 2 * MAX_PARSED):
        expected += [begin + 1, 1, *range(begin + 1, min(begin + MAX_PARSED, size) - 1)]
    assert found.words == tuple(map(str, range(size)))
    assert found.tree.heads == tuple(expected)
    relations = ["next"] * size
    relations[1], relations[MAX_PARSED + 1], relations[2 * MAX_PARSED + 1] = "root", "parataxis", "parataxis"
    assert found.tree.relations == tuple(relations)


@pytest.mark.parametrize(("tagset", "expected"), [("upos", "A X B X"), ("xpos", "U A U B")])
def test_given_tags_stand_in_the_column_of_their_tagset(tagset, expected):
    """The other has the tagger's."""
    rest = {"upos": "U", "xpos": "X", "feats": None, "deprel": "next"}

    def pipeline(given, processors):
        if not isinstance(given, list):
            return given
        words = ([SimpleNamespace(text=w, head=i, **rest) for i, w in enumerate(one)] for one in given)
        return SimpleNamespace(sentences=[SimpleNamespace(words=each) for each in words])

    options = AnnotatorOptions("en", "dependency", tagset, tagged=True)
    ((tags, tree),) = Annotator(pipeline, options).annotate([Sentence(("a", "b"), ("A", "B"))])
    assert tags == ("A", "B")
    assert [tag for line in tree.split("\n") for tag in line.split("\t")[3:5]] == expected.split()


def test_models_that_are_replaced_are_others(tmp_path):
    """Not those of other languages and processors, which come into the folder meanwhile."""
    pytest.importorskip("stanza")
    (tmp_path / "resources.json").write_text(json.dumps({"fr": {}}))
    path, found = tmp_path / "fr/pos/gsd.pt", []
    path.parent.mkdir(parents=True)
    for size, time in ((1, 1), (2, 1), (2, 2)):
        path.write_bytes(b"x" * size)
        os.utime(path, (time, time))
        found.append(prepare(AnnotatorOptions("fr", folder=str(tmp_path))))
    assert len(set(map(json.dumps, found))) == 3
    for other in ("de/pos", "fr/depparse"):
        (tmp_path / other).mkdir(parents=True)
        (tmp_path / other / "gsd.pt").write_bytes(b"x")
    assert prepare(AnnotatorOptions("fr", folder=str(tmp_path))) == found[-1]
    assert prepare(AnnotatorOptions("fr", "dependency", folder=str(tmp_path))) != found[-1]


class Phrase:
    def __format__(self, kind):
        return {"O": "(X y)"}[kind]


class Losing:
    """A pipeline that loses sentences with ``bad``, as Stanza's constituency parser may."""

    def __call__(self, sentences, processors="all"):
        if processors == "all":
            assert not any("bad" in words for words in sentences), "Number of list elements must match"
        return SimpleNamespace(sentences=[self.sentence(words) for words in sentences])

    def sentence(self, words):
        leaves = [SimpleNamespace(label="") for _ in words]
        tree = SimpleNamespace(children=[Phrase()], yield_preterminals=lambda: leaves)
        return SimpleNamespace(
            words=[SimpleNamespace(xpos=None, upos="-" + word.upper()) for word in words], constituency=tree
        )


def test_a_sentence_that_the_parser_loses_gets_a_flat_tree():
    annotator = Annotator(Losing(), AnnotatorOptions("en", "constituency"))
    sentences = [Sentence(tuple(line.split())) for line in ("a", "b bad )", "c", "d", "bad")]
    trees = [annotation.tree for annotation in annotator.annotate(sentences)]
    flat = "(ROOT (-B b) (-BAD bad) (--RRB- -RRB-))"
    assert trees == ["(ROOT (X y))", flat, "(ROOT (X y))", "(ROOT (X y))", "(ROOT (-BAD bad))"]


def test_folders_without_the_models(models, tmp_path):
    def refused(language, folder):
        with pytest.raises(UsageError) as caught:
            prepare(AnnotatorOptions(language, folder=str(folder)))
        return str(caught.value)

    command = f"""python -c 'import stanza; stanza.download("en", "{tmp_path}")'"""
    none = "no models of Stanza's for 'en', only for: no language; get them:"
    assert refused("en", tmp_path) == f"{tmp_path}: {none} {command}"
    (tmp_path / "it's").mkdir()
    assert shlex.split(refused("en", tmp_path / "it's"))[-1].endswith("it's\")")
    assert "no models of Stanza's for 'ja', only for: en; get them: python -c" in refused("ja", models)
    (tmp_path / "fr").mkdir()
    (tmp_path / "resources.json").write_text(json.dumps({"fra": {"alias": "fr"}, "de": {}}))
    assert prepare(AnnotatorOptions("fra", folder=str(tmp_path)))[1] == []
    assert "no models of Stanza's for 'de', only for: no language; get them: " in refused("de", tmp_path)
    for damaged in ([], {"de": "https://…"}, {"de": {"alias": 5}}):
        (tmp_path / "resources.json").write_text(json.dumps(damaged))
        assert "no models of Stanza's for 'de', only for: " in refused("de", tmp_path)
    (tmp_path / "en").mkdir()
    shutil.copy(f"{models}/en/pos.pt", tmp_path / "en")
    assert refused("en", tmp_path).endswith("en/pretrain.pt: no such model of Stanza's")
    shutil.copy(f"{models}/en/pretrain.pt", tmp_path / "en")
    (tmp_path / "en/pos.pt").chmod(0o600)
    (tmp_path / "en/pos.pt").write_bytes(b"damaged")
    with pytest.raises(UsageError, match="Stanza cannot load its models for en: "):
        load_pipeline(AnnotatorOptions("en", folder=str(tmp_path)))


def test_a_process_that_is_killed_while_models_are_loaded_leaves_no_file(models, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("stanza.Pipeline", lambda **_: list(tmp_path.iterdir()))
    assert stanza.load_pipeline(AnnotatorOptions("en", folder=models)) == []


def test_no_network(monkeypatch):
    pytest.importorskip("stanza")
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    message = r"models for en cannot be downloaded \(.*\); get them where .*; `stanza_dir` names the folder$"
    with pytest.raises(UsageError, match=message) as caught:
        prepare(AnnotatorOptions("en"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("language", "expected"), [("cs", ["tokenize,pos,depparse", "lemma"]), ("vi", ["tokenize,pos,depparse"])]
)
def test_models_that_are_fetched(monkeypatch, tmp_path, language, expected):
    itself = pytest.importorskip("stanza")
    fetched = []
    monkeypatch.setattr(itself, "download", lambda name, processors, **_: fetched.append((name, processors)))
    common = itself.resources.common
    monkeypatch.setattr(common, "DEFAULT_MODEL_DIR", str(tmp_path))
    known = {"cs": {"lemma": {"pdt": {}}}, "vi": {}}
    monkeypatch.setattr(common, "load_resources_json", lambda: known)
    (tmp_path / "resources.json").write_text(json.dumps(known))
    (tmp_path / language).mkdir()
    assert prepare(AnnotatorOptions(language, "dependency"))[1] == []
    assert fetched == [(language, steps) for steps in expected]
