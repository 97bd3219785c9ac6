"""``preorder diagnose``, end to end."""

import json

import pytest

from preorder.analysis import diagnosis
from preorder.cli import diagnose
from preorder.methods.train import TrainingPlan
from preorder_recipes.synthetic import generate
from tests.support.texts import write


@pytest.fixture(scope="module")
def bitext(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bitext") / "data"
    assert generate.main(["--out", str(folder), "--pairs", "300", "--held", "20"]) == 0
    return folder


def test_a_pair_and_translations(bitext, run, tmp_path):
    """A verb-final language, and translations whose words stand in reversed order."""
    reference = (bitext / "test.sov").read_text().splitlines()
    write(tmp_path / "hyp", *(" ".join(line.split()[::-1]) for line in reference))
    pair = f"--src {bitext}/train.svo --align {bitext}/train.align --pos {bitext}/train.svo.pos"
    both = f"diagnose {pair} --ref {bitext}/test.sov --hyp reversed=hyp --tokenize none"
    found = json.loads(run(f"{both} --json").out)
    one, system = found["pair"], found["systems"]["reversed"]
    assert one["sentences"] + one["skipped"] == 30
    assert one["unreordered"]["tau"] < 0.6 < 0.8 < one["predicted"]["tau"]
    assert 0.5 < one["share_of_the_way"] <= 1
    tags = {*(bitext / "train.svo.pos").read_text().split()}
    assert tags >= {found["word"] for found in one["words"]} > set()
    assert system["bleu"] < 10
    assert system["best_order"]["bleu"] == pytest.approx(100)
    assert one["profile"]["pairs"] == 300
    assert one["nearest"]["name"].startswith("a made-up verb-final language")
    printed = run(both).out
    details = (
        "of the way to the order of the links",
        "Measured cases",
        "by source length (tokens)",
        "Where most distance is left",
    )
    for text in ("Order headroom", "reversed, best BTG order", "What is left", "nearest case: "):
        assert text in printed
    assert not any(text in printed for text in details)
    assert printed.splitlines()[-1] == one["verdict"]
    assert one["verdict"].startswith("Too little text: you have 300 pairs")
    assert f"preorder train takes --method {one['method']} for such text: " in printed
    printed = run(f"diagnose {pair} -v").out
    assert all(text in printed for text in details)


def test_links_and_a_target_that_is_read_once(bitext, run, monkeypatch):
    """Its words count in the profile, as those of a file do."""
    pair = f"diagnose --json --src {bitext}/train.svo --align {bitext}/train.align"
    with (bitext / "train.sov").open(encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        streamed = run(f"{pair} --tgt -").out
    assert streamed == run(f"{pair} --tgt {bitext}/train.sov").out != run(pair).out


def test_the_order_of_translations_by_links(bitext, run, tmp_path):
    """Of two systems one has a person's order and one the source's; neither shares a word with the person."""
    pytest.importorskip("eflomal")
    source, target = (bitext / f"train.{side}" for side in ("svo", "sov"))
    write(tmp_path / "ref", *(line.upper() for line in target.read_text().splitlines()))
    write(tmp_path / "near", *(line.replace(" ", "x ") + "x" for line in source.read_text().splitlines()))
    line = f"diagnose --test-src {source} --hyp same={target} gloss=near --tokenize none"
    found = json.loads(run(f"{line} --ref ref --json").out)["orders"]
    assert found["gloss"]["in_order"] > 0.9 > 0.2 > found["reference"]["in_order"]
    assert found["same"]["differs"] < 0.2 < 0.8 < found["gloss"]["differs"]
    assert found["gloss"]["tau_human"] == pytest.approx(found["reference"]["tau"], abs=0.1)
    printed = run(line).out
    assert "Only source words that have links are seen" in printed
    assert printed.splitlines()[-1].startswith("gloss keeps the source's order in ")


def test_plain_text(run, tmp_path):
    """Links are to the tokens that Moses' rules make: ``Is n't it ?`` has four."""
    pytest.importorskip("sacremoses")
    for name, line in (("en", "Isn't it?"), ("fr", "N'est-ce pas?"), ("links", "0-2 2-1 3-3")):
        write(tmp_path / name, *[line] * 20)
    line = "diagnose --src en --tgt fr --align links"
    found = run(f"{line} --tokenize en,fr --json")
    assert "tokenize: en by sacremoses" in found.err
    assert json.loads(found.out)["pair"]["profile"]["length"] == 4
    assert "links:1: link " in run(f"{line} --json", 2).err
    said = run(f"{line} --tokenize en,fr:nothing", 2).err
    assert "no tokenizer 'nothing', only: moses" in said


def test_what_is_measured_is_not_learned_from(run, tmp_path, monkeypatch):
    """Not even for the classes of words; ``--seed`` draws the lines."""
    sources = [f"S{i} V{i} O{i}" for i in range(60)]
    write(tmp_path / "src", *sources)
    write(tmp_path / "align", *["0-0 1-2 2-1"] * 60)
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
    for seed in (1, 2):
        run(f"diagnose --src src --align align --lines 20 --seed {seed} --json")
        classes, learned, measured = heard[-3:]
        assert classes == learned
        assert (len(learned), len(measured), len(learned | measured)) == (18, 2, 20)
        drawn.append(learned | measured)
    assert {*sources[:20]} not in drawn
    assert drawn[0] != drawn[1]
    assert {*sources} > drawn[0] | drawn[1]


@pytest.mark.parametrize(
    ("options", "left"), [("", (0, 0, 0)), ("--case-sensitive", (0, 0, 1)), ("--tokenize none", (0, 1, 1))]
)
def test_what_counts_as_a_word(run, tmp_path, options, left):
    write(tmp_path / "ref", "A b c d.")
    write(tmp_path / "hyp", "a b c d .")
    found = json.loads(run(f"diagnose --ref ref --hyp one=hyp {options} --json").out)
    words = found["systems"]["one"]["words"]
    assert words == dict(zip(("missing", "too_many", "others"), left, strict=True))


def test_it_aligns(bitext, run):
    pytest.importorskip("eflomal")
    line = f"diagnose --src {bitext}/train.svo --tgt {bitext}/train.sov --lines 100 --json"
    found = json.loads(run(line).out)["pair"]
    assert found["sentences"] + found["skipped"] == 10
    assert 0.3 < found["unreordered"]["tau"] < 0.6  # by train.align it is 0.41


@pytest.mark.parametrize(
    ("keep", "message"), [(300, "train.align:1: link "), (299, "short:300: the file ends")]
)
def test_given_links_have_to_fit_the_target(bitext, run, tmp_path, keep, message):
    """Whose first sentence is cut to a word, or whose last is missing."""
    first, *others = (bitext / "train.sov").read_text().splitlines()[:keep]
    write(tmp_path / "short", first.split()[0] if keep == 300 else first, *others)
    line = f"diagnose --src {bitext}/train.svo --tgt short --align {bitext}/train.align"
    assert message in run(line, 2).err
