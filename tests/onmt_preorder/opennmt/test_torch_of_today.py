"""OpenNMT-py trains and translates with models of ours on a CPU, under a torch newer than its own."""

import re
from types import SimpleNamespace

import pytest
import torch
from onmt.model_builder import build_model
from onmt.modules import multi_headed_attn
from onmt.translate.beam_search import BeamSearchBase
from onmt.utils.loss import LossCompute
from safetensors.torch import load_file

from onmt_preorder.opennmt import training
from onmt_preorder.opennmt.repairs import attention
from preorder.errors import DataError, UsageError
from tests.support import opennmt
from tests.support.language import sentence, translation, write_texts
from tests.support.opennmt import call, make_opt, run, write_vocabularies
from tests.support.running import ROOT
from tests.support.texts import read, write
from tests.support.transformers import learn_from_a_batch, make_vocabs

SENTENCES = [sentence(seed, longest=5) for seed in range(32)]
BOTH = {"preorder_encoding": ["absolute", "relative"], "param_init_glorot": True}
EVERYTHING = {
    **BOTH,
    "decoder_type": "preorder_transformer",
    "norm_placement": "post",
    "reordering_embedding": ["encoder", "decoder"],
    "target_max_relative": 4,
    "explicit_reordering": "refsr",
    "reordering_window": 2,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with data that make one batch."""
    folder = tmp_path_factory.mktemp("today")
    write_texts(folder, "train", SENTENCES)
    write_vocabularies(folder)
    return folder


def train(folder, name, steps, **changes):
    """Train on one batch again and again; return the path of the checkpoint."""
    data = {"train": {"path_src": "train.src", "path_tgt": "train.tgt", "weight": 1}}
    config = {"data": data, "batch_type": "sents", "batch_size": 100, "bucket_size": len(SENTENCES)}
    config |= {"decay_method": "noam", "warmup_steps": 4, "learning_rate": 1}
    return opennmt.train(folder, save_model=name, train_steps=steps, **config | changes)


def translated(folder, model, *arguments):
    given = ("-model", model, "-src", "train.src", "-output", "out", *arguments)
    call(folder, "onmt_translate", *given)
    return read(folder / "out")


@pytest.fixture(scope="module")
def trained(folder):
    return train(folder, "model", 100)


# --- precision and memory ---


def test_attention_on_a_gpu_is_not_computed_by_cudnn():
    """It would plan anew for each shape. Whether a kernel may be used can be asked without a GPU."""
    allowed, given = [], []

    def attend(query, *args, **_):
        given.append(args)
        allowed.append(
            (torch.backends.cuda.cudnn_sdp_enabled(), torch.backends.cuda.mem_efficient_sdp_enabled())
        )
        return query

    query = SimpleNamespace(is_cuda=True)
    with torch.backends.cuda.sdp_kernel(enable_flash=False, enable_math=True, enable_mem_efficient=True):
        assert torch.backends.cuda.cudnn_sdp_enabled()  # as in OpenNMT-py
        attention._attend(attend, query, "key", "value", "mask", 0.1, is_causal=False)
        assert torch.backends.cuda.cudnn_sdp_enabled()
    assert allowed == [(False, True)]
    with torch.no_grad():  # in validation nothing is dropped
        attention._attend(attend, query, "key", "value", "mask", 0.1, is_causal=False)
    assert given == [("key", "value", "mask", 0.1), ("key", "value", "mask", 0.0)]
    assert "_attend" in str(vars(multi_headed_attn.scaled_dot_product_attention))


def gradients(precision=None, **changes):
    """Return the loss and all gradients of the whole model on one batch."""
    return learn_from_a_batch(make_opt(**{**BOTH, **changes}), precision)[1:]


@pytest.mark.parametrize("low", [{"precision": torch.bfloat16}, {"bfloat16": True}], ids=["all", "linear"])
@pytest.mark.parametrize("changes", [BOTH, EVERYTHING])
def test_mixed_precision(changes, low):
    loss, exact = gradients(**changes)
    rounded_loss, rounded = gradients(**low, **changes)
    assert rounded_loss != loss
    torch.testing.assert_close(rounded_loss, loss, rtol=0.02, atol=0)
    for name, gradient in exact.items():
        similarity = torch.cosine_similarity(gradient.flatten(), rounded[name].flatten(), dim=0)
        assert rounded[name].dtype == torch.float32
        assert similarity > 0.97 or gradient.norm() < 1e-3, (name, similarity)


# --- checkpoints ---


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


@pytest.mark.parametrize("form", ["pytorch", "safetensors"])
def test_resuming_is_as_if_nothing_had_happened(folder, form):
    whole = train(folder, "whole", 4, save_format=form, **BOTH)
    half = train(folder, "begun", 2, save_format=form, **BOTH)
    resumed = train(folder, "resumed", 4, save_format=form, train_from=str(half), **BOTH)
    one, other = (torch.load(path, weights_only=True) for path in (whole, resumed))
    assert same(one["optim"], other["optim"])
    assert one["vocab"] == other["vocab"]
    assert translated(folder, whole) == translated(folder, resumed)
    if form == "pytorch":
        assert same(one["model"], other["model"])
    else:
        assert one.keys().isdisjoint(["model", "generator"])
        first, second = (load_file(path.with_suffix(".safetensors")) for path in (whole, resumed))
        assert same(first, second)


def test_the_average_of_safetensors_is_that_of_the_same_training_in_one_file(folder):
    found = []
    for form in ("pytorch", "safetensors"):
        paths = [train(folder, f"{form}{steps}", steps, save_format=form, **BOTH) for steps in (1, 3)]
        call(folder, "onmt_average_models", "-models", *paths, "-output", "average.pt")
        found.append(torch.load(folder / "average.pt", weights_only=True))
    assert same(*({part: each[part] for part in ("model", "generator", "vocab")} for each in found))
    assert translated(folder, "average.pt")


def test_nothing_is_left_to_train(folder):
    done = train(folder, "done", 2)
    with pytest.raises(UsageError, match=r"train_steps: 2: .*done_step_2\.pt has been trained for 2 steps"):
        train(folder, "more", 2, train_from=str(done))
    assert train(folder, "more", 2, train_from=str(done), reset_optim="all").exists()
    assert train(folder, "more", 3, train_from=str(done)).exists()


# --- translation ---


def test_batches_and_beams(folder, trained):
    alone = translated(folder, trained, "-batch_size", 1)
    assert sum(map(str.__eq__, alone, map(translation, SENTENCES))) > 20
    assert translated(folder, trained, "-batch_size", 7) == alone
    assert translated(folder, trained, "-batch_type", "tokens", "-batch_size", 50) == alone
    nbest = translated(folder, trained, "-beam_size", 4, "-n_best", 3)
    assert len(nbest) == 3 * len(SENTENCES)
    assert translated(folder, trained, "-beam_size", 4, "-n_best", 3, "-batch_size", 1) == nbest
    assert len(set(nbest[:3])) == 3


@pytest.mark.parametrize("search", [(), ("-beam_size", 1), ("-beam_size", 1, "-random_sampling_topk", 1)])
def test_a_translation_that_does_not_end_is_bound_by_its_own_source(folder, search):
    """Of 1.25 words for each of the source's, and 5, by the option's default."""
    begun = train(folder, "begun", 1)
    checkpoint = torch.load(begun, weights_only=True)
    checkpoint["generator"]["bias"][checkpoint["vocab"]["tgt"].index("</s>")] = -1e4
    torch.save(checkpoint, begun)
    together = [line.split() for line in translated(folder, begun, *search)]
    assert len(set(map(len, SENTENCES))) > 2
    assert [len(words) for words in together] == [int(1.25 * len(words) + 5) for words in SENTENCES]
    assert [line.split() for line in translated(folder, begun, *search, "-batch_size", 1)] == together


def test_attention_has_the_length_of_its_own_source():
    """Two sources of one and three words, two beams each, all of which have finished with one word."""
    search = SimpleNamespace(beam_size=2, n_best=1, ratio=0, src_len=torch.tensor([1, 1, 3, 3]))
    search.is_finished_list, search._batch_offset = [[True, True]] * 2, [0, 1]
    for name in ("hypotheses", "scores", "predictions", "attention"):
        setattr(search, name, [[], []])
    for line in (0, 1):
        given = ([[0.0, -1.0]] * 2, torch.zeros(2, 2, 2), torch.ones(2, 2, 1, 3), 2)
        assert not BeamSearchBase.beams_non_finished(search, line, *given)
    assert [best.shape for (best,) in search.attention] == [(1, 1), (1, 3)]


def test_unknown_words_are_those_of_the_source(folder, tmp_path):
    """A vocabulary of one word: all others are replaced by what is in the line, or by the table's words."""
    write(tmp_path / "vocab.tgt", "nothing")
    model = train(folder, "unknown", 40, tgt_vocab=str(tmp_path / "vocab.tgt"))
    lines = [["Zorgon￨0"], ["Kyoto￨1", "Zorgon￨0", "Quux￨2", "Blib￨3"], ["Quux￨0", "Kyoto￨1"]] * 4
    write(folder / "unknown", *map(" ".join, lines))
    table = {"Zorgon": "zorugon", "Kyoto": "kyouto no"}
    write(folder / "table", *(f"{source} ||| {target}" for source, target in table.items()))
    source = ("-src", "unknown", "-replace_unk")
    assert "<unk>" in " ".join(translated(folder, model, "-src", "unknown")).split()
    found = translated(folder, model, *source)
    for translated_line, line in zip(found, lines, strict=True):
        assert translated_line
        assert set(translated_line.split()) <= {token.partition("￨")[0] for token in line}
    assert translated(folder, model, *source, "-batch_size", 1, "-n_best", 2)[::2] == found
    expected = [" ".join(table.get(word, word) for word in line.split()) for line in found]
    assert translated(folder, model, *source, "-phrase_table", "table") == expected
    write(folder / "table", "Zorgon\tzorugon")
    with pytest.raises(DataError, match=r"table:1: not source\|\|\|target: 'Zorgon\\tzorugon'"):
        translated(folder, model, *source, "-phrase_table", "table")
    with pytest.raises(UsageError, match="phrase_table needs replace_unk"):
        translated(folder, model, "-phrase_table", "table")


def test_scores_and_alignments(folder, trained):
    plain = translated(folder, trained, "-n_best", 2)
    scored = [line.split("\t") for line in translated(folder, trained, "-n_best", 2, "-with_score")]
    assert [line for line, _ in scored] == plain
    scores = [float(score) for _, score in scored]
    assert all(best >= second for best, second in zip(scores[::2], scores[1::2], strict=True))
    aligned = [line.split(" ||| ") for line in translated(folder, trained, "-n_best", 2, "-report_align")]
    assert [line for line, _ in aligned] == plain
    for (hypothesis, links), words in zip(aligned[::2], SENTENCES, strict=True):
        pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
        assert {target for _, target in pairs} == set(range(len(hypothesis.split())))
        assert all(source < len(words) for source, _ in pairs)


# --- several processes ---


@pytest.mark.slow
def test_two_processes_learn_what_one_does(folder):
    """Half of the batch each; OpenNMT-py halves the sum of the gradients, hence twice the rate."""
    plain = {"optim": "sgd", "max_grad_norm": 0, "normalization": "tokens", "decay_method": "none"}
    plain |= EVERYTHING
    alone = torch.load(train(folder, "alone", 3, learning_rate=0.5, **plain), weights_only=True)["model"]
    train(folder, "two", 1, learning_rate=1.0, **plain)
    command = ("python", ROOT / "tests/support/train_on_processors.py", "-config", "config.yaml")
    options = ("-world_size", 2, "-gpu_ranks", 0, 1, "-gpu_backend", "gloo", "-train_steps", 3)
    printed = run(folder, *command, *options, "-bucket_size", len(SENTENCES) // 2, "-report_every", 1)
    together = torch.load(folder / "two_step_3.pt", weights_only=True)["model"]
    for name, value in alone.items():
        torch.testing.assert_close(together[name], value, rtol=1e-4, atol=1e-6, msg=name)
    shared = set(re.findall(r"shares (\d+) gradients", printed))
    parameters = len(gradients(**EVERYTHING)[1])
    assert shared == {str(parameters)}
    assert printed.count("gradients") == 2 * 3


# --- loss ---


def test_the_loss_in_blocks_is_opennmts(monkeypatch):
    blocks, original = [], training.linear_cross_entropy
    monkeypatch.setattr(training, "linear_cross_entropy", lambda *given: blocks.append(1) or original(*given))
    opt, vocabs = make_opt(**BOTH, label_smoothing=0.1), make_vocabs()
    compute = LossCompute.from_opts(opt, build_model(opt, opt, vocabs, None, -1), vocabs["tgt"])
    assert compute.precision == torch.float32
    targets = torch.randint(4, 20, (6, 7, 1))
    targets[2, 4:] = vocabs["tgt"]["<blank>"]
    batch = {"srclen": torch.full((6,), 9), "tgt": targets}
    output = torch.randn(6, 6, opt.hidden_size)
    loss, statistics = compute(batch, output, {})
    compute.precision = None
    whole, others = compute(batch, output, {})
    assert len(blocks) == 1
    torch.testing.assert_close(loss, whole)
    names = ("n_batchs", "n_sents", "n_words", "n_correct")
    assert [getattr(statistics, name) for name in names] == [getattr(others, name) for name in names]
