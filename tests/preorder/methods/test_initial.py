"""What a training that begins from a model takes over and refuses, on the command line and in Python."""

import json
from dataclasses import replace

import pytest

pytest.importorskip("torch")

import preorder
from preorder.annotate.options import AnnotatorOptions
from preorder.cli import main
from preorder.errors import UsageError
from preorder.methods.model_directory import load_model, save_model
from preorder.methods.perceptron_btg.model import BTGPreorderer
from preorder.methods.registry import NEED_TREES
from tests.support.texts import links, rows, write
from tests.support.verb_last import ASKED, POSITIONS, SENTENCES, SOURCES, TAGS

STRAIGHT = [links(range(len(sentence))) for sentence in SENTENCES]
PARTS = [source.split(maxsplit=2) for source in SOURCES]
TREES = [f"(S (P {s}) (VP (V {v}) (NP {' '.join(f'(N {w})' for w in o.split())})))" for s, v, o in PARTS]
SMALL = {
    "btg": {},
    "neural-btg": {"hidden": 8, "depth": 1, "minibatch": 6, "iterations": 6, "ensemble": "none"},
    "rvnn": {"size": 8, "minibatch": 6, "learning_rate": 0.02, "iterations": 6},
    "swap-lstm": {"size": 8, "minibatch": 6, "learning_rate": 0.02, "iterations": 6},
}


