"""Learned reordering through OpenNMT-py's own commands.

The target is the source sorted, and the positions say so: words alone tell where each goes.
"""

import math
import random
import re

import pytest

from preorder_recipes import similarity
from tests.support.opennmt import TINY, call, write_vocabularies
from tests.support.texts import write
from tests.support.trainings import train, translate

pytestmark = pytest.mark.slow

STEPS = 100
SYSTEMS = {
    "both": {"reordering_embedding": ["encoder", "decoder"]},
    "exgre": {"explicit_reordering": "exgre"},
    "refsr": {"explicit_reordering": "refsr"},
}
SHARED = {
    "preorder_encoding": [],
    "decoder_type": "preorder_transformer",
    "norm_placement": "post",
    "reordering_window": 2,
    "layers": 2,
    "train_steps": STEPS,
    "valid_steps": STEPS,
    "report_every": STEPS // 2,
    "accum_count": [2],
    "batch_size": 256,
}


def sorted_task(count, seed):
    """Return sources with positions, plain sources, and targets."""
    generator = random.Random(seed)
    rows = []
    for _ in range(count):
        words = [f"w{i:02}" for i in generator.sample(range(20), generator.randint(4, 8))]
        target = sorted(words)
        told = " ".join(f"{word}￨{target.index(word)}" for word in words)
        rows.append((told, " ".join(words), " ".join(target)))
    return zip(*rows, strict=True)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return the folder of the trainings, and what each printed."""
    folder = tmp_path_factory.mktemp("sorted")
    for name, count, seed in (("train", 5000, 1), ("valid", 200, 2), ("test", 40, 3)):
        told, plain, target = sorted_task(count, seed)
        write(folder / f"{name}.src", *told)
        write(folder / f"{name}.tgt", *target)
    write(folder / "both.src", *plain, *told)  # of the test part
    write_vocabularies(folder, source="train.tgt")
    logs = {name: train(folder, {**TINY, **SHARED, **changes}, name) for name, changes in SYSTEMS.items()}
    return folder, logs


def translate_both(folder, name):
    """Return the translations of the test sentences as plain text and with positions."""
    sources = (folder / "both.src").read_text(encoding="utf-8").splitlines()
    lines, _ = translate(folder, sources, f"{name}_step_{STEPS}.pt", "-beam_size", 3)
    assert len(lines) == 80
    return lines[:40], lines[40:]


@pytest.mark.parametrize("name", ["exgre", "refsr"])
def test_translation_reads_plain_text_and_is_the_same_with_positions(trained, name):
    plain, told = translate_both(trained[0], name)
    assert plain == told
    gold = (trained[0] / "test.tgt").read_text(encoding="utf-8").splitlines()
    words = [(o.split(), g.split()) for o, g in zip(plain, gold, strict=True)]
    right = sum(a == b for o, g in words for a, b in zip(o, g, strict=False))
    assert right > 0.9 * sum(len(g) for _, g in words)


@pytest.mark.parametrize("name", ["exgre", "refsr"])
def test_similarity_on_a_test_set(trained, name, capsys):
    folder, printed = trained
    model = str(folder / f"{name}_step_{STEPS}.pt")
    assert similarity.main(["--model", model, "--src", str(folder / "valid.src")]) == 0
    numbers = [re.findall(r"-?\d+\.\d+", line) for line in capsys.readouterr().out.splitlines()[-3:]]
    (original, own_away), (learned, away), shares = (map(float, line) for line in numbers)
    validation = float(re.search(r"Validation similarity: ([-0-9.]+)", printed[name])[1])
    assert learned == pytest.approx(validation, abs=1e-3)
    assert original == pytest.approx(similarity_of_original_places(folder / "valid.src"), abs=1e-3)
    assert own_away == pytest.approx(distance_of_original_places(folder / "valid.src"), abs=1e-3)
    expected = (learned - original) / (1 - original), 1 - away / own_away
    assert tuple(shares) == pytest.approx(expected, abs=2e-3)
    assert min(expected) > 0.5


def moves(path):
    """Return how far each token's gold position is from its original one."""
    for line in path.read_text(encoding="utf-8").splitlines():
        tokens = line.split()
        for j, token in enumerate(tokens):
            yield int(token.split("￨")[1]) - j


def distance_of_original_places(path):
    distances = list(map(abs, moves(path)))
    return sum(distances) / len(distances)


def similarity_of_original_places(path):
    return mean_cosine(moves(path))


def mean_cosine(distances):
    """The cosine of two encodings is the mean cosine of their angles' differences."""
    size, cosines = TINY["hidden_size"], []
    for away in distances:
        angles = [away / 10000 ** (2 * q / size) for q in range(size // 2)]
        cosines.append(sum(map(math.cos, angles)) / len(angles))
    return sum(cosines) / len(cosines)


def test_a_model_without_explicit_reordering_and_averaging(trained, capsys):
    folder = trained[0]
    model = str(folder / f"both_step_{STEPS}.pt")
    assert similarity.main(["--model", model, "--src", str(folder / "valid.src")]) == 2
    assert "the model has no explicit reordering" in capsys.readouterr().err
    models = [f"both_step_{STEPS}.pt"] * 2
    call(folder, "onmt_average_models", "-models", *models, "-output", f"average_step_{STEPS}.pt")
    assert translate_both(folder, "average") == translate_both(folder, "both")
