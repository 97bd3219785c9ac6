"""eole as a host: what its transforms, models and commands make of positions."""

import json
import os
import re
import subprocess
import sys

import pytest
import torch
import yaml
from eole.config.run import TrainConfig
from eole.encoders import str2enc
from eole.inputters.inputter import build_vocab
from eole.inputters.text_utils import Numericalizer, tensorify, transform_bucket
from eole.models.model import build_encoder, build_src_emb
from eole.transforms import TransformPipe, get_transforms_cls, make_transforms

from onmt_preorder import Absolute, PreorderedEncoder, Relative
from onmt_preorder.eole.packing import unpack
from preorder.errors import DataError, UsageError
from preorder_recipes.configuration import read_system
from preorder_recipes.eole import configuration
from tests.support.language import sentence, write_texts
from tests.support.texts import write

EOLE = os.path.join(os.path.dirname(sys.executable), "eole")
TRANSFORMS = ["preorder", "preorder_positions"]


def config(folder, transforms=TRANSFORMS, transforms_configs=None, **encoder):
    """Return eole's configuration of a small model, with vocabularies a … f."""
    for side in ("src", "tgt"):
        write(folder / f"vocab.{side}", *(f"{word}\t1" for word in "abcdef"))
    return TrainConfig(
        data={},
        src_vocab=str(folder / "vocab.src"),
        tgt_vocab=str(folder / "vocab.tgt"),
        transforms=transforms,
        **({"transforms_configs": transforms_configs} if transforms_configs else {}),
        model={
            "hidden_size": 8,
            "heads": 2,
            "layers": 2,
            "transformer_ff": 16,
            "architecture": "custom",
            "embeddings": {"word_vec_size": 8},
            "encoder": {"encoder_type": "preorder_transformer", **encoder},
            "decoder": {"decoder_type": "transformer"},
        },
        training={"dropout": [0.0], "attention_dropout": [0.0]},
    )


def batch_of(config, *lines, **others):
    """Return vocabularies and the batch that eole makes of lines."""
    vocabs = build_vocab(config, {"src": [], "tgt": []})
    made = make_transforms(config, get_transforms_cls(config.transforms), vocabs)
    pipe = TransformPipe.build_from([made[name] for name in config.transforms])
    examples = [
        ({"src": line, "tgt": "a b", "cid": "train", "cid_line_number": number, "sco": 1.0}, pipe, "train")
        for number, line in enumerate(lines)
    ]
    numericalizer = Numericalizer(vocabs, task="train")
    bucket = [numericalizer(example) for example in transform_bucket("train", examples)]
    return vocabs, tensorify(vocabs, [(each, n) for n, each in enumerate(bucket)], torch.device("cpu"))


def test_lines_become_ids_with_positions(tmp_path, caplog):
    vocabs, batch = batch_of(config(tmp_path), "c￨1 a￨0 z￨2", "a b", "b￨5 c￨9999999999", "")
    words, positions = unpack(batch["src"])
    tokens = vocabs["src"].ids_to_tokens
    assert [[tokens[word] for word in row] for row in words.tolist()][:2] == [
        ["c", "a", "<unk>"],
        ["a", "b", "<blank>"],
    ]
    assert positions.tolist() == [[1, 0, 2], [0, 1, -1], [5, 1, -1], [0, -1, -1]]
    assert batch["srclen"].tolist() == [3, 2, 2, 1]
    assert caplog.messages[-1].startswith("the positions of 1 of 3 lines are no permutation")
    assert [vocabs["tgt"].ids_to_tokens[word] for word in batch["tgt"][0]] == ["<s>", "a", "b", "</s>"]


def test_pieces_have_the_positions_of_their_words(tmp_path):
    write(tmp_path / "codes", "#version: 0.2", "e f</w>")
    models = {
        "bpe": {"src_subword_model": str(tmp_path / "codes"), "tgt_subword_model": str(tmp_path / "codes")}
    }
    transforms = ["preorder", "bpe", "preorder_positions"]
    _, batch = batch_of(config(tmp_path, transforms, models), "ab￨1 ef￨0")
    assert unpack(batch["src"])[1].tolist() == [[1, 1, 0]]  # a@@ b ef


def test_a_bad_position_is_named_with_its_line(tmp_path):
    with pytest.raises(DataError, match=r":2: not a token with its position: 'b￨x'"):
        batch_of(config(tmp_path), "a￨0 b￨1", "a￨0 b￨x")