def layers_of(method):
    return {"trees": TREES} if method in NEED_TREES else {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with texts, links, and models of the order that the source has."""
    folder = tmp_path_factory.mktemp("initial")
    for name, lines in (("src", SOURCES), ("align", ASKED), ("straight", STRAIGHT), ("trees", TREES)):
        write(folder / name, *lines)
    for method, options in SMALL.items():
        layers = layers_of(method)
        model = preorder.train(SOURCES, STRAIGHT, method, classes=3, held_out=0, **layers, **options)
        assert preorder.evaluate(model.positions(SOURCES, **layers), STRAIGHT).complete_match == 1
        model.save(str(folder / method))
    options = {"classes": 0, "held_out": 0, "iterations": 1}
    preorder.train(SOURCES, STRAIGHT, tags=TAGS, **options).save(str(folder / "tagged"))
    return folder


def command(folder, method, initial, out, *more):
    files = ["--src", str(folder / "src"), "--align", str(folder / "align")]
    given = ["--init", str(folder / initial), "--model", str(out), "--held-out", "0"]
    return ["train", "--method", method, *files, *given, *more]


@pytest.mark.parametrize("method", SMALL)
def test_the_command_and_python_begin_from_a_model(method, folder, tmp_path):
    before, layers = preorder.load(str(folder / method)), layers_of(method)
    again = [] if method == "btg" else ["--minibatch", "6", "--iterations", "20"]
    again += ["--trees", str(folder / "trees"), "--learning-rate", "0.02"] if layers else []
    assert main(command(folder, method, method, tmp_path / "a", *again)) == 0
    options = {"minibatch": 6, "iterations": 20} if again else {}
    options |= {"learning_rate": 0.02} if layers else {}
    after = preorder.train(SOURCES, ASKED, method, init=before, held_out=0, **layers, **options)
    after.save(str(tmp_path / "b"))
    for name in ("weights.safetensors", "classes.txt", "model.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert (folder / method / "classes.txt").read_bytes() == (tmp_path / "a" / "classes.txt").read_bytes()
    scores = [
        preorder.evaluate(model.positions(SOURCES, **layers), ASKED).tau_nakagawa for model in (before, after)
    ]
    assert scores[0] < scores[1]
    assert scores[1] == 1
    of_model = json.loads((folder / method / "model.json").read_text())["training"]
    training = json.loads((tmp_path / "a" / "model.json").read_text())["training"]
    assert training["init"]["training"] == of_model
    assert len(training["init"]["weights"]) == 32
    for name in SMALL[method].keys() & {"hidden", "depth", "ensemble", "size"}:
        assert training["options"][name] == SMALL[method][name]


def test_parts_begin_from_the_model_too(folder, tmp_path):
    out = ["--cross-fit", "2", "--cross-fit-out", str(tmp_path / "features")]
    assert main(command(folder, "btg", "btg", tmp_path / "m", "--iterations", "4", *out)) == 0
    assert len((tmp_path / "features").read_text().splitlines()) == len(SOURCES)
    assert main(command(folder, "neural-btg", "neural-btg", tmp_path / "n", "--keep-folds", *out)) == 0
    written = json.loads((tmp_path / "n/model.json").read_text())
    training, members = written["training"], written["state"]["members"]
    assert (training["folds"], len(members)) == (2, 2)
    assert training["init"]["training"]["sentences"] == len(SOURCES)


def test_members_begin_from_the_model_too():
    """Steps that are too small to change its order."""
    before = preorder.train(SOURCES, ASKED, "btg", classes=0, held_out=0)
    options = {"iterations": 1, "aggressiveness": 1e-9, "held_out": 0}
    after = preorder.train(SOURCES, STRAIGHT, "btg", init=before, members=2, **options)
    assert after.positions(SOURCES) == before.positions(SOURCES) == POSITIONS


def test_parts_are_ordered_by_the_model_s_word_classes_too(folder, tmp_path, monkeypatch):
    """Whatever classes --annot has: those of the model are used, as they will be by apply."""
    ordered, order = [], BTGPreorderer.order
    monkeypatch.setattr(BTGPreorderer, "order", lambda *given: ordered.extend(given[1]) or order(*given))
    lines = ("\t".join((source, *[" ".join("9" * len(source.split()))] * 2)) for source in SOURCES)
    more = ["--iterations", "1", "--cross-fit", "2", "--cross-fit-out", str(tmp_path / "features")]
    given = command(folder, "btg", "btg", tmp_path / "m", *more)
    given[given.index("--src") : given.index("--align")] = ["--annot", str(write(tmp_path / "annot", *lines))]
    assert main(given) == 0
    classes = load_model(str(folder / "btg")).classes
    assert len(ordered) == len(SOURCES)
    assert all(sentence.classes == classes.add_to(sentence).classes for sentence in ordered)


def test_parts_are_ordered_by_the_tags_that_the_model_knows_too(folder, tmp_path, monkeypatch):
    ordered, order = [], BTGPreorderer.order
    monkeypatch.setattr(BTGPreorderer, "order", lambda *given: ordered.extend(given[1]) or order(*given))
    tags = write(tmp_path / "tags", *(line.replace("X", "X/名詞") for line in TAGS))
    more = ["--pos", tags, "--iterations", "1", "--cross-fit", "2"]
    more += ["--cross-fit-out", str(tmp_path / "features")]
    assert main(command(folder, "btg", "tagged", tmp_path / "m", *more)) == 0
    assert len(ordered) == len(SOURCES)
    assert {tag for sentence in ordered for tag in sentence.tags} == {"X"}


def test_the_model_still_tags_plain_text_though_the_new_text_brings_its_tags(folder, tmp_path):
    stanza = AnnotatorOptions("en", tagset="xpos")
    save_model(
        replace(load_model(str(folder / "tagged")), language="en", stanza=stanza), str(tmp_path / "first")
    )
    tags = write(tmp_path / "tags", *TAGS)
    line = command(folder, "btg", tmp_path / "first", tmp_path / "m", "--iterations", "1", "--pos", tags)
    assert main(line) == 0
    assert load_model(str(tmp_path / "m")).stanza == load_model(str(tmp_path / "first")).stanza
    assert load_model(str(tmp_path / "m")).stanza is not None


def test_layers_that_the_model_does_not_read(folder, tmp_path, capsys):
    tags = write(tmp_path / "tags", *TAGS)
    assert main(command(folder, "btg", "btg", tmp_path / "m", "--iterations", "1", "--pos", tags)) == 0
    assert "--pos is not used: the model was trained without it\n" in capsys.readouterr().err
    assert preorder.load(str(tmp_path / "m")).positions(SOURCES)


CONTRADICTIONS = """
neural-btg | btg | --init: the model is of method btg, not neural-btg
btg | rvnn | --init: the model is of method rvnn, not btg
rvnn | rvnn | --method rvnn needs syntax --trees, constituency or dependency
rvnn | rvnn --trees TREES --size 9 | --size 9: the model of --init has 8
rvnn | rvnn --trees TREES --binarisation left | --binarisation left: the model of --init has head
swap-lstm | swap-lstm --trees TREES --category off | --category off: the model of --init has on
swap-lstm | swap-lstm --trees TREES --vocabulary 5 | --vocabulary 5: the model of --init has 8
btg | btg --classes 4 | --classes: with --init the model's word classes are used
neural-btg | neural-btg --hidden 9 | --hidden 9: the model of --init has 8
neural-btg | neural-btg --ensemble perceptron | --ensemble perceptron: the model of --init has none
btg | tagged | the model needs POS tags (--pos), and none are given
btg | nowhere | nowhere/model.json: cannot be read: No such file or directory
"""


@pytest.mark.parametrize(("method", "given", "reason"), rows(CONTRADICTIONS))
def test_what_contradicts_the_model(folder, tmp_path, capsys, method, given, reason):
    initial, *more = given.replace("TREES", str(folder / "trees")).split()
    assert main(command(folder, method, initial, tmp_path / "m", *more)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(reason)
    assert not (tmp_path / "m").exists()


def test_a_missing_layer_is_told_before_the_texts_are_aligned(folder, tmp_path, capsys):
    given = command(folder, "btg", "tagged", tmp_path / "m")
    given[given.index("--align")] = "--tgt"
    assert main(given) == 2
    assert capsys.readouterr().err == "the model needs POS tags (--pos), and none are given\n"


def test_what_contradicts_the_model_in_python(folder):
    before = preorder.load(str(folder / "neural-btg"))
    with pytest.raises(UsageError, match="classes: with init the model's word classes are used"):
        preorder.train(SOURCES, ASKED, "neural-btg", init=before, classes=0)
