"""Without pyonmttok and fasttext trainings and translations are the same; what needs them says so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyonmttok.version")  # not its stand-in
import pyonmttok
import torch

from onmt_preorder.opennmt import stand_ins
from tests.support.opennmt import call, start
from tests.support.running import ROOT

TOKENS = st.lists(st.sampled_from(["<unk>", "<s>", "a", "b", "c", "", "d e"]), max_size=12)
HIDDEN = "import sys\nsys.modules['pyonmttok'] = sys.modules['fasttext'] = None\n"
CONFIG = """\
base: preorder_relative
size: tiny
data: {train: {path_src: src, path_tgt: tgt}, valid: {path_src: src, path_tgt: tgt}}
src_vocab: run/src
tgt_vocab: run/tgt
save_data: run
save_model: run/model
seed: 1
"""
COMMANDS = (
    "onmt_build_vocab -config run.yaml -n_sample -1 -num_threads 1",
    "onmt_train -config run.yaml -train_steps 2 -valid_steps 1 -save_checkpoint_steps 2 -bucket_size 40",
    "onmt_translate -model run/model_step_2.pt -src src -output hyp -max_length 5",
)


@given(TOKENS, st.integers(0, 6), TOKENS.map(lambda tokens: list(dict.fromkeys(tokens))))
def test_a_vocabulary_is_that_of_pyonmttok(tokens, size, special):
    arguments = {"maximum_size": size, "minimum_frequency": 1, "special_tokens": special}
    ours, theirs = (module.build_vocab_from_tokens(tokens, **arguments) for module in (stand_ins, pyonmttok))
    assert ours.ids_to_tokens == list(theirs.ids_to_tokens)
    assert ours["nothing"] == theirs["nothing"]
    for vocabulary in (ours, theirs):
        vocabulary.add_token("new")
        vocabulary.add_token("a")
        if "<unk>" in vocabulary:
            vocabulary.default_id = vocabulary["<unk>"]
    asked = ["a", "nothing", "new", "d e"]
    assert ours(asked) == theirs(asked)
    assert ours.tokens_to_ids == theirs.tokens_to_ids
    assert len(ours) == len(theirs)
    assert ("a" in ours, "zz" in ours) == ("a" in theirs, "zz" in theirs)


def run_without(folder, command, *arguments):
    """Run one of OpenNMT-py's commands in a process that has neither; return its status and its errors."""
    (folder / "hidden").mkdir(exist_ok=True)
    (folder / "hidden/sitecustomize.py").write_text(HIDDEN)
    process = start(folder, command, *arguments, PYTHONPATH=f"{folder / 'hidden'}:{ROOT}")
    _, errors = process.communicate()
    return process.returncode, errors


@pytest.mark.slow
def test_a_training_without_them_is_the_same(tmp_path):
    texts, weights = [], []
    for hidden in (False, True):
        folder = tmp_path / str(hidden)
        folder.mkdir()
        (folder / "src").write_text("a￨1 b￨0\nb￨0 c￨1 a￨2\n" * 10)
        (folder / "tgt").write_text("x y\ny z x\n" * 10)
        (folder / "run.yaml").write_text(CONFIG)
        for command in COMMANDS:
            if hidden:
                status, errors = run_without(folder, *command.split())
                assert status == 0, errors[-2000:]
            else:
                call(folder, *command.split())
        checkpoint = torch.load(folder / "run/model_step_2.pt", weights_only=False)
        weights.append(checkpoint["model"] | checkpoint["generator"])
        files = ((folder / name).read_bytes() for name in ("run/src", "run/tgt", "hyp"))
        texts.append([*files, checkpoint["vocab"]])
    assert texts[0] == texts[1]
    torch.testing.assert_close(*weights, rtol=0, atol=0)


def test_what_needs_them_is_one_line(tmp_path):
    (tmp_path / "src").write_text("a b\n")
    (tmp_path / "run.yaml").write_text(
        "data: {train: {path_src: src, path_tgt: src, transforms: [onmt_tokenize]}}\nsave_data: run\n"
        "src_vocab: run/src\ntgt_vocab: run/tgt\n"
    )
    status, errors = run_without(tmp_path, "onmt_build_vocab", "-config", "run.yaml", "-num_threads", "1")
    assert status == 2
    assert "pyonmttok is not installed" in errors
    assert "Traceback" not in errors
