"""OpenNMT-py's own commands on a task of phrases: every source word has its phrase of 0 to 2 words."""

import importlib.util
import random
import re

import pytest
import torch

from tests.support.opennmt import write_vocabularies
from tests.support.texts import write
from tests.support.trainings import PHRASES as SETTINGS
from tests.support.trainings import train
from tests.support.trainings import translate as translate_by

pytestmark = pytest.mark.slow

PHRASES = {"a": "A", "b": "B b", "c": "", "d": "D", "e": "E e", "f": "", "g": "B A", "h": "H"}
MODEL = "model_step_120.pt"


def translation(source):
    return " ".join(PHRASES[word] for word in source if PHRASES[word])


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    """Return the folder of a finished training and what it printed."""
    folder = tmp_path_factory.mktemp("phrases")
    for name, count, seed in (("train", 2000, 1), ("valid", 100, 2)):
        generator = random.Random(seed)
        sources = [generator.choices("abcdefgh", k=generator.randint(2, 6)) for _ in range(count)]
        sources = [[*source, "h"] for source in sources]  # no target is empty
        write(folder / f"{name}.src", *[" ".join(source) for source in sources])
        write(folder / f"{name}.tgt", *[translation(source) for source in sources])
    write_vocabularies(folder, source="train.src")
    return folder, train(folder, SETTINGS, "model")


def perplexity(log):
    return float(re.findall(r"Validation perplexity: ([0-9.e+]+)", log)[-1])


def translate(folder, lines, *options, model=MODEL):
    return translate_by(folder, lines, model, *options)


def test_the_task_is_learned_and_the_checkpoint_holds_our_options(task):
    assert perplexity(task[1]) < 1.2
    opt = torch.load(task[0] / MODEL, weights_only=True)["opt"]
    assert (opt.swan_segment_length, opt.local_reordering_window) == (2, 3)


LINES = ["a b c d", "", "h g f e a h", "c c h", "e"]
EXPECTED = ["A B b D", "", "H B A E e A H", "H", "E e"]


def test_greedy_search(task):
    assert translate(task[0], LINES, "-beam_size", 1)[0] == EXPECTED


def test_beam_search_with_scores_and_alignments(task):
    outputs, _ = translate(
        task[0], LINES, "-beam_size", 4, "-n_best", 2, "-with_score", "-align_output", "alignments"
    )
    best, second = outputs[::2], outputs[1::2]
    assert [line.split("\t")[0] for line in best] == EXPECTED
    for (words, score), (others, less) in zip(
        *([line.split("\t") for line in lines] for lines in (best, second)), strict=True
    ):
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
    outputs, log = translate(folder, lines, "-beam_size", 4, "-swan_word_reward", 20, "-tgt", "valid.tgt")
    assert sum(map(len, outputs)) > 1.2 * sum(map(len, gold))
    score = float(re.search(r"GOLD SCORE: (-[\d.]+)", log)[1])
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
