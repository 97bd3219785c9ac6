"""What each system reads, that the preparation makes it, and what training and translation are given."""

import argparse
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch
import yaml
from onmt.bin.translate import _get_parser
from sentencepiece import SentencePieceProcessor

from onmt_preorder import base_configuration
from onmt_preorder.base_configuration import CONFIG
from preorder.command_line.options import taken
from preorder.errors import UsageError
from preorder_recipes import configuration, run
from preorder_recipes.configuration import VOCABULARY_OPTIONS, read_system, read_vocabulary, systems_in
from preorder_recipes.pipeline import checkpoints, subwords
from preorder_recipes.pipeline.job import PARTS, Job, Search, add_search
from preorder_recipes.pipeline.opennmt import search_options
from preorder_recipes.pipeline.prepare import _apply, hand_options, prepare, train_preorderer
from preorder_recipes.pipeline.runner import StepRunner
from preorder_recipes.pipeline.score import _facts, _manifest, _not_converged
from preorder_recipes.pipeline.steps import Step
from preorder_recipes.pipeline.train import _subwords, _vocabulary, config_of, train, vocabulary_of
from preorder_recipes.pipeline.train import steps_of as training_steps
from tests.support.fake_programs import after
from tests.support.running import environment
from tests.support.texts import rows, write

SPLIT = ["filtertoolong", "sentencepiece"]
SOURCES = {  # of training and of test; order, supervision
    "plain": ("en", "en", None, None),
    "preorder_relative": ("en.predicted.features", "en.predicted.features", "predicted", None),
    "gold": ("en.gold.features", "en.gold.features", "gold", None),
    "reordered_text": ("en.predicted.text", "en.predicted.text", "predicted", None),
    "plain_gold_text": ("en.gold.text", "en.gold.text", "gold", None),
    "exgre": ("en.gold_kept.features", "en", None, "gold_kept"),
    "exgre_predicted": ("en.predicted.features", "en", None, "predicted"),
}


def job_of(folder, *names):
    systems = tuple(read_system(name, "tiny") for name in names)
    return Job(folder, "en", "ja", "tiny", systems, (1,), "cpu")


@pytest.fixture
def folder(tmp_path):
    """A run's folder with the target's texts, whose lines are counted."""
    (tmp_path / "data").mkdir()
    for part in PARTS:
        (tmp_path / f"data/{part}.ja").write_text("x\ny\n")
    return tmp_path


def prepared(job, aligner=None, folds=0):
    return {step.name: step for step in steps_of(prepare(job, aligner, folds, ()))}


def steps_of(phases):
    return [step for phase in phases for chain in phase for step in chain]


@pytest.mark.parametrize("name", SOURCES)
def test_sources_and_the_preparation_makes_them(tmp_path, name):
    job = job_of(tmp_path, name)
    (system,) = job.systems
    found = [job.source_of(system, part) for part in PARTS]
    train, test, order, supervision = SOURCES[name]
    assert found == [f"data/train.{train}", f"data/dev.{train}", f"data/test.{test}"]
    assert (system.order, system.supervision) == (order, supervision)
    given = {job.text(part, "en") for part in PARTS}
    for folds in (0, 5):
        assert {*found} <= given | {
            path for step in prepared(job, None, folds).values() for path in step.makes
        }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("reads: goldd", "odd.yaml: reads is 'goldd', not one of plain, predicted, gold, "),
        ("reads: plain\nbegins_from: nothing", "no configuration of a system nothing; there are: even, odd"),
        ("reads: [plain]", r"odd.yaml: reads is \[.plain.\], not a name"),
        ("reads: plain\nbegins_from: 5", "odd.yaml: begins_from is 5, not a name"),
        ("supervision: gold", "odd.yaml: reads is None, not one of plain"),
        ("reads: plain\nsupervision: x", "odd.yaml: supervision is 'x', not predicted or gold_kept"),
        ("reads: plain\nheads: 2\ntrained_as: even", "odd.yaml: its options are not those of even, whose"),
    ],
)
def test_what_a_system_cannot_read(tmp_path, monkeypatch, line, message):
    (tmp_path / "system").mkdir()
    (tmp_path / "system/odd.yaml").write_text(f"{line}\n")
    (tmp_path / "system/even.yaml").write_text("reads: gold\nheads: 1\n")
    monkeypatch.setattr("preorder_recipes.configuration.CONFIG", tmp_path)
    with pytest.raises(UsageError, match=message):
        read_system("odd", None)


