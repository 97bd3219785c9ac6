"""Stanza itself, on the small models of ../shared: skipped where Stanza or they are absent."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from preorder.annotate import stanza
from preorder.annotate.stanza import EMPTY, MAX_LENGTH, Annotator, StanzaOptions, annotate_chunk, prepare
from preorder.annotate.stanza import load_pipeline as load
from preorder.data.sentence import Sentence
from preorder.data.spellings import same
from preorder.data.trees import ROOT
from preorder.errors import UsageError
from preorder.syntax.conllu import TAGSETS, parse_conllu
from preorder.syntax.read import parse_bracketing
from tests.support.running import environment, wait_until

ODD = ("(", "a", "-LRB-", "x\u3000y", "z\u00a0w", "_", "|", ")")


@pytest.fixture(scope="module")
def models(shared):
    pytest.importorskip("stanza", reason="needs Stanza: pip install -e '.[stanza]'")
    return str(shared("models/stanza"))


@pytest.fixture(autouse=True)
def one_thread_here_alone():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
    stanza._annotator.cache_clear()


def dependency(tree):
    ((_, readings),) = parse_conllu(enumerate(tree.split("\n"), 1))
    return readings[0]


def test_agrees_with_what_the_models_said_before(models, shared):
    lines = [
        (shared(f"data/enja/train.en{kind}").open(encoding="utf-8").readlines()[:60])
        for kind in ("", ".pos", ".trees")
    ]
    words, tags, trees = ([line.rstrip("\n") for line in kind] for kind in lines)
    found = annotate_chunk(
        StanzaOptions("en", "constituency", folder=models), [Sentence(tuple(line.split())) for line in words]
    )
    same = [
        (" ".join(one.tags), one.tree) == known
        for one, known in zip(found, zip(tags, trees, strict=True), strict=True)
    ]
    assert sum(same) >= 0.95 * len(same)  # another version of torch may round otherwise


@pytest.mark.parametrize("given", [None, ("-LRB-", "DT", "NN", "NN", "NN", "NN", ":", "-RRB-")])
def test_odd_tokens_come_back_as_they_are(models, given):
    (one,) = annotate_chunk(
        StanzaOptions("en", "constituency", folder=models, tagged=given is not None), [Sentence(ODD, given)]
    )
    leaves = parse_bracketing(one.tree)
    assert all(map(same, leaves.words, ODD))
    assert leaves.tags == one.tags
    (two,) = annotate_chunk(
        StanzaOptions("en", "dependency", folder=models, tagged=given is not None), [Sentence(ODD, given)]
    )
    assert dependency(two.tree).words == ODD
    if given:
        assert one.tags == two.tags == given
        assert [row.split("\t")[4] for row in two.tree.split("\n")] == list(given)


def test_tagsets(models):
    sentence = [Sentence(("the", "dog", "barks"))]
    tags = {
        tagset: annotate_chunk(StanzaOptions("en", None, tagset, folder=models), sentence)[0].tags
        for tagset in TAGSETS
    }
    assert tags["xpos"][0] == "DT"
    assert tags["upos"][0] == "DET"


@pytest.mark.parametrize("trees", ["constituency", "dependency"])
def test_given_tags_decide(models, trees):
    words = ("dogs", "watch", "birds")
    trees = [
        annotate_chunk(StanzaOptions("en", trees, folder=models, tagged=True), [Sentence(words, tags)])[
            0
        ].tree
        for tags in (("NNS", "VBP", "NNS"), ("NNP", "NNP", "NNP"))
    ]
    assert trees[0] != trees[1]


def test_long_sentences_are_parsed_in_pieces(models):
    words = tuple(f"{word}{i % 7 or ''}" for i in range(MAX_LENGTH) for word in ("dogs", "bark"))[
        : MAX_LENGTH + 5
    ]
    sentences = [Sentence(words), Sentence(("dogs", "bark"))]
    long, short = annotate_chunk(StanzaOptions("en", "constituency", folder=models), sentences)
    assert parse_bracketing(long.tree).words == words
    assert len(long.tags) == len(words)
    assert parse_bracketing(short.tree).words == ("dogs", "bark")
    tree = dependency(annotate_chunk(StanzaOptions("en", "dependency", folder=models), sentences)[0].tree)
    assert tree.words == words
    assert tree.tree.heads.count(ROOT) == 1
    root = tree.tree.heads.index(ROOT)
    assert root < MAX_LENGTH
    assert "parataxis" in tree.tree.relations[MAX_LENGTH:]
    assert all(
        (head == root) == (relation == "parataxis") or token < MAX_LENGTH
        for token, (head, relation) in enumerate(zip(tree.tree.heads, tree.tree.relations, strict=True))
    )


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
    annotator = Annotator(Losing(), StanzaOptions("en", "constituency"))
    sentences = [Sentence(tuple(line.split())) for line in ("a", "b bad )", "c", "d", "bad")]
    trees = [annotation.tree for annotation in annotator.annotate(sentences)]
    flat = "(ROOT (-B b) (-BAD bad) (--RRB- -RRB-))"
    assert trees == ["(ROOT (X y))", flat, "(ROOT (X y))", "(ROOT (X y))", "(ROOT (-BAD bad))"]


def test_stanza_does_not_see_empty_sentences():
    annotator = Annotator(Losing(), StanzaOptions("en", "constituency"))
    empty = Sentence(())
    assert annotator.annotate([empty, Sentence(("a",)), empty])[::2] == [EMPTY, EMPTY]
    assert Annotator(None, StanzaOptions("en")).annotate([empty]) == [EMPTY]


def test_no_models_in_the_folder(tmp_path):
    pytest.importorskip("stanza")
    expected = (
        f"{tmp_path}: no models of Stanza's for 'en', only for: no language; get them: "
        f"python -c \"import stanza; stanza.download('en', '{tmp_path}')\""
    )
    with pytest.raises(UsageError, match=f"^{re.escape(expected)}$"):
        prepare(StanzaOptions("en", folder=str(tmp_path)))


def test_a_language_is_missing_in_the_folder(models, tmp_path):
    expected = (
        f"{models}: no models of Stanza's for 'ja', only for: en; get them: python -c \"import stanza; "
    )
    with pytest.raises(UsageError, match=f"^{re.escape(expected)}"):
        prepare(StanzaOptions("ja", folder=models))
    (tmp_path / "fr").mkdir()
    (tmp_path / "resources.json").write_text(json.dumps({"fra": {"alias": "fr"}, "de": {}}))
    assert prepare(StanzaOptions("fra", folder=str(tmp_path)))[1] == []
    with pytest.raises(UsageError, match="no models of Stanza's for 'de', only for: no language; get them: "):
        prepare(StanzaOptions("de", folder=str(tmp_path)))


def test_the_command_that_downloads_can_be_pasted():
    folders = ["models", "/my models/x", "it's", '"', "$HOME"]
    calls = []
    fake = SimpleNamespace(download=lambda *given: calls.append(given))
    for folder in folders:
        _, _, code = shlex.split(stanza._command("en", folder))
        exec(code.removeprefix("import stanza; "), {"stanza": fake})
    assert calls == [("en", folder) for folder in folders]


def test_which_folder(tmp_path, caplog):
    remembered_folder = stanza.remembered_folder
    trained = StanzaOptions("en", folder=str(tmp_path))
    assert remembered_folder(None, None) is None
    assert remembered_folder(None, "given") == "given"
    assert remembered_folder(trained, "given") == "given"
    assert remembered_folder(trained, None) == str(tmp_path)
    assert not caplog.messages
    assert remembered_folder(StanzaOptions("en", folder=str(tmp_path / "gone")), None) is None
    assert [str(tmp_path / "gone") in message for message in caplog.messages] == [True]


def test_a_model_is_missing(models, tmp_path):
    (tmp_path / "en").mkdir()
    shutil.copy(f"{models}/en/pos.pt", tmp_path / "en")
    with pytest.raises(UsageError, match=r"en/pretrain.pt: no such model"):
        prepare(StanzaOptions("en", folder=str(tmp_path)))


KILLED = """
import os, sys, stanza
from preorder.annotate.stanza import StanzaOptions, load_pipeline as load
stanza.Pipeline = lambda **_: os._exit(len(os.listdir(os.environ["TMPDIR"])))
load(StanzaOptions("en", folder=sys.argv[1]))
"""


def test_killed_while_models_are_loaded_nothing_is_left(models, tmp_path):
    command = [sys.executable, "-c", KILLED, models]
    assert subprocess.run(command, env=environment(TMPDIR=str(tmp_path))).returncode == 1
    wait_until(lambda: not list(tmp_path.iterdir()))


def test_resources_need_not_be_there_and_damage_is_told(models, tmp_path):
    shutil.copytree(f"{models}/en", tmp_path / "en")
    options = StanzaOptions("en", folder=str(tmp_path))
    assert len(annotate_chunk(options, [Sentence(("dogs", "bark"))])[0].tags) == 2
    (tmp_path / "en" / "pos.pt").chmod(0o600)
    (tmp_path / "en" / "pos.pt").write_bytes(b"damaged")
    with pytest.raises(UsageError, match="Stanza cannot load its models for en: "):
        load(options)


def test_models_as_downloaded(models, tmp_path):
    """The layout of ``stanza.download``, from the same files."""
    resources = {
        "pos": {"small": {"md5": "", "dependencies": [{"model": "pretrain", "package": "small"}]}},
        "tokenize": {"small": {"md5": ""}},
        "pretrain": {"small": {"md5": ""}},
        "packages": {"default": {"tokenize": "small", "pos": "small", "pretrain": "small"}},
    }
    (tmp_path / "resources.json").write_text(json.dumps({"en": resources}))
    for name in ("pos", "pretrain"):
        (tmp_path / "en" / name).mkdir(parents=True)
        shutil.copy(f"{models}/en/{name}.pt", tmp_path / "en" / name / "small.pt")
    options = StanzaOptions("en", folder=str(tmp_path))
    _, files = prepare(options)
    assert [name for name, *_ in files] == ["en/pos/small.pt", "en/pretrain/small.pt"]
    sentence = [Sentence(("dogs", "bark"))]
    flat = StanzaOptions("en", folder=models)
    assert annotate_chunk(options, sentence) == annotate_chunk(flat, sentence)


def test_no_network(monkeypatch):
    pytest.importorskip("stanza")
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv(stanza.FOLDER_VARIABLE, raising=False)
    message = (
        r"models for en cannot be downloaded \(.*\); get them where .*; --stanza-dir DIR names the folder$"
    )
    with pytest.raises(UsageError, match=message) as caught:
        prepare(StanzaOptions("en"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("language", "expected"), [("cs", ["tokenize,pos,depparse", "lemma"]), ("vi", ["tokenize,pos,depparse"])]
)
def test_models_that_are_fetched(monkeypatch, tmp_path, language, expected):
    stanza = pytest.importorskip("stanza")
    fetched = []
    monkeypatch.setattr(stanza, "download", lambda name, processors, **_: fetched.append((name, processors)))
    common = stanza.resources.common
    monkeypatch.setattr(common, "DEFAULT_MODEL_DIR", str(tmp_path))
    monkeypatch.setattr(common, "load_resources_json", lambda: {"cs": {"lemma": {"pdt": {}}}, "vi": {}})
    assert prepare(StanzaOptions(language, "dependency"))[1] == []
    assert fetched == [(language, steps) for steps in expected]


def test_no_gpu(models):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(UsageError, match="there is no GPU that torch can use"):
        load(StanzaOptions("en", folder=models, device="gpu"))
