"""``preorder apply --sample`` end to end."""

import random
from collections import Counter

import numpy as np
import pytest

from preorder.cli import main
from preorder.data.formats import parse_features, parse_order, parse_positions
from preorder.data.types import Sentence
from preorder.methods.model_directory import load_model
from tests.support.drawn import check_frequencies, mean, probabilities_of_orders
from tests.support.texts import write


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A source whose second and third words stand the other way round in one line of three."""
    folder, generator = tmp_path_factory.mktemp("data"), random.Random(1)
    lines = [" ".join(f"{kind}{generator.randrange(6)}" for kind in "abcd") for _ in range(600)]
    links = [generator.choice(["0-0 1-2 2-1 3-3", "0-0 1-1 2-2 3-3", "0-0 1-1 2-2 3-3"]) for _ in lines]
    return ["--src", write(folder / "src", *lines), "--align", write(folder / "align", *links)]


TRAIN = ["train", "--method", "btg", "--classes", "0", "--iterations", "4", "--held-out", "100"]


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    assert main([*TRAIN, *data, "--model", str(folder / "model")]) == 0
    return folder


@pytest.fixture
def apply(trained, tmp_path, capsys):
    """Give a function that applies the model to a text; it returns the lines."""
    source = write(tmp_path / "text", "a1 b2 c3 d4", "", "a0", "x￨y b0 c0 d0")

    def run(*argv, src=source):
        capsys.readouterr()
        assert main(["apply", "--model", str(trained / "model"), "--src", src, *argv]) == 0
        return capsys.readouterr().out.splitlines()

    return run


def test_formats_of_samples(apply):
    lines = apply("--sample", "--format", "positions")
    features = apply("--sample", "--threads", "2")
    assert [" ".join(field.rpartition("￨")[2] for field in line.split()) for line in features] == lines
    assert features[1:3] == ["", "a0￨0"]
    assert features[3].startswith("x&#65512;y￨")
    orders = [parse_positions(line).order for line in lines]
    assert [parse_order(line).order for line in apply("--sample", "--format", "order")] == orders
    texts = ["a1 b2 c3 d4", "", "a0", "x￨y b0 c0 d0"]
    texts = [[text.split()[i] for i in order] for text, order in zip(texts, orders, strict=True)]
    assert [line.split() for line in apply("--sample", "--format", "text")] == texts


def test_samples(apply, trained, tmp_path):
    source = write(tmp_path / "same", *["a1 b2 c3 d4"] * 2000)
    orders = apply("--sample", "--seed", "7", "--format", "order", src=source)
    assert apply("--sample", "--seed", "7", "--format", "order", "--threads", "2", src=source) == orders
    assert apply("--sample", "--format", "order", src=source) != orders
    features = [parse_features(line)[1] for line in apply("--sample", "--seed", "7", src=source)]
    assert [" ".join(map(str, one.order)) for one in features] == orders
    counts = Counter(orders)
    assert counts["0 1 2 3"] > counts["0 2 1 3"] > 100
    model = load_model(str(trained / "model"))
    truth = probabilities_of_orders(model.preorderer, Sentence(("a1", "b2", "c3", "d4")))
    check_frequencies([one.positions for one in features], truth)
    np.testing.assert_allclose(np.mean([one.positions for one in features], 0), mean(truth), atol=0.1)


def test_batches_do_not_change_samples(apply, tmp_path, monkeypatch):
    source = write(tmp_path / "same", *["a1 b2 c3 d4"] * 40)
    orders = apply("--sample", src=source)
    monkeypatch.setattr("preorder.cli.apply.BATCH", 7)
    assert apply("--sample", src=source) == orders
    assert len(set(orders)) > 1


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        ("--sample --format tree", "--sample draws orders: it does not go with --format tree"),
        ("--seed 3", "--seed goes with --sample"),
        ("--seed 3 --n-best 2", "--seed goes with --sample"),
    ],
)
def test_what_does_not_go_together(trained, capsys, argv, reason):
    assert main(["apply", "--model", str(trained / "model"), "--src", "nowhere", *argv.split()]) == 2
    assert capsys.readouterr().err == f"{reason}\n"


def test_one_thing_at_a_time(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["apply", "--model", "model", "--sample", "--n-best", "3"])
    assert stopped.value.code == 2
    assert "not allowed with argument --sample" in capsys.readouterr().err


def test_a_model_without_probabilities_refuses_before_any_work(data, tmp_path, capsys):
    model, out = str(tmp_path / "model"), tmp_path / "out"
    assert main([*TRAIN, *data, "--held-out", "0", "--model", model]) == 0
    capsys.readouterr()
    assert main(["apply", "--model", model, "--src", "nowhere", "--sample", "--out", str(out)]) == 2
    assert capsys.readouterr().err == (
        "the model has no probabilities of orders: train it again, with held-out lines (--held-out)\n"
    )
    assert not out.exists()
    assert main(["apply", "--model", model, "--src", data[1], "--format", "positions"]) == 0
    assert len(parse_positions(capsys.readouterr().out.splitlines()[0])) == 4