@pytest.mark.parametrize("encodings", [["absolute"], ["relative"], ["absolute", "relative"]])
def test_the_encoder_is_that_of_plain_torch(tmp_path, encodings):
    of_eole = config(tmp_path, preorder_encoding=encodings, preorder_max_relative=2, source_max_relative=3)
    vocabs, batch = batch_of(of_eole, "c￨1 a￨0 b￨2", "a￨1 b￨0")
    embeddings = build_src_emb(of_eole.model, vocabs, of_eole.training)
    encoder = build_encoder(of_eole.model, of_eole.training).eval()
    torch.manual_seed(1)
    for parameter in (*embeddings.parameters(), *encoder.parameters()):
        torch.nn.init.normal_(parameter, std=0.3)
    mask = batch["src"].eq(vocabs["src"]["<blank>"])
    states, _ = encoder(embeddings(batch["src"]), pad_mask=mask.unsqueeze(1))

    known = {"absolute": Absolute(), "relative": Relative(limit=2)}
    own = encoder.config
    assert set(own.encodings) == {Relative("original", 3), *(known[name] for name in encodings)}
    twin = PreorderedEncoder(own).eval()
    twin.load_state_dict(encoder.state_dict())
    words, positions = unpack(batch["src"])
    # eole's embeddings: words, times the root of their size, plus sinusoids of original positions.
    vectors = embeddings.pe(embeddings.embeddings(words))
    expected = twin(vectors, positions, ~mask)
    torch.testing.assert_close(states[~mask], expected[~mask])
    other = twin(vectors, positions.flip(1).where(~mask, -1), ~mask)
    assert not torch.allclose(states[~mask], other[~mask])


def test_a_source_that_went_through_no_transform_of_ours_is_refused(tmp_path):
    of_eole = config(tmp_path, preorder_encoding=["relative"])
    encoder = build_encoder(of_eole.model, of_eole.training)
    with pytest.raises(UsageError, match="the source has no positions: transforms"):
        encoder((torch.zeros(1, 3, 8), torch.full((1, 3), -1)), torch.zeros(1, 1, 3, dtype=torch.bool))


def test_what_the_encoder_cannot_do_is_refused(tmp_path):
    with pytest.raises(UsageError, match="heads_kv does not work with encoder_type: preorder_transformer"):
        build_encoder(config(tmp_path, heads_kv=1).model)
    with pytest.raises(ValueError, match="sideways"):
        config(tmp_path, preorder_encoding=["sideways"])
    assert {"transformer", "preorder_transformer"} < str2enc.keys()


def eole(folder, *arguments):
    done = subprocess.run([EOLE, *arguments], cwd=folder, capture_output=True, text=True, timeout=900)
    return done.returncode, done.stdout + done.stderr


def written(folder, system, **changes):
    """Write texts and the configuration of a system, in its smallest size and for few steps."""
    for seed, (name, number) in enumerate({"train": 300, "dev": 20, "test": 5}.items()):
        write_texts(folder, name, [sentence(1000 * seed + each) for each in range(number)])
    options = read_system(system, "tiny").options | {
        "train_steps": 60,
        "valid_steps": 60,
        "save_checkpoint_steps": 60,
        "seed": 1,
        "batch_size": 512,
        "hidden_size": 32,
        "word_vec_size": 32,
        "transformer_ff": 64,
        "learning_rate": 1,
        "warmup_steps": 30,
        "data": {
            corpus: {"path_src": f"{part}.src", "path_tgt": f"{part}.tgt"}
            for corpus, part in (("train", "train"), ("valid", "dev"))
        },
        "src_vocab": "vocab.src",
        "tgt_vocab": "vocab.tgt",
        "save_data": ".",
        "save_model": "model",
        **changes,
    }
    (folder / "run.yaml").write_text(yaml.safe_dump(configuration(options)))


@pytest.mark.slow
@pytest.mark.parametrize("system", ["preorder_relative", "preorder_absolute", "refsr"])
def test_eoles_commands_train_and_translate(tmp_path, system):
    written(tmp_path, system, **({"norm_placement": "pre"} if system == "refsr" else {}))
    status, log = eole(tmp_path, "build_vocab", "-c", "run.yaml", "-n_sample", "-1")
    assert status == 0, log
    assert (tmp_path / "vocab.src").read_text(encoding="utf-8").startswith("Obj")
    status, log = eole(tmp_path, "train", "-c", "run.yaml")
    assert status == 0, log
    assert float(re.findall(r"Validation perplexity: (\S+)", log)[-1]) < 12  # of 32 words
    saved = json.loads((tmp_path / "model/config.json").read_text())
    assert saved["model"]["encoder"]["encoder_type"] == "preorder_transformer"
    translated = []
    for source in ("test.src", "test.plain"):
        status, log = eole(tmp_path, "predict", "-model_path", "model", "-src", source, "-replace_unk")
        assert status == 0, log
        translated.append((tmp_path / "pred.txt").read_text(encoding="utf-8").splitlines())
        assert ("a line without positions" in log) == (source == "test.plain")
    assert [len(each) for each in translated] == [5, 5]
    assert (translated[0] == translated[1]) == (system == "refsr")  # which needs no positions


@pytest.mark.slow
def test_an_error_of_the_data_is_one_line(tmp_path):
    written(tmp_path, "preorder_relative")
    write(tmp_path / "train.src", *["a￨0"] * 299, "a￨x")
    status, log = eole(tmp_path, "build_vocab", "-c", "run.yaml", "-n_sample", "-1")
    assert status == 2
    assert log.splitlines()[-1] == "train.src:300: not a token with its position: 'a￨x'"
