"""Which source each system reads, and that the preparation makes it."""

from dataclasses import replace
from pathlib import Path

import pytest

from preorder.data.errors import UsageError
from recipes.job import PARTS, Job
from recipes.prepare import prepare
from recipes.systems import read_system
from recipes.train import _train, _vocabulary, config_of

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
    return Job(folder, "en", "ja", "tiny", systems, (1,), "cpu", 5)


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


class Recorder:
    """A runner that only writes down what it is to do."""

    def __init__(self):
        self.steps = []

    def run(self, *chains):
        self.steps += [step for chain in chains for step in chain]


@pytest.mark.parametrize("system", SOURCES)
def test_the_preparation_makes_what_is_read(tmp_path, system):
    job, runner = job_of(tmp_path, system), Recorder()
    prepare(job, runner, False, 0, ())
    given = {job.text(part, "en") for part in PARTS}
    made = {path for step in runner.steps for path in step.makes}
    assert {job.source_of(job.systems[0], part) for part in PARTS} <= given | made


def test_unaligned_words_keep_their_positions_only_where_the_paper_says_so(tmp_path):
    runner = Recorder()
    prepare(job_of(tmp_path, "exgre", "gold"), runner, False, 0, ())
    gold = {step.makes[0]: step.command for step in runner.steps if step.command[1] == "gold"}
    kept = {path for path, command in gold.items() if command[-2:] == ("--unaligned", "keep")}
    assert kept == {f"data/{part}.en.gold_kept.features" for part in ("train", "dev")}
    assert "data/train.en.gold.features" in gold


def test_subwords_are_learned_with_the_vocabularies_and_read_in_training():
    system = read_system("gold", "tiny", "bpe")
    job = replace(job_of(Path()), subwords="bpe", systems=(system,), changes={"learn_subwords_size": 500})
    pieces = "systems/gold/subwords"
    config = config_of(job, system, 1)
    assert config["preorder_encoding"] == ["relative"]
    assert (config["src_subword_model"], config["tgt_subword_model"]) == (pieces, pieces)
    assert (config["src_subword_type"], config["learn_subwords_size"]) == ("bpe", 500)
    assert pieces in _vocabulary(job, system).makes
    assert pieces in _train(job, system, 1).reads
    job = job_of(Path(), "gold")
    assert "src_subword_model" not in config_of(job, job.systems[0], 1)
    assert len(_vocabulary(job, job.systems[0]).makes) == 2