CHAINS = {  # own systems that need others, and what is trained for them, in its order
    "base: {0}/gold.yaml\nreads: predicted\nbegins_from: gold": "gold mine",
    "base: {0}/distortion_hidden.yaml\nbegins_from: rnnsearch_longer": "rnnsearch rnnsearch_longer mine",
    "base: {0}/plain_gold_text.yaml\nreads: predicted_text\ntrained_as: plain_gold_text": "plain_gold_text",
    "base: {0}/preorder_gold_trained.yaml\ntrained_as: preorder_gold_trained": "gold",
    "base: {0}/distortion_hidden.yaml\nbegins_from: rnnsearch_gold_trained": "rnnsearch_gold mine",
    "base: {0}/distortion_hidden.yaml\ntrained_as: distortion_hidden": "rnnsearch distortion_hidden",
    "base: {0}/distortion_hidden.yaml\nbegins_from: {1}/other.yaml": "rnnsearch other mine",
    "base: {0}/distortion_hidden.yaml\nbegins_from: other.yaml": "rnnsearch other mine",  # beside it
}


@pytest.mark.parametrize("text", CHAINS)
def test_all_that_a_system_needs_is_made_before_it(folder, text):
    (folder / "other.yaml").write_text(f"base: {CONFIG}/system/rnnsearch_longer.yaml\n")
    path = folder / "mine.yaml"
    path.write_text(text.format(CONFIG / "system", folder), encoding="utf-8")
    job = job_of(folder, str(path))
    made = {job.text(part, side) for part in (*PARTS, "all") for side in ("en", "ja")}
    phases = [*prepare(job, (), 0, ()), *train(job)]
    trained = []
    for step in steps_of(phases):
        assert {*step.reads} <= made | {path for path in step.reads if (folder / path).exists()}, step.name
        made |= {*step.makes, step.log}
        trained += [step.name.removeprefix("train/").removesuffix("-seed1")] * step.name.startswith("train/")
    assert " ".join(dict.fromkeys(trained)) == CHAINS[text]


