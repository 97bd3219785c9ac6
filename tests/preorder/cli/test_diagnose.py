"""``preorder diagnose``, end to end."""

import json

import pytest

from preorder.analysis import diagnosis
from preorder.cli import diagnose, main
from preorder.methods.train import TrainingPlan
from preorder_recipes.synthetic import generate
from tests.support.texts import write


@pytest.fixture(scope="module")
def bitext(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bitext") / "data"
    assert generate.main(["--out", str(folder), "--pairs", "300", "--held", "20"]) == 0
    return folder


def test_a_pair_and_translations(bitext, tmp_path, capsys):
    """A verb-final language, and translations whose words stand in reversed order."""
    reference = (bitext / "test.sov").read_text().splitlines()
    (tmp_path / "hyp").write_text("".join(" ".join(line.split()[::-1]) + "\n" for line in reference))
    pair = ["--src", str(bitext / "train.svo"), "--align", str(bitext / "train.align")]
    pair += ["--pos", str(bitext / "train.svo.pos")]
    translations = ["--ref", str(bitext / "test.sov"), "--hyp", f"reversed={tmp_path / 'hyp'}"]
    translations += ["--tokenize", "none"]
    assert main(["diagnose", *pair, *translations, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pair"]["sentences"] + found["pair"]["skipped"] == 30
    assert found["pair"]["unreordered"]["tau"] < 0.6 < 0.8 < found["pair"]["predicted"]["tau"]
    assert 0.5 < found["pair"]["share_of_the_way"] <= 1
    tags = {*(bitext / "train.svo.pos").read_text().split()}
    assert tags >= {found["word"] for found in found["pair"]["words"]} > set()
    assert found["systems"]["reversed"]["bleu"] < 10
    assert found["systems"]["reversed"]["best_order"]["bleu"] == pytest.approx(100)
    assert found["pair"]["profile"]["pairs"] == 300
    assert found["pair"]["nearest"]["name"].startswith("a made-up verb-final language")
    assert main(["diagnose", *pair, *translations]) == 0
    printed = capsys.readouterr().out
    details = ("of the way to the order of the links", "Measured cases", "Where most distance is left")
    for text in ("Order headroom", "reversed, best BTG order", "What is left", "nearest case: "):
        assert text in printed
    assert not any(text in printed for text in details)
    assert printed.splitlines()[-1] == found["pair"]["verdict"]
    assert found["pair"]["verdict"].startswith("Word order is worth trying: ")
    assert f"preorder train takes --method {found['pair']['method']} for such text: " in printed
    assert main(["diagnose", *pair, "-v"]) == 0
    printed = capsys.readouterr().out
    assert all(text in printed for text in details)


def test_the_order_of_translations_by_links(bitext, tmp_path, capsys):
    """Of two systems one has a person's order and one the source's; neither shares a word with the person."""
    pytest.importorskip("eflomal")
    source, target = (bitext / f"train.{side}" for side in ("svo", "sov"))
    reference = [line.upper() for line in target.read_text().splitlines()]
    glosses = [" ".join(f"{word}x" for word in line.split()) for line in source.read_text().splitlines()]
    people, near = write(tmp_path / "ref", *reference), write(tmp_path / "near", *glosses)
    given = ["--test-src", str(source), "--hyp", f"same={target}", f"gloss={near}", "--tokenize", "none"]
    assert main(["diagnose", *given, "--ref", people, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["orders"]
    assert found["gloss"]["in_order"] > 0.9 > 0.2 > found["reference"]["in_order"]
    assert found["same"]["differs"] < 0.2 < 0.8 < found["gloss"]["differs"]
    assert found["gloss"]["tau_human"] == pytest.approx(found["reference"]["tau"], abs=0.1)
    assert main(["diagnose", *given]) == 0
    printed = capsys.readouterr().out
    assert "Only source words that have links are seen" in printed
    assert printed.splitlines()[-1].startswith("gloss keeps the source's order in ")
    assert main(["diagnose", *given, "--out", str(tmp_path / "p.svg")]) == 2


def test_plain_text(tmp_path, capsys):
    """Links are to the tokens that Moses' rules make: ``Is n't it ?`` has four."""
    pytest.importorskip("sacremoses")
    english, french = (
        write(tmp_path / "en", *["Isn't it?"] * 20),
        write(tmp_path / "fr", *["N'est-ce pas?"] * 20),
    )
    files = ["--src", english, "--tgt", french, "--align", write(tmp_path / "links", *["0-2 2-1 3-3"] * 20)]
    assert main(["diagnose", *files, "--tokenize", "en,fr", "--json"]) == 0
    printed = capsys.readouterr()
    assert "tokenize: en by sacremoses" in printed.err
    assert json.loads(printed.out)["pair"]["profile"]["length"] == 4
    assert main(["diagnose", *files, "--json"]) == 2
    assert "links:1: link " in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["diagnose", *files, "--tokenize", "en,fr:nothing"])
    assert "no tokenizer 'nothing', only: moses" in capsys.readouterr().err


def test_what_is_measured_is_not_learned_from(tmp_path, monkeypatch, capsys):
    """Not even for the classes of words; ``--seed`` draws the lines."""
    sources = [f"S{i} V{i} O{i}" for i in range(60)]
    text, links = write(tmp_path / "src", *sources), write(tmp_path / "align", *["0-0 1-2 2-1"] * 60)
    heard = []

    def listen(owner, name, lines):
        work = getattr(owner, name)

        def listening(*arguments):
            heard.append({" ".join(words) for words in lines(*arguments)})
            return work(*arguments)

        monkeypatch.setattr(owner, name, listening)

    listen(diagnose, "learn_classes", lambda words, *_: words)
    listen(TrainingPlan, "train", lambda _, pairs: [sentence.words for sentence in pairs.sentences])
    listen(diagnosis, "diagnose_pair", lambda names, *_: names)
    drawn = []
    for seed in ("1", "2"):
        options = ["--lines", "20", "--seed", seed, "--json"]
        assert main(["diagnose", "--src", text, "--align", links, *options]) == 0
        classes, learned, measured = heard[-3:]
        assert classes == learned
        assert (len(learned), len(measured), len(learned | measured)) == (18, 2, 20)
        drawn.append(learned | measured)
    assert {*sources[:20]} not in drawn
    assert drawn[0] != drawn[1]
    assert {*sources} > drawn[0] | drawn[1]


@pytest.mark.parametrize(
    ("options", "left"),
    [([], (0, 0, 0)), (["--case-sensitive"], (0, 0, 1)), (["--tokenize", "none"], (0, 1, 1))],
)
def test_what_counts_as_a_word(tmp_path, capsys, options, left):
    reference, hypothesis = write(tmp_path / "ref", "A b c d."), write(tmp_path / "hyp", "a b c d .")
    assert main(["diagnose", "--ref", reference, "--hyp", f"one={hypothesis}", *options, "--json"]) == 0
    words = json.loads(capsys.readouterr().out)["systems"]["one"]["words"]
    assert words == dict(zip(("missing", "too_many", "others"), left, strict=True))


def test_a_picture(bitext, tmp_path):
    pytest.importorskip("matplotlib")
    files = ["--ref", str(bitext / "test.sov"), "--hyp", str(bitext / "test.sov")]
    assert main(["diagnose", *files, "--out", str(tmp_path / "p.svg"), "-q"]) == 0
    assert (tmp_path / "p.svg").stat().st_size > 1000


def test_it_aligns(bitext, capsys):
    pytest.importorskip("eflomal")
    files = ["--src", str(bitext / "train.svo"), "--tgt", str(bitext / "train.sov")]
    assert main(["diagnose", *files, "--lines", "100", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["pair"]
    assert found["sentences"] + found["skipped"] == 10


@pytest.mark.parametrize(
    ("keep", "message"), [(300, "train.align:1: link "), (299, "short:300: the file ends")]
)
def test_given_links_have_to_fit_the_target(bitext, tmp_path, capsys, keep, message):
    """Whose first sentence is cut to a word, or whose last is missing."""
    first, *others = (bitext / "train.sov").read_text().splitlines()[:keep]
    (tmp_path / "short").write_text("\n".join([first.split()[0] if keep == 300 else first, *others, ""]))
    pair = ["--src", str(bitext / "train.svo"), "--tgt", str(tmp_path / "short")]
    assert main(["diagnose", *pair, "--align", str(bitext / "train.align")]) == 2
    assert message in capsys.readouterr().err
