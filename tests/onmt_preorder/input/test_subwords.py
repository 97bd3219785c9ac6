"""From words to pieces to their positions, with subword models that were really learned."""

import io

import pytest
import yaml
from onmt.bin.train import _get_parser
from onmt.inputters import build_vocab
from onmt.inputters.dynamic_iterator import build_dynamic_dataset_iter
from onmt.transforms import get_transforms_cls
from onmt.utils.parse import ArgumentParser
from subword_nmt.learn_bpe import learn_bpe

from onmt_preorder.input.positions import feature_numbers, rank_positions
from preorder.data import Sentence
from preorder.methods.model_directory import load_model
from preorder_recipes.pipeline import subwords
from tests.support.language import features, positions, sentence, translation
from tests.support.opennmt import ROOT, TINY, call
from tests.support.texts import write

SENTENCES = [sentence(seed, longest=5) for seed in range(1000)]
STEPS = 90
SIZE = 34
KINDS = ("bpe", "unigram", "subword-nmt", "onmt_tokenize")


@pytest.fixture(scope="module", params=KINDS)
def folder(request, tmp_path_factory):
    """Return a folder with a configuration whose subwords and vocabularies onmt_build_vocab has made."""
    folder = tmp_path_factory.mktemp(request.param)
    for name, sentences in (("train", SENTENCES), ("valid", SENTENCES[:20])):
        write(folder / f"{name}.src", *map(features, sentences))
        write(folder / f"{name}.plain", *map(" ".join, sentences))
        write(folder / f"{name}.tgt", *map(translation, sentences))
    settings = {**TINY, **subword_settings(request.param, folder), "save_data": "data"}
    settings |= {"src_subword_model": "pieces", "tgt_subword_model": "pieces"}
    settings |= {"train_steps": STEPS, "valid_steps": STEPS, "learning_rate": 0.005}
    (folder / "run.yaml").write_text(yaml.safe_dump(settings, allow_unicode=True), encoding="utf-8")
    call(folder, "onmt_build_vocab", "-config", "run.yaml", "-n_sample", "-1")
    return folder


def subword_settings(kind, folder):
    """Return the options that have OpenNMT-py split words; all but onmt_tokenize learn first."""
    if kind == "onmt_tokenize":
        options = "{'mode': 'space', 'joiner_annotate': True}"
        sides = {"subword_type": "bpe", "onmttok_kwargs": options}
        settings = {f"{side}_{key}": value for side in ("src", "tgt") for key, value in sides.items()}
        return {"transforms": [kind], "learn_subwords": True, "learn_subwords_size": SIZE, **settings}
    if kind == "subword-nmt":
        learn_with_subword_nmt(folder)
        return {"transforms": ["bpe"]}
    texts = [str(folder / "train.plain"), str(folder / "train.tgt")]
    command = ["--kind", kind, "--size", str(SIZE), "--out", str(folder / "pieces"), "--text", *texts]
    assert subwords.main(command) == 0
    return yaml.safe_load((ROOT / "config/subwords.yaml").read_text(encoding="utf-8"))


def learn_with_subword_nmt(folder):
    text = (folder / "train.plain").read_text(encoding="utf-8") + (folder / "train.tgt").read_text("utf-8")
    with open(folder / "pieces", "w", encoding="utf-8") as out:
        learn_bpe(io.StringIO(text), out, num_symbols=15)


def batches_of(*arguments):
    """Return the vocabularies and the batches that onmt_train would validate on."""
    opt, _ = _get_parser().parse_known_args(["-config", "run.yaml", *arguments])
    ArgumentParser.update_model_opts(opt)
    ArgumentParser.validate_model_opts(opt)
    ArgumentParser.validate_prepare_opts(opt)
    vocabs = build_vocab(opt, {"src": [], "tgt": []})
    batches = build_dynamic_dataset_iter(opt, get_transforms_cls(opt._all_transform), vocabs, task="valid")
    return vocabs, [batch for batch, _ in batches]


def words_of(pieces):
    """Group pieces by their marks, which needs no text to compare with."""
    words, joins = [], True
    for piece in pieces:
        starts = piece.startswith("▁") or ("▁" not in "".join(pieces) and not joins and piece[0] != "￭")
        words[len(words) :] = [[]] * (starts or not words)
        words[-1] = [*words[-1], piece]
        joins = piece.endswith(("￭", "@@"))
    return words


def text_of(word):
    return "".join(word).strip("▁").replace("￭", "").replace("@@", "")


@pytest.mark.slow
@pytest.mark.parametrize("source", ["src", "plain"])
def test_pieces_stay_together(folder, source, preorderer, monkeypatch):
    """With positions in files, and with plain words that are preordered before they are split."""
    monkeypatch.chdir(folder)
    corpus = {"path_src": f"valid.{source}", "path_tgt": "valid.tgt"}
    data = {"train": corpus, "valid": corpus}
    on_the_fly = ["-preorder_model", str(preorderer)] if source == "plain" else []
    vocabs, batches = batches_of("-data", yaml.safe_dump(data), *on_the_fly)
    known = feature_numbers(vocabs["src_feats"][0].ids_to_tokens)
    order = order_of(preorderer) if source == "plain" else positions
    seen, splits = [], 0
    for batch in batches:
        numbers = known[batch["src"][:, :, 1]]
        places = rank_positions(numbers, batch["src"][:, :, 0] == vocabs["src"]["<blank>"])
        for row, length in enumerate(batch["srclen"].tolist()):
            pieces = [vocabs["src"].lookup_index(i) for i in batch["src"][row, :length, 0].tolist()]
            words = words_of(pieces)
            seen.append(list(map(text_of, words)))
            splits += len(pieces) > len(words)
            expected = order(seen[-1])
            assert numbers[row, :length].tolist() == [
                place for word, place in zip(words, expected, strict=True) for _ in word
            ]
            reordered = [pieces[i] for i in places[row, :length].argsort().tolist()]
            by_place = sorted(zip(expected, words, strict=True))
            assert reordered == [piece for _, word in by_place for piece in word]
    assert sorted(seen) == sorted(SENTENCES[:20])
    assert splits > 10


def order_of(directory):
    model = load_model(str(directory))
    return lambda words: model.preorderer.order([model.annotate(Sentence(tuple(words)))])[0].positions


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["bpe"], indirect=True)
def test_plain_words_in_and_out(folder, preorderer):
    call(folder, "onmt_train", "-config", "run.yaml")
    given = ("-src", "valid.plain", "-output", "out", "-preorder_model", preorderer)
    call(folder, "onmt_translate", "-model", f"model_step_{STEPS}.pt", *given)
    found = (folder / "out").read_text(encoding="utf-8").splitlines()
    known = {word for words in SENTENCES for word in translation(words).split()}
    assert {word for line in found for word in line.split()} <= known
    assert sum(line.split()[-1].startswith("verb") for line in found) > 15
