"""``preorder apply --expected`` and ``--sample``, and ``train --expected-out``, end to end."""

import random
from collections import Counter

import numpy as np
import pytest

from preorder.cli import main
from preorder.data.formats import parse_features, parse_positions


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


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
    """A model, and what cross-fitting wrote."""
    folder = tmp_path_factory.mktemp("model")
    outputs = ["--cross-fit", "2", "--cross-fit-out", str(folder / "best")]
    outputs += ["--expected-out", str(folder / "expected")]
    assert main([*TRAIN, *data, *outputs, "--model", str(folder / "model")]) == 0
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


def numbers(line):
    return [float(field.rpartition("￨")[2]) for field in line.split()]


def test_expected_positions(apply):
    lines = apply("--expected", "--format", "positions")
    features = apply("--expected", "--threads", "2")
    assert [numbers(line) for line in features] == [numbers(line) for line in lines]
    assert features[1:3] == ["", "a0￨0.00"]
    assert features[3].startswith("x&#65512;y￨")
    first, second, third, fourth = numbers(lines[0])
    assert first + second + third + fourth == pytest.approx(6, abs=0.03)
    assert first < 0.5
    assert 1 < second < third < 2  # which is first is not sure
    assert fourth > 2.5
    assert all(len(field.partition(".")[2]) == 2 for line in lines for field in line.split())


def test_samples(apply, tmp_path):
    source = write(tmp_path / "same", *["a1 b2 c3 d4"] * 2000)
    orders = apply("--sample", "--seed", "7", "--format", "order", src=source)
    assert apply("--sample", "--seed", "7", "--format", "order", "--threads", "2", src=source) == orders
    assert apply("--sample", "--format", "order", src=source) != orders
    features = [parse_features(line)[1] for line in apply("--sample", "--seed", "7", src=source)]
    assert [" ".join(map(str, one.order)) for one in features] == orders
    counts = Counter(orders)
    assert counts["0 1 2 3"] > counts["0 2 1 3"] > 100
    mean = np.mean([one.positions for one in features], 0)
    (expected,) = map(numbers, apply("--expected", "--format", "positions", src=source)[:1])
    np.testing.assert_allclose(mean, expected, atol=0.1)


def test_batches_do_not_change_samples(apply, tmp_path, monkeypatch):
    source = write(tmp_path / "same", *["a1 b2 c3 d4"] * 40)
    orders = apply("--sample", src=source)
    monkeypatch.setattr("preorder.cli.apply.BATCH", 7)
    assert apply("--sample", src=source) == orders
    assert len(set(orders)) > 1


def test_cross_fitted_expected_positions(data, trained):
    best = (trained / "best").read_text(encoding="utf-8").splitlines()
    expected = (trained / "expected").read_text(encoding="utf-8").splitlines()
    assert len(best) == len(expected) == 600
    for one, other in zip(best, expected, strict=True):
        words, _ = parse_features(one)
        assert [field.rpartition("￨")[0] for field in other.split()] == list(words)
        assert sum(numbers(other)) == pytest.approx(6, abs=0.03)
    assert any(numbers(one) != numbers(other) for one, other in zip(best, expected, strict=True))


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        ("--expected --format order", "--expected goes with --format features or positions"),
        ("--expected --format text", "--expected goes with --format features or positions"),
        ("--expected --format tree", "--expected goes with --format features or positions"),
        ("--sample --format tree", "--sample draws orders: it does not go with --format tree"),
        ("--seed 3", "--seed goes with --sample"),
        ("--seed 3 --expected", "--seed goes with --sample"),
    ],
)
def test_what_does_not_go_together(trained, capsys, argv, reason):
    assert main(["apply", "--model", str(trained / "model"), "--src", "nowhere", *argv.split()]) == 2
    assert capsys.readouterr().err == f"{reason}\n"


@pytest.mark.parametrize("other", ["--expected", "--n-best 3"])
def test_one_thing_at_a_time(capsys, other):
    with pytest.raises(SystemExit) as stopped:
        main(["apply", "--model", "model", "--sample", *other.split()])
    assert stopped.value.code == 2
    assert "not allowed with argument --sample" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        ("--expected-out f", "--expected-out goes with --cross-fit"),
        ("--held-out 0", "--expected-out: without held-out lines a model has no probabilities of orders"),
    ],
)
def test_cross_fitting_that_cannot_expect(data, tmp_path, monkeypatch, capsys, argv, reason):
    monkeypatch.chdir(tmp_path)
    crossed = "" if argv.startswith("--expected") else "--cross-fit 2 --cross-fit-out best --expected-out f "
    assert main([*TRAIN, *data, *(crossed + argv).split(), "--model", "model"]) == 2
    assert capsys.readouterr().err == f"{reason}\n"
    assert list(tmp_path.iterdir()) == []


def test_a_model_without_probabilities_refuses_before_any_work(data, tmp_path, capsys):
    model, out = str(tmp_path / "model"), tmp_path / "out"
    assert main([*TRAIN, *data, "--held-out", "0", "--model", model]) == 0
    for choice in ("--expected", "--sample"):
        capsys.readouterr()
        assert main(["apply", "--model", model, "--src", "nowhere", choice, "--out", str(out)]) == 2
        assert capsys.readouterr().err == (
            "the model has no probabilities of orders: train it again, with held-out lines (--held-out)\n"
        )
        assert not out.exists()
    assert main(["apply", "--model", model, "--src", data[1], "--format", "positions"]) == 0
    assert len(parse_positions(capsys.readouterr().out.splitlines()[0])) == 4
