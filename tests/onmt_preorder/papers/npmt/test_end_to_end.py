"""OpenNMT-py's own commands on a task of phrases: every source word has its phrase of 0 to 2 words."""

import importlib.util
import random
import re

import pytest
import torch
import yaml

from tests.support.opennmt import run
from tests.support.texts import write

pytestmark = pytest.mark.slow

PHRASES = {"a": "A", "b": "B b", "c": "", "d": "D", "e": "E e", "f": "", "g": "B A", "h": "H"}
STEPS = 120
CONFIG = {
    "data": {
        "train": {"path_src": "train.src", "path_tgt": "train.tgt", "weight": 1},
        "valid": {"path_src": "valid.src", "path_tgt": "valid.tgt"},
    },
    "src_vocab": "vocab.src",
    "tgt_vocab": "vocab.tgt",
    "save_data": "data",
    "save_model": "model",
    "encoder_type": "brnn",
    "decoder_type": "swan",
    "rnn_type": "GRU",
    "local_reordering_window": 3,
    "swan_segment_length": 2,
    "swan_unpromising": 0.001,
    "layers": 1,
    "hidden_size": 32,
    "word_vec_size": 32,
    "dropout": [0.0],
    "param_init": 0.1,
    "optim": "adam",
    "learning_rate": 0.01,
    "batch_type": "sents",
    "batch_size": 64,
    "valid_batch_size": 64,
    "bucket_size": 2000,
    "num_workers": 0,
    "seed": 1,
    "train_steps": STEPS,
    "valid_steps": STEPS,
}


def write_task(folder, name, count, seed):
    generator = random.Random(seed)
    sources = [generator.choices("abcdefgh", k=generator.randint(2, 6)) for _ in range(count)]
    sources = [[*source, "h"] for source in sources]  # no target is empty
    write(folder / f"{name}.src", *[" ".join(source) for source in sources])
    write(folder / f"{name}.tgt", *[translation(source) for source in sources])


def translation(source):
    return " ".join(PHRASES[word] for word in source if PHRASES[word])


def write_config(path, **changes):
    path.write_text(yaml.safe_dump({**CONFIG, **changes}, sort_keys=False), encoding="utf-8")


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    """Return the folder of a finished training and what it printed."""
    folder = tmp_path_factory.mktemp("phrases")
    write_task(folder, "train", 2000, seed=1)
    write_task(folder, "valid", 100, seed=2)
    write_config(folder / "run.yaml")
    run(folder, "onmt_build_vocab", "-config", "run.yaml", "-n_sample", 2000)
    return folder, run(folder, "onmt_train", "-config", "run.yaml")


def perplexity(printed):
    return float(re.findall(r"Validation perplexity: ([0-9.e+]+)", printed)[-1])


def translate(folder, lines, *options, model=f"model_step_{STEPS}.pt"):
    write(folder / "test.src", *lines)
    arguments = ("-model", model, "-src", "test.src", "-output", "out", "-batch_size", 16, *options)
    printed = run(folder, "onmt_translate", *arguments)
    return (folder / "out").read_text(encoding="utf-8").split("\n")[:-1], printed


def test_the_task_is_learned(task):
    assert perplexity(task[1]) < 1.2


def test_the_checkpoint_holds_our_options(task):
    opt = torch.load(task[0] / f"model_step_{STEPS}.pt", weights_only=True)["opt"]
    assert (opt.swan_segment_length, opt.local_reordering_window) == (2, 3)


LINES = ["a b c d", "", "h g f e a h", "c c h", "e"]
EXPECTED = ["A B b D", "", "H B A E e A H", "H", "E e"]


def test_greedy_search_and_its_segments(task):
    outputs, printed = translate(task[0], LINES, "-beam_size", 1)
    assert outputs == EXPECTED
    words, awake, tokens = re.search(
        r"SEGMENTS: ([\d.]+) words on average, from (\d+) of (\d+)", printed
    ).groups()
    assert int(awake) >= 11
    assert int(tokens) == 15  # an empty line is read as one token
    assert 1 <= float(words) <= 2
    shown, _ = translate(task[0], LINES, "-beam_size", 1, "-swan_segments")
    assert re.fullmatch(r"\d [AB]( .+)?( • \d [ABbD]+( [ABbD]+)?)+", shown[0])
    assert [re.sub(r"(^| • )\d ", " ", line).strip() for line in shown] == EXPECTED
    assert shown[1] == ""


