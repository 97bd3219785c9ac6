"""Plain words in and out of a model of pieces that SentencePiece has learned."""

import pytest
import yaml

from preorder_recipes.pipeline import subwords
from tests.support.language import features, sentence, translation
from tests.support.opennmt import ROOT, TINY, call
from tests.support.texts import write

SENTENCES = [sentence(seed, longest=5) for seed in range(1000)]
STEPS = 90


@pytest.mark.slow
def test_plain_words_in_and_out(tmp_path, preorderer):
    for name, sentences in (("train", SENTENCES), ("valid", SENTENCES[:20])):
        write(tmp_path / f"{name}.src", *map(features, sentences))
        write(tmp_path / f"{name}.plain", *map(" ".join, sentences))
        write(tmp_path / f"{name}.tgt", *map(translation, sentences))
    texts = [str(tmp_path / "train.plain"), str(tmp_path / "train.tgt")]
    command = ["--kind", "bpe", "--size", "34", "--out", str(tmp_path / "pieces"), "--text", *texts]
    assert subwords.main(command) == 0
    settings = {**TINY, **yaml.safe_load((ROOT / "config/subwords.yaml").read_text(encoding="utf-8"))}
    settings |= {"src_subword_model": "pieces", "tgt_subword_model": "pieces", "save_data": "data"}
    settings |= {"train_steps": STEPS, "valid_steps": STEPS, "learning_rate": 0.005}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(settings, allow_unicode=True), encoding="utf-8")
    call(tmp_path, "onmt_build_vocab", "-config", "run.yaml", "-n_sample", "-1")
    call(tmp_path, "onmt_train", "-config", "run.yaml")
    given = ("-src", "valid.plain", "-output", "out", "-preorder_model", preorderer)
    call(tmp_path, "onmt_translate", "-model", f"model_step_{STEPS}.pt", *given)
    found = (tmp_path / "out").read_text(encoding="utf-8").splitlines()
    known = {word for words in SENTENCES for word in translation(words).split()}
    assert {word for line in found for word in line.split()} <= known
    assert sum(line.split()[-1].startswith("verb") for line in found) > 15
