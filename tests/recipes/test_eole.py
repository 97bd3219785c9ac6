"""A run with eole in place of OpenNMT-py: configurations, commands, the best checkpoint; without eole."""

import importlib
import re

import pytest
import yaml

from onmt_preorder.base_configuration import CONFIG
from preorder.errors import DataError, UsageError
from preorder_recipes.configuration import HOSTS, read_system
from preorder_recipes.eole import configuration
from preorder_recipes.pipeline import eole
from preorder_recipes.pipeline.job import Job
from preorder_recipes.pipeline.train import config_of, steps_of, vocabulary_of
from tests.support.running import ROOT
from tests.support.texts import write


def job_of(folder, *names, **others):
    systems = tuple(read_system(name, "tiny") for name in names)
    return Job(folder, "en", "ja", "tiny", systems, (1,), "cpu", host="eole", **others)


OPTIONS = """
encoder_type: preorder_transformer
decoder_type: transformer
hidden_size: 8
word_vec_size: 8
scale_embeddings: true
preorder_encoding: [absolute]
param_init: 0
param_init_glorot: true
bfloat16: true
save_model: m
src_vocab: v
n_src_feats: 1
transforms: [filtertoolong, bpe]
src_seq_length: 5
src_subword_model: codes
lambda_align: 0
seed: 3
"""
IN_EOLE = """
src_vocab: v
seed: 3
transforms: [preorder, bpe, preorder_positions, filtertoolong]
transforms_configs: {filtertoolong: {src_seq_length: 5}, bpe: {src_subword_model: codes}}
model:
  architecture: custom
  hidden_size: 8
  norm_eps: 1.0e-6
  embeddings: {word_vec_size: 8, position_encoding_type: null, normalize: true}
  encoder: {encoder_type: preorder_transformer, preorder_encoding: [absolute]}
  decoder: {decoder_type: transformer}
training: {param_init: 0, param_init_method: xavier_uniform, compute_dtype: bf16, model_path: m}
"""


def test_options_stand_where_eole_has_them():
    assert configuration(yaml.safe_load(OPTIONS)) == yaml.safe_load(IN_EOLE)


@pytest.mark.parametrize(
    ("system", "reason"),
    [
        ("rnnsearch", "encoder_type and decoder_type are of transformer, preorder_transformer"),
        ("npmt", "encoder_type and decoder_type are of transformer, preorder_transformer"),
        ("refsr", "its decoder has norms before its sub-layers alone"),
        ("reordering_encoder", "there is no reordering_embedding"),
    ],
)
def test_what_eole_does_not_have_is_refused(system, reason):
    with pytest.raises(UsageError, match=f"--host eole: {reason}"):
        configuration(read_system(system, "tiny").options)


def test_the_steps_are_eoles_commands(tmp_path):
    job = job_of(tmp_path, "preorder_gold_trained")
    (system,) = job.systems
    train, best, translate = steps_of(job, system, 1)
    folder = "systems/gold/seed1"
    assert train.command == ("eole", "train", "-c", f"{folder}/config.yaml")
    assert (*train.makes, train.log) == best.reads
    assert train.script_line.endswith(f" > {train.log} 2>&1")
    assert translate.command[:4] == ("eole", "predict", "-model_path", f"{folder}/model")
    assert translate.reads == (f"{folder}/model", "data/test.en.predicted.features")
    config = config_of(job, job.trained(system), 1)
    assert (config["training"]["model_path"],) == train.makes
    assert config["data"]["train"]["path_src"] == "data/train.en.gold.features"
    vocabulary = vocabulary_of(job)
    assert vocabulary["transforms"] == []
    assert vocabulary["data"]["train"]["path_src"] == "data/train.en"
    assert not vocabulary.keys() & {"model", "training"}


def test_what_a_run_with_eole_cannot_do_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(eole, "find_spec", lambda _: True)
    eole.check(job_of(tmp_path, "preorder_gold_trained", "refsr"))
    with pytest.raises(UsageError, match="--average is for OpenNMT-py"):
        eole.check(job_of(tmp_path, "preorder_relative", average=2))
    with pytest.raises(UsageError, match="distortion_source begins from another model"):
        eole.check(job_of(tmp_path, "distortion_source"))
    path = tmp_path / "mine.yaml"
    path.write_text(f"base: {CONFIG}/system/distortion_source.yaml\ntrained_as: distortion_source\n")
    with pytest.raises(UsageError, match="mine begins from another model"):
        eole.check(job_of(tmp_path, str(path)))
    monkeypatch.setattr(eole, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"not installed: pip install onmt-preorder\[eole\]"):
        eole.check(job_of(tmp_path, "preorder_relative"))


def test_the_best_checkpoint_is_the_model(tmp_path):
    log = []
    for step, perplexity in ((10, 9.5), (20, 7.25), (30, 7.5)):
        log += [f"Validation perplexity: {perplexity}", f"Saving optimizer and weights to step_{step}, and …"]
        (tmp_path / f"trained/step_{step}").mkdir(parents=True)
        (tmp_path / f"trained/step_{step}/model.00.safetensors").write_text(str(step))
    for name in ("config.json", "vocab.json"):
        (tmp_path / "trained" / name).write_text("{}")
    with pytest.raises(FileNotFoundError):
        eole.keep_best(tmp_path / "log", tmp_path)
    write(tmp_path / "log", *log)
    for _ in range(2):  # once more does no harm
        assert eole.main(["--log", str(tmp_path / "log"), "--folder", str(tmp_path)]) == 0
        assert (tmp_path / "model/model.00.safetensors").read_text() == "20"
    assert {path.name for path in (tmp_path / "model").iterdir()} == {
        "config.json",
        "vocab.json",
        "model.00.safetensors",
    }
    write(tmp_path / "log", "Saving optimizer and weights to step_10, and …")
    with pytest.raises(DataError, match="no checkpoint was saved after a validation"):
        eole.keep_best(tmp_path / "log", tmp_path)


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_one_module(host):
    asked = set()
    for name in ("run", "pipeline/score", "pipeline/train"):
        text = (ROOT / f"preorder_recipes/{name}.py").read_text(encoding="utf-8")
        asked |= set(re.findall(r"host_of\(job\)\.(\w+)", text))
    assert len(asked) == 9
    assert asked <= vars(importlib.import_module(f"preorder_recipes.pipeline.{host}")).keys()
