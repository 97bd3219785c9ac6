"""Which source each system reads, and that the preparation makes it."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from preorder.errors import UsageError
from recipes.job import PARTS, Job
from recipes.prepare import hand_options, prepare
from recipes.systems import VOCABULARY_OPTIONS, read_system, read_vocabulary, systems_in
from recipes.train import _train, _vocabulary, config_of, train, vocabulary_of

SOURCES = {  # of training and of test
    "plain": ("en", "en"),
    "reordering_both": ("en", "en"),
    "preorder_relative": ("en.predicted.features", "en.predicted.features"),
    "preorder_reordering": ("en.predicted.features", "en.predicted.features"),
    "gold": ("en.gold.features", "en.gold.features"),
    "reordered_text": ("en.predicted.text", "en.predicted.text"),
    "plain_predicted_text": ("en.predicted.text", "en.predicted.text"),
    "plain_gold_text": ("en.gold.text", "en.gold.text"),
    "exgre": ("en.gold_kept.features", "en"),
    "refsr": ("en.gold_kept.features", "en"),
    "exgre_predicted": ("en.predicted.features", "en"),
}


def job_of(folder, *names):
    systems = tuple(read_system(name, "tiny") for name in names)
    return Job(folder, "en", "ja", "tiny", systems, (1,), "cpu")


@pytest.mark.parametrize("system", SOURCES)
def test_sources(system):
    job = job_of(Path(), system)
    found = [job.source_of(job.systems[0], part) for part in PARTS]
    train, test = SOURCES[system]
    assert found == [f"data/train.{train}", f"data/dev.{train}", f"data/test.{test}"]


def test_what_is_told_and_what_is_learned_from():
    systems = {name: read_system(name, "tiny") for name in SOURCES}
    told = {name: system.order for name, system in systems.items()}
    assert told["exgre"] is told["exgre_predicted"] is told["plain"] is None
    assert (told["plain_gold_text"], told["preorder_reordering"]) == ("gold", "predicted")
    learned = {name: system.supervision for name, system in systems.items()}
    assert (learned["exgre"], learned["refsr"]) == ("gold_kept", "gold_kept")
    assert learned["exgre_predicted"] == "predicted"
    assert learned["gold"] is learned["plain"] is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("reads: goldd", "odd.yaml: reads is 'goldd', not one of plain, predicted, gold, "),
        ("reads: plain\nbegins_from: nothing", "no configuration of a system nothing; there are: odd"),
        ("supervision: gold", "odd.yaml: reads is None, not one of plain"),
        ("reads: plain\nsupervision: gold", "odd.yaml: supervision is 'gold', not predicted or gold_kept"),
    ],
)
def test_what_a_system_cannot_read(tmp_path, monkeypatch, line, message):
    (tmp_path / "system").mkdir()
    (tmp_path / "system/odd.yaml").write_text(f"{line}\n")
    monkeypatch.setattr("recipes.systems.CONFIG", tmp_path)
    with pytest.raises(UsageError, match=message):
        read_system("odd", None)


def steps_of(phases):
    return [step for phase in phases for chain in phase for step in chain]


@pytest.mark.parametrize("folds", [0, 5])
@pytest.mark.parametrize("system", SOURCES)
def test_the_preparation_makes_what_is_read(tmp_path, system, folds):
    job = job_of(tmp_path, system)
    given = {job.text(part, "en") for part in PARTS}
    made = {path for step in steps_of(prepare(job, None, folds, ())) for path in step.makes}
    assert {job.source_of(job.systems[0], part) for part in PARTS} <= given | made


def test_unaligned_words_keep_their_positions_only_where_the_paper_says_so(tmp_path):
    steps = steps_of(prepare(job_of(tmp_path, "exgre", "gold"), None, 0, ()))
    gold = {step.makes[0]: step.command for step in steps if step.command[1] == "gold"}
    kept = {path for path, command in gold.items() if command[-2:] == ("--unaligned", "keep")}
    assert kept == {f"data/{part}.en.gold_kept.features" for part in PARTS}
    for part in PARTS:
        links = gold[f"data/{part}.en.gold_kept.features"]
        assert links[links.index("--align") + 1] == f"data/{part}.en.align"
    assert "data/train.en.gold.features" in gold


@pytest.mark.parametrize("system", ["exgre", "plain"])
def test_every_source_word_is_linked_for_what_learns_places(tmp_path, system):
    (tmp_path / "data").mkdir()
    for part in PARTS:
        (tmp_path / f"data/{part}.ja").write_text("x\ny\n")
    job = job_of(tmp_path, system)
    for align, command in ((True, ("preorder", "align")), (False, ("cp", "data/train.align"))):
        steps = {step.makes[0]: step.command for step in steps_of(prepare(job, () if align else None, 0, ()))}
        path = "data/all.en.align" if align else "data/train.en.align"
        assert (path in steps) == (system == "exgre")
        if path in steps:
            assert steps[path][:2] == command
            assert not align or steps[path][6:8] == ("--symmetrize", "reverse")
        assert ("data/all.align" in steps) == align
    made = {path for step in steps_of(prepare(job, (), 0, ())) for path in step.makes}
    assert ("data/dev.en.align" in made) == (system == "exgre")


def test_hand_aligned_sentences_teach_the_aligner(tmp_path):
    (tmp_path / "data").mkdir()
    for part in PARTS:
        (tmp_path / f"data/{part}.ja").write_text("x\n")
    job = job_of(tmp_path, "exgre")
    steps = {step.name: step for step in steps_of(prepare(job, hand_options(job, 0.3), 0, ()))}
    command = steps["align"].command
    files = ("data/hand.en", "data/hand.ja", "data/hand.align")
    assert [command[command.index(f"--hand-{side}") + 1] for side in ("src", "tgt", "align")] == [*files]
    assert command[command.index("--min-confidence") + 1] == "0.3"
    assert set(files) < set(steps["align"].reads)
    assert "--hand-align" not in steps["align-source"].command


def test_subwords_are_learned_with_the_vocabularies_and_read_in_training():
    system = read_system("gold", "tiny", "bpe")
    job = replace(job_of(Path()), subwords="bpe", systems=(system,), changes={"learn_subwords_size": 500})
    pieces = "vocabulary/subwords"
    config = config_of(job, system, 1)
    assert config["preorder_encoding"] == ["relative"]
    assert (config["src_subword_model"], config["tgt_subword_model"]) == (pieces, pieces)
    assert (config["src_subword_type"], config["learn_subwords_size"]) == ("bpe", 500)
    assert vocabulary_of(job)["learn_subwords_size"] == 500
    assert vocabulary_of(job)["transforms"] == config["transforms"]
    assert vocabulary_of(replace(job, changes=job.changes | {"train_steps": 7})) == vocabulary_of(job)
    assert pieces in _vocabulary(job).makes
    assert pieces in _train(job, system, 1).reads
    job = job_of(Path(), "gold")
    assert "src_subword_model" not in config_of(job, job.systems[0], 1)
    assert len(_vocabulary(job).makes) == 2


def test_the_runs_links_guide_attention():
    job = job_of(Path(), "gold")
    (system,) = job.systems
    assert "path_align" not in config_of(job, system, 1)["data"]["train"]
    guided = replace(job, changes={"lambda_align": 0.05})
    corpora = config_of(guided, system, 1)["data"]
    assert [corpora[name]["path_align"] for name in ("train", "valid")] == [
        "data/train.align",
        "data/dev.align",
    ]
    assert {"data/train.align", "data/dev.align"} <= {*_train(guided, system, 1).reads}


def test_the_learning_rate_decays_at_the_same_shares_of_other_steps():
    job = replace(job_of(Path()), systems=(system := read_system("rnnsearch", "small"),))
    assert (system.options["train_steps"], system.options["start_decay_steps"]) == (1800, 1100)
    config = config_of(replace(job, changes={"train_steps": 5400}), system, 1)
    assert [config[f"{key}_steps"] for key in ("train", "start_decay", "decay")] == [5400, 3300, 450]
    config = config_of(replace(job, changes={"train_steps": 2, "start_decay_steps": 7}), system, 1)
    assert [config[f"{key}_steps"] for key in ("train", "start_decay", "decay")] == [2, 7, 1]
    config = config_of(job, system, 1)
    assert [config[f"{key}_steps"] for key in ("train", "start_decay", "decay")] == [1800, 1100, 150]
    config = config_of(replace(job, changes={"train_steps": 10}), read_system("plain", "small"), 1)
    assert "decay_steps" not in config


def test_all_systems_of_a_run_share_one_vocabulary(tmp_path):
    for size in ("tiny", "small", "small_long", "paper"):
        names, others = systems_in(size)
        assert (names[0], others) == ("baseline_absolute_relative", [])
        job = replace(job_of(tmp_path), size=size, systems=tuple(read_system(name, size) for name in names))
        configs = [config_of(job, system, 1) for system in job.systems]
        assert len({tuple(config.get(key) for key in VOCABULARY_OPTIONS) for config in configs}) == 1
        assert {key: configs[0].get(key) for key in VOCABULARY_OPTIONS} == {
            key: read_vocabulary(size).get(key) for key in VOCABULARY_OPTIONS
        }
        assert {config["src_vocab"] for config in configs} == {"vocabulary/vocab.en"}


def test_all_leaves_out_what_has_no_model_of_the_size():
    names, others = systems_in("medium")
    assert {name.partition("_")[0] for name in others} == {"distortion", "npmt", "rnnsearch"}
    assert "exgre" in names


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


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ((), ("--method", "btg")),
        (("--iterations", "2"), ("--method", "btg")),
        (("--method", "neural-btg"), ("--method", "neural-btg")),
        (("--method=neural-btg",), ("--method=neural-btg",)),
    ],
)
def test_the_preorderer_is_of_any_method(tmp_path, options, method):
    steps = {
        step.name: step
        for step in steps_of(prepare(job_of(tmp_path, "gold", "reordered_text"), None, 0, options))
    }
    command = " ".join(steps["preorder-train"].command)
    assert command.count("--method") == 1
    assert " ".join(method) in command


@pytest.mark.parametrize("folds", [0, 5])
def test_orders_of_the_training_text_are_cross_fitted(tmp_path, folds):
    job = job_of(tmp_path, "preorder_relative")
    steps = {step.name: step for step in steps_of(prepare(job, None, folds, ()))}
    training, out = steps["preorder-train"], "data/train.en.predicted.features"
    assert (training.command[-2:] == ("--cross-fit-out", out)) == (out in training.makes) == (folds > 0)
    assert ("preorder-apply-train" in steps) == (folds == 0)
    for part in PARTS[1:]:
        assert steps[f"preorder-apply-{part}"].makes == (f"data/{part}.en.predicted.features",)


@pytest.mark.parametrize(
    ("systems", "parts"),
    [
        (("plain", "gold", "exgre", "npmt"), ()),
        (("exgre_predicted",), ("train", "dev")),
        (("gold", "reordered_text"), PARTS),
    ],
)
def test_only_what_is_read_is_preordered(tmp_path, systems, parts):
    steps = {step.name: step for step in steps_of(prepare(job_of(tmp_path, *systems), None, 5, ()))}
    made = {path for step in steps.values() for path in step.makes}
    assert {part for part in PARTS if f"data/{part}.en.predicted.features" in made} == set(parts)
    assert ("preorder-train" in steps) == ("preorderer" in made) == bool(parts)
    if parts:
        assert ("--cross-fit" in steps["preorder-train"].command) == ("train" in parts)
    assert {"evaluate-predicted", "convert-test-positions"} & set(steps) == (
        {"evaluate-predicted", "convert-test-positions"} if "test" in parts else set()
    )
    assert "evaluate-gold" in steps