def test_a_system_that_needs_itself_is_refused(folder):
    path = folder / "mine.yaml"
    path.write_text(f"base: {CONFIG}/system/plain.yaml\nbegins_from: {path}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="mine.yaml: needs a model of its own before it is trained"):
        train(job_of(folder, str(path)))


CONFIGURED = """
train_steps: 1460, valid_steps: 1000 | valid_steps: 1460, save_checkpoint_steps: 1460
train_steps: 1460, valid_steps: 292 | valid_steps: 292, save_checkpoint_steps: 292
train_steps: 20, valid_steps: 1000 | valid_steps: 20, save_checkpoint_steps: 20
train_steps: 2999, valid_steps: 1000 | valid_steps: 999, save_checkpoint_steps: 999
train_steps: 6000, valid_steps: 1000 | valid_steps: 1000, save_checkpoint_steps: 1000
train_steps: 100, valid_steps: 10 | keep_checkpoint: -1
train_steps: 100, valid_steps: 10, average: 2 | keep_checkpoint: 12
train_steps: 100, valid_steps: 10, average: 5 | keep_checkpoint: 15
train_steps: 100, valid_steps: 10, early_stopping: 3 | keep_checkpoint: 4
train_steps: 100, valid_steps: 10, early_stopping: 3, average: 5 | keep_checkpoint: 15
train_steps: 100, valid_steps: 10, early_stopping: 3, valid_metrics: [BLEU] | keep_checkpoint: -1
bucket_size: 1 | bucket_size: 1
bucket_size: 3 | bucket_size: 2
bucket_size: 8192 | bucket_size: 2
"""
"""The end is validated; all checkpoints that may be averaged are kept; no bucket has a pair of two twice."""


@pytest.mark.parametrize(("changes", "expected"), rows(CONFIGURED))
def test_what_is_made_of_the_settings_of_a_run(folder, changes, expected):
    changes, expected = (yaml.safe_load(f"{{{one}}}") for one in (changes, expected))
    job = replace(job_of(folder, "plain"), average=changes.pop("average", 1), changes=changes)
    assert expected.items() <= config_of(job, job.systems[0], 1).items()


def test_a_file_of_ones_own_is_a_system(tmp_path, capsys):
    path = tmp_path / "mine.yaml"
    path.write_text("base: preorder_relative\nsize: tiny\npreorder_max_relative: 7\n", encoding="utf-8")
    system = read_system(str(path), "tiny")
    assert (system.name, system.order, system.options["preorder_max_relative"]) == ("mine", "predicted", 7)
    assert configuration.main([str(path), "--size", "tiny"]) == 0
    assert yaml.safe_load(capsys.readouterr().out) == system.options
    assert configuration.main([str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml: cannot be read: No such file" in capsys.readouterr().err


def test_unaligned_words_keep_their_positions_only_where_the_paper_says_so(tmp_path):
    steps = prepared(job_of(tmp_path, "exgre", "gold")).values()
    gold = {step.makes[0]: step.command for step in steps if step.command[1] == "gold"}
    kept = {path: command for path, command in gold.items() if command[-2:] == ("--unaligned", "keep")}
    links = {path: after("--align", command) for path, command in kept.items()}
    assert links == {f"data/{part}.en.gold_kept.features": f"data/{part}.en.align" for part in PARTS}
    assert "data/train.en.gold.features" in gold


@pytest.mark.parametrize("system", ["exgre", "plain"])
def test_every_source_word_is_linked_for_what_learns_places(folder, system):
    for aligner, command in (((), ("preorder", "align")), (None, ("cp", "data/train.align"))):
        steps = {step.makes[0]: step.command for step in prepared(job_of(folder, system), aligner).values()}
        path = "data/train.en.align" if aligner is None else "data/all.en.align"
        assert (path in steps) == ("data/dev.en.align" in steps) == (system == "exgre")
        if path in steps:
            assert steps[path][:2] == command
            assert aligner is None or steps[path][6:8] == ("--symmetrize", "reverse")
        assert ("data/all.align" in steps) == (aligner is not None)


def test_hand_aligned_sentences_teach_the_aligner(folder):
    job = job_of(folder, "exgre")
    steps = prepared(job, hand_options(job, 0.3))
    command = steps["align"].command
    files = ("data/hand.en", "data/hand.ja", "data/hand.align")
    assert [after(f"--hand-{side}", command) for side in ("src", "tgt", "align")] == [*files]
    assert after("--min-confidence", command) == "0.3"
    assert set(files) < set(steps["align"].reads)
    assert "--hand-align" not in steps["align-source"].command
    cuts = [steps[f"align-{part}"].command[2] for part in PARTS]
    assert cuts == ["1,2p", "3,4p", "5,6p"]


@pytest.mark.parametrize("folds", [0, 5])
@pytest.mark.parametrize(
    ("systems", "parts"),
    [
        (("plain", "gold", "exgre", "npmt"), ()),
        (("exgre_predicted",), ("train", "dev")),
        (("gold", "reordered_text"), PARTS),
    ],
)
def test_only_what_is_read_is_preordered_and_training_text_cross_fitted(tmp_path, systems, parts, folds):
    steps = prepared(job_of(tmp_path, *systems), folds=folds)
    made = {path for step in steps.values() for path in step.makes}
    features = {part: f"data/{part}.en.predicted.features" for part in parts}
    assert {path for path in made if path.endswith(".predicted.features")} == {*features.values()}
    assert ("preorder-train" in steps) == ("preorderer" in made) == bool(parts)
    if parts and folds:
        assert steps["preorder-train"].command[-2:] == ("--cross-fit-out", features.pop("train"))
    applied = {name for name in steps if name.startswith("preorder-apply")}
    assert applied == {f"preorder-apply-{part}" for part in features}
    assert not parts or ("--cross-fit" in steps["preorder-train"].command) == (folds > 0)
    evaluated = {"evaluate-predicted", "convert-test-positions"}
    assert evaluated & set(steps) == (evaluated if "test" in parts else set())
    assert "evaluate-gold" in steps


def test_what_the_preorderer_reads_is_found_where_it_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("x", "words", "300"):
        write(tmp_path / name, "")
    options = run._separated(["--init=x", "--classes", "words", "--method", "btg"])
    named = [str(tmp_path / "x"), str(tmp_path / "words")]
    assert options == ["--init", named[0], "--classes", named[1], "--method", "btg"]
    _, shipped = run._separated(["--init", "en-verb-final"])
    assert Path(shipped, "model.json").is_file()
    step = train_preorderer(job_of(Path(), "preorder_relative"), 0, tuple(options))
    assert {*named} < {*step.reads}
    number = run._separated(["--classes", "300"])
    assert number == ["--classes", "300"]
    assert "300" not in train_preorderer(job_of(Path(), "preorder_relative"), 0, tuple(number)).reads


def test_tags_by_stanza_replace_those_of_the_data(folder):
    for part in PARTS:
        (folder / f"data/{part}.en.pos").write_text("\n\n")
    job = job_of(folder, "preorder_relative")
    for options, tags in (((), "data/{}.en.pos"), (("--pos", "stanza"), "stanza")):
        train = train_preorderer(job, 0, options)
        assert (train.command.count("--pos"), after("--pos", train.command)) == (1, tags.format("train"))
        assert ("data/train.en.pos" in train.reads) == (not options)
        apply = _apply(job, "test", options)
        assert apply.command.count("--pos") == (not options)


@pytest.mark.parametrize("given", [(), ("--trees", "dependency", "--threads", "3")])
def test_options_of_the_preorderer_are_given_once(folder, given):
    for part in PARTS:
        (folder / f"data/{part}.en.trees").write_text("\n\n")
    step = train_preorderer(job_of(folder, "preorder_relative"), 0, ("--method", "rvnn", *given))
    command = (*step.command, *step.aside)
    assert command.count("--trees") == command.count("--threads") == 1
    assert after("--trees", command) == ("dependency" if given else "data/train.en.trees")


def test_subwords_are_learned_before_the_vocabularies_and_read_in_training():
    system = read_system("gold", "tiny", "bpe")
    job = replace(job_of(Path()), subwords="bpe", subword_size=500, systems=(system,))
    pieces, config = "vocabulary/subwords.model", config_of(job, system, 1)
    assert (config["preorder_encoding"], config["transforms"]) == (["relative"], SPLIT)
    assert (config["src_subword_model"], config["tgt_subword_model"]) == (pieces, pieces)
    assert vocabulary_of(job)["transforms"] == config["transforms"]
    assert vocabulary_of(replace(job, changes={"train_steps": 7})) == vocabulary_of(job)
    learn = _subwords(job)
    assert ("500" in learn.command, learn.makes) == (True, (pieces,))
    assert pieces in _vocabulary(job).reads
    assert pieces in training_steps(job, system, 1)[0].reads
    job = job_of(Path(), "gold")
    assert "src_subword_model" not in config_of(job, job.systems[0], 1)
    assert len(_vocabulary(job).makes) == 2


@pytest.mark.parametrize("kind", subwords.KINDS)
def test_a_subword_model_splits_words_and_joins_them_again(tmp_path, capsys, kind):
    texts = [tmp_path / "text.xx", tmp_path / "text.yy"]
    for path, words in zip(texts, ("lowest newer ＡＢＣ", "① café"), strict=True):
        path.write_text(f"{words} low wide new er est\n" * 20, encoding="utf-8")
    command = ["--kind", kind, "--size", "12", "--out", str(tmp_path / "m"), "--text", *map(str, texts)]
    models = []
    for _ in range(2):
        assert subwords.main(command) == 0
        models.append((tmp_path / "m").read_bytes())
    assert models[0] == models[1]
    program = [sys.executable, "-m", "preorder_recipes.pipeline.subwords", *command[:6], "--text", "-"]
    both = b"".join(path.read_bytes() for path in texts)  # a stream, which can be read once
    subprocess.run(program, input=both, check=True, env=environment())
    assert (tmp_path / "m").read_bytes() == models[0]
    model = SentencePieceProcessor(model_proto=models[0])
    pieces = [model.id_to_piece(number) for number in range(3, len(model))]  # after three symbols
    assert {piece for piece in pieces if len(piece) == 1} == {*"▁lowestnewerＡＢＣid①café"}
    assert sum(len(piece) > 1 for piece in pieces) == (12 if kind == "bpe" else 5)  # it finds no others
    text = "lowest newest ＡＢＣ ① café"
    assert model.decode(model.encode(text)) == text  # and no character is another
    assert len(model.encode(text)) > 5
    for path in texts:
        path.write_text("")
    assert subwords.main(command) == 2
    assert "\nSentencePiece: " in capsys.readouterr().err


def test_the_runs_links_guide_attention():
    job = job_of(Path(), "gold")
    (system,) = job.systems
    assert "path_align" not in config_of(job, system, 1)["data"]["train"]
    guided, links = replace(job, changes={"lambda_align": 0.05}), ["data/train.align", "data/dev.align"]
    corpora = config_of(guided, system, 1)["data"]
    assert [corpora[name]["path_align"] for name in ("train", "valid")] == links
    assert {*links} <= {*training_steps(guided, system, 1)[0].reads}


@pytest.mark.parametrize(
    ("changes", "steps"),
    [
        ({}, (1800, 1100, 150)),
        ({"train_steps": 5400}, (5400, 3300, 450)),
        ({"train_steps": 2, "start_decay_steps": 7}, (2, 7, 1)),
    ],
)
def test_the_learning_rate_decays_at_the_same_shares_of_other_steps(changes, steps):
    job = replace(job_of(Path()), changes=changes)
    config = config_of(job, read_system("rnnsearch", "small"), 1)
    assert tuple(config[f"{key}_steps"] for key in ("train", "start_decay", "decay")) == steps
    assert "decay_steps" not in config_of(job, read_system("plain", "small"), 1)


def test_all_systems_of_a_run_share_one_vocabulary(tmp_path, monkeypatch):
    monkeypatch.setattr(base_configuration, "parse_yaml", cache(base_configuration.parse_yaml))
    for size in ("tiny", "small", "small_long", "paper"):
        names = systems_in(size)
        assert names[0] == "baseline_absolute_relative"
        assert {"npmt", "rnnsearch", "exgre", "gold"} < {*names}
        job = replace(job_of(tmp_path), size=size, systems=tuple(read_system(name, size) for name in names))
        configs = [config_of(job, system, 1) for system in job.systems]
        found = {tuple(config.get(key) for key in VOCABULARY_OPTIONS) for config in configs}
        assert found == {tuple(map(read_vocabulary(size).get, VOCABULARY_OPTIONS))}
        assert {config["src_vocab"] for config in configs} == {"vocabulary/vocab.en"}
    for size in ("little", "medium"):
        others = {*systems_in("small")} - {*systems_in(size)}
        assert {name.partition("_")[0] for name in others} == {"distortion", "npmt", "rnnsearch"}


@pytest.mark.parametrize("names", [("distortion_hidden",), ("distortion_hidden", "rnnsearch")])
def test_a_system_begins_from_the_trained_model_of_the_same_seed(tmp_path, names):
    job = replace(job_of(tmp_path, *names), seeds=(1, 2))
    phases = train(job)
    assert [len(phase) for phase in phases] == [1, 2, 2]  # vocabulary; rnnsearch; what begins from it
    bases, jumps = [[chain[0] for chain in phase] for phase in phases[1:]]
    assert {step.name for step in bases} == {"train/rnnsearch-seed1", "train/rnnsearch-seed2"}
    for base, step, seed in zip(bases, jumps, (1, 2), strict=True):
        assert base.makes[0] in step.reads
        config = yaml.safe_load((tmp_path / f"systems/distortion_hidden/seed{seed}/config.yaml").read_text())
        assert config["train_from"] == f"systems/rnnsearch/seed{seed}/model.pt"
        assert (config["override_opts"], config["reset_optim"]) == (True, "all")
    is_translated = any("translate/rnnsearch" in step.name for step in steps_of(phases))
    assert is_translated == ("rnnsearch" in names)
    assert (tmp_path / "systems/rnnsearch/seed2/config.yaml").exists()


@pytest.mark.parametrize("names", [("preorder_gold_trained",), ("preorder_gold_trained", "gold")])
def test_a_model_is_trained_once_for_two_systems(folder, names):
    job = job_of(folder, *names)
    steps = {step.name: step for step in steps_of(train(job))}
    found = {name for name in steps if name.startswith(("train/", "best/", "translate/"))}
    translations = {f"translate/{name}-seed1" for name in names}
    assert found == {"train/gold-seed1", "best/gold-seed1", *translations}
    translated = steps["translate/preorder_gold_trained-seed1"]
    assert translated.reads == ("systems/gold/seed1/model.pt", "data/test.en.predicted.features")
    assert [path.parent.parent.name for path in folder.glob("systems/*/*/config.yaml")] == ["gold"]
    ordered = {step.makes[0] for step in prepared(job).values() if step.name.startswith("preorder-apply")}
    assert ordered == {"data/test.en.predicted.features"}


@pytest.mark.parametrize("changed", ["systems/gold/seed1/model.pt", "robustness/robustness.json", "stamp"])
def test_the_report_has_no_curves_of_what_has_changed_since(folder, changed):
    """Though the models are those of another system, as where one is given the predicted order."""
    job, model = job_of(folder, "plain"), folder / "systems/gold/seed1/model.pt"
    model.parent.mkdir(parents=True)
    model.write_text("weights")
    curves = "robustness.json"
    step = Step("translate/x.20", ("cp", str(model), curves), (str(model),), (curves,))

    def is_shown():
        return "robustness" in _manifest(job, "title", [(job.systems[0], (1,))])

    assert not is_shown()
    StepRunner(folder / "robustness", 1).run([step])
    assert is_shown()
    (folder / ("robustness/stamps/translate/x.20.json" if changed == "stamp" else changed)).write_text("new")
    assert not is_shown()


@pytest.mark.parametrize(("perplexities", "warns"), [((5, 4, 3), True), ((5, 3, 4), False), ((5,), False)])
def test_the_report_says_how_it_was_made_and_what_has_not_converged(folder, perplexities, warns):
    job = replace(job_of(folder, "preorder_gold_trained"), seeds=(7,))
    trained, translation = job.folder / "logs/train/gold-seed7.log", job.translation(job.systems[0], 7)
    lines = [
        f"Validation perplexity: {p}\nSaving checkpoint x_step_{k}.pt\n" for k, p in enumerate(perplexities)
    ]
    for path, text in ((trained, "".join(lines)), (folder / translation, "x\n")):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    os.utime(folder / translation, (86400 * 1.5,) * 2)
    finished = [(job.systems[0], (7,))]
    told = f"gold with seed 7 may not have converged: the last of its {len(lines)} validations has the best"
    assert _not_converged(job, finished) == ([f"{told} perplexity."] if warns else [])
    facts = _facts(job, finished)
    assert (facts["training pairs"], facts["seeds"], facts["date"]) == ("2", "7", "1970-01-02")
    assert job.systems[0].about == "The model of gold, which is given the predicted order at translation."


def save_checkpoint(path, weight):
    vocabulary = {"src": ["a"], "tgt": ["b"], "data_task": "seq2seq"}
    weights = {"model": {"w": torch.tensor([weight])}, "generator": {}}
    torch.save({**weights, "vocab": vocabulary, "opt": argparse.Namespace()}, path)


def test_the_model_is_the_mean_of_the_best_checkpoints(tmp_path):
    validated = {50: "nan", 100: 4.5, 200: 4.75, 300: 4.25}
    lines = [f"Validation perplexity: {p}\nSaving checkpoint x_step_{s}.pt\n" for s, p in validated.items()]
    log = tmp_path / "log"
    log.write_text("".join(lines) + "Saving checkpoint x_step_350.pt\n")
    for average, mean in ((1, 3.0), (2, 2.0), (3, 2.0), (9, 2.0)):
        for left in ((50, 100, 200, 300, 350), (100, 350), ()):  # stopped before it had removed them all
            for step in left:
                save_checkpoint(tmp_path / f"model_step_{step}.pt", step / 100)
            command = ["--log", str(log), "--folder", str(tmp_path), f"--average={average}"]
            assert checkpoints.main(command) == 0
            assert [path.name for path in tmp_path.glob("*.pt")] == ["model.pt"]
            weights = torch.load(tmp_path / "model.pt", weights_only=False)["model"]
            assert weights["w"].item() == pytest.approx(mean)
        (tmp_path / "model.pt").unlink()


def test_the_best_is_chosen_by_bleu_where_that_was_measured(tmp_path, capsys):
    validated = {100: (4.5, 20.0), 200: (4.25, 19.5), 300: (4.75, 20.0)}
    lines = [
        f"validation BLEU: {bleu}\nValidation perplexity: {perplexity}\nSaving checkpoint x_step_{step}.pt\n"
        for step, (perplexity, bleu) in validated.items()
    ]
    (tmp_path / "log").write_text("".join(lines))
    for step in validated:
        save_checkpoint(tmp_path / f"model_step_{step}.pt", step / 100)
    assert checkpoints.main(["--log", f"{tmp_path}/log", "--folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "step 100, validation BLEU 20.0\n"
    assert torch.load(tmp_path / "model.pt", weights_only=False)["model"]["w"].item() == 1.0


SEARCH = ("--beam=3", "--ratio=1.5", "--word-reward=-1.2", "--block-ngram-repeat=4")


@pytest.mark.parametrize(
    ("decoder", "options", "given"),
    [("transformer", SEARCH, (3, 1.5, 0, 4)), ("swan", SEARCH, (3, 0, -1.2, 0)), ("swan", (), (5, 0, 0, 0))],
)
def test_opennmt_reads_the_search_and_only_swan_has_a_word_reward(decoder, options, given):
    parser = argparse.ArgumentParser()
    add_search(parser)
    search = taken(Search, parser.parse_args(options))
    found = _get_parser().parse_args(["-model", "m", "-src", "s", *search_options(search, 7, "gpu", decoder)])
    assert (found.beam_size, found.ratio, found.swan_word_reward, found.block_ngram_repeat) == given
    assert (found.seed, found.gpu) == (7, 0)
    assert options or search == Search()