def test_alignments_of_given_translations(task):
    folder = task[0]
    write(folder / "gold.src", *LINES)
    write(folder / "gold.tgt", *EXPECTED)
    options = ("-gold_align", "-align_output", "gold.align", "-tgt", "gold.tgt", "-beam_size", 1)
    translate(folder, LINES, *options)
    expected = []
    for line in LINES:
        sources = [i for i, word in enumerate(line.split()) for _ in PHRASES[word].split()]
        expected.append(" ".join(f"{i}-{j}" for j, i in enumerate(sources)))
    assert (folder / "gold.align").read_text(encoding="utf-8").split("\n")[:-1] == expected


def fields(line):
    return line.split("\t")


def test_beam_search_with_scores_and_alignments(task):
    outputs, _ = translate(
        task[0], LINES, "-beam_size", 4, "-n_best", 2, "-with_score", "-align_output", "alignments"
    )
    best, second = outputs[::2], outputs[1::2]
    assert [line.split("\t")[0] for line in best] == EXPECTED
    for (words, score), (others, less) in zip(map(fields, best), map(fields, second), strict=True):
        assert (words != others) == bool(words)  # nothing is translated as nothing
        assert float(score) >= float(less)
    alignments = (task[0] / "alignments").read_text().splitlines()[::2]
    for line, alignment, source in zip(EXPECTED, alignments, LINES, strict=True):
        links = [tuple(map(int, link.split("-"))) for link in alignment.split()]
        assert sorted(j for _, j in links) == list(range(len(line.split())))
        assert all(i < len(source.split()) for i, _ in links)
        assert links == sorted(links)


def test_a_reward_for_words_makes_longer_translations_and_gold_scores_are_those_of_training(task):
    folder = task[0]
    lines = (folder / "valid.src").read_text().splitlines()
    gold = (folder / "valid.tgt").read_text().splitlines()
    outputs, printed = translate(folder, lines, "-beam_size", 4, "-swan_word_reward", 20, "-tgt", "valid.tgt")
    assert sum(map(len, outputs)) > 1.2 * sum(map(len, gold))
    score = float(re.search(r"GOLD SCORE: (-[\d.]+)", printed)[1])
    words = sum(len(line.split()) + 1 for line in gold)
    assert 2.718281828 ** (-score * len(lines) / words) == pytest.approx(perplexity(task[1]), rel=1e-3)


def test_a_language_model_says_which_of_equal_words(task):
    if importlib.util.find_spec("kenlm") is None:
        pytest.skip("the extra lm is not installed")
    words = {word for phrase in PHRASES.values() for word in phrase.split()}
    grams = ["-9\t<unk>\t0", "0\t<s>\t0", "-1\t</s>\t0"]
    grams += [f"{-9 if word == 'A' else -1}\t{word}\t0" for word in sorted(words)]
    arpa = ["\\data\\", f"ngram 1={len(grams)}", "ngram 2=1", "", "\\1-grams:", *grams]
    write(task[0] / "lm.arpa", *arpa, "", "\\2-grams:", "-0.1\tB b", "", "\\end\\")
    outputs, _ = translate(task[0], ["a h"], "-beam_size", 8, "-swan_lm", "lm.arpa", "-swan_lm_weight", 2)
    assert "A" not in outputs[0].split()


def test_resuming_with_validation_by_bleu_and_averaging(task):
    folder, last = task[0], f"model_step_{STEPS}.pt"
    resumed = {"train_from": last, "save_model": "resumed", "train_steps": STEPS + 5, "valid_steps": 5}
    write_config(folder / "resume.yaml", valid_metrics=["BLEU"], **resumed)
    printed = run(folder, "onmt_train", "-config", "resume.yaml")
    assert perplexity(printed) < 1.2
    assert float(re.findall(r"validation BLEU: ([0-9.]+)", printed)[-1]) > 80
    models = [last, f"resumed_step_{STEPS + 5}.pt"]
    run(folder, "onmt_average_models", "-models", *models, "-output", "average.pt")
    assert translate(folder, LINES, "-beam_size", 1, model="average.pt")[0] == EXPECTED
    ensemble = ("-model", *models, "-src", "test.src", "-output", "x")
    printed = run(folder, "onmt_translate", *ensemble, status=2)
    assert printed.endswith("no ensembles of such models: average their weights by onmt_average_models\n")


def test_what_the_search_cannot_do_is_refused(task):
    write(task[0] / "one.src", "a")
    arguments = ("-model", f"model_step_{STEPS}.pt", "-src", "one.src", "-output", "x", "-n_best", 9)
    printed = run(task[0], "onmt_translate", *arguments, status=2)
    assert printed.endswith("n_best 9 is more than beam_size 5\n")
    assert "Traceback" not in printed
