"""A few steps of training of each paper's model by OpenNMT-py's own commands, and what is done with it."""

import contextlib
import functools
import gzip
import io
import math
import re

import pytest
import torch
from onmt.models import NMTModel
from onmt.scorers.bleu import BleuScorer

from onmt_preorder.papers.npmt.layers import LocalReordering
from preorder.data.formats import parse_alignment
from preorder_recipes import attention, gates, jumps, phrases, similarity
from preorder_recipes.trained import load_line
from tests.support.distortion_models import DISTORTION
from tests.support.opennmt import TINY, call, outcome, train, write_training_task
from tests.support.texts import read, write
from tests.support.transformers import SWAN

LEARNING = {**TINY, "preorder_encoding": [], "decoder_type": "preorder_transformer"}
PLAIN = {name: {**paths, "path_src": f"{name}.plain"} for name, paths in TINY["data"].items()}
RECURRENT = {**TINY, **DISTORTION, "data": PLAIN, "hidden_size": 48, "word_vec_size": 32}
RECURRENT |= {"distortion_source_end": True, "learning_rate": 0.005}
BEGUN = {"train_from": "rnnsearch.pt", "reset_optim": "all", "override_opts": True}
MODELS = {
    "preorder": TINY,
    "reordering": LEARNING | {"reordering_embedding": ["encoder", "decoder"], "norm_placement": "post"},
    "exgre": LEARNING | {"explicit_reordering": "exgre"},
    "refsr": LEARNING | {"explicit_reordering": "refsr", "layers": 2},
    "rnnsearch": RECURRENT,
    "distortion": RECURRENT | BEGUN | {"distortion": "hidden"},
    "phrases": {**TINY, **SWAN, "data": PLAIN, "swan_segment_length": 2, "local_reordering_window": 3},
}
MODELS["phrases"] |= {"swan_unpromising": 0.001, "learning_rate": 0.01}


def train_aloud(folder, name, **settings):
    """Train NAME.pt; return what that printed."""
    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(output):
        path = train(folder, **settings | {"save_model": name})
    path.rename(folder / f"{name}.pt")
    return output.getvalue()


def translate(folder, lines, model, *options):
    """Translate lines; return the lines of output."""
    write(folder / "test.src", *lines)
    files = ("-src", "test.src", "-output", "test.out", "-batch_size", 16)
    call(folder, "onmt_translate", "-model", model, *files, *options)
    return read(folder / "test.out")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("short")
    write_training_task(folder, 200, 20)
    for part in ("train", "valid"):
        lines = (folder / f"{part}.src").read_text(encoding="utf-8").splitlines()
        write(folder / f"{part}.plain", *(re.sub(r"￨\d+", "", line) for line in lines))
    return folder


@pytest.fixture(scope="module")
def trained(folder):
    """Return a function that trains the model of a name, NAME.pt, once; it returns what that printed."""

    @functools.cache
    def make(name):
        if name == "distortion":
            make("rnnsearch")
        steps = 60 if name == "phrases" else 10  # before which all phrases are empty
        counts = {"train_steps": steps, "valid_steps": steps // 2, "save_checkpoint_steps": steps}
        return train_aloud(folder, name, **MODELS[name] | counts)

    return make


def perplexities(log):
    return list(map(float, re.findall(r"Validation perplexity: ([0-9.e+]+)", log)))


@pytest.mark.parametrize("name", MODELS)
def test_it_learns_and_translates(folder, trained, name):
    log = trained(name)
    first, second = perplexities(log)
    assert second < first
    kind = "plain" if MODELS[name]["data"] == PLAIN else "src"
    lines = read(folder / f"valid.{kind}")
    options = () if name == "phrases" else ("-max_length", 9)
    outputs = translate(folder, ["", *lines], f"{name}.pt", *options)
    assert len(outputs) == 21
    assert outputs[0] == ""
    assert any(outputs)


@pytest.mark.slow
def test_relative_encoding_puts_words_in_the_order_of_the_given_positions(tmp_path):
    write_training_task(tmp_path, 20000, 500)
    log = train_aloud(tmp_path, "relative", train_steps=500, valid_steps=500)
    assert float(re.findall(r"Validation accuracy: ([0-9.]+)", log)[-1]) >= 95
    special = {
        "w1￨0 w2￨1 w3￨2 w4￨3": "w1 w2 w3 w4",
        "w1￨3 w2￨2 w3￨1 w4￨0": "w4 w3 w2 w1",  # the same words in another order, in the same batch
        "": "",
        "w1 w2  w3 w4": "w1 w2 w3 w4",
        "w1￨3 w2 w3￨2 w4￨0": "w4 w2 w3 w1",
    }
    lines, targets = (read(tmp_path / f"valid.{side}")[:60] for side in ("src", "tgt"))
    outputs = translate(tmp_path, [*special, *lines], "relative.pt", "-beam_size", 3)
    assert outputs[:5] == list(special.values())
    assert sum(map(str.__eq__, outputs[5:], targets)) > 0.8 * 60


# --- learned reordering ---


@pytest.mark.parametrize("name", ["exgre", "refsr"])
def test_similarity_on_a_test_set(folder, trained, name, capsys):
    trained(name)
    assert similarity.main(["--model", f"{folder}/{name}.pt", "--src", f"{folder}/valid.src"]) == 0
    numbers = [re.findall(r"-?\d+\.\d+", line) for line in capsys.readouterr().out.splitlines()[-3:]]
    (original, own_away), (learned, away), shares = (map(float, line) for line in numbers)
    moves = [
        int(token.split("￨")[1]) - place
        for line in read(folder / "valid.src")
        for place, token in enumerate(line.split())
    ]
    assert own_away == pytest.approx(sum(map(abs, moves)) / len(moves), abs=1e-3)
    # The cosine of two encodings is the mean cosine of their angles' differences.
    size = TINY["hidden_size"]
    cosines = [math.cos(away / 10000 ** (2 * q / size)) for away in moves for q in range(size // 2)]
    assert original == pytest.approx(sum(cosines) / len(cosines), abs=1e-3)
    assert -1 <= learned <= 1
    expected = (learned - original) / (1 - original), 1 - away / own_away
    assert tuple(shares) == pytest.approx(expected, abs=2e-3)


def test_the_learned_positions_of_a_sentence(folder, trained, capsys):
    trained("refsr")
    line = [f"--model={folder}/refsr.pt", f"--src={folder}/valid.src", f"--out={folder}/learned.svg"]
    assert similarity.main([*line, "--line=2"]) == 0
    rows = re.findall(r"│ (\S+) *│ +(\d+) │ +([\d.]+) │ +(\d+) │", capsys.readouterr().out)
    assert [f"{word}￨{gold}" for word, _, _, gold in rows] == read(folder / "valid.src")[1].split()
    assert [int(own) for _, own, _, _ in rows] == list(range(len(rows)))
    assert all(0 <= float(learned) <= len(rows) for _, _, learned, _ in rows)
    picture = (folder / "learned.svg").read_text()
    assert all(f">{name}<" in picture for name in ("original", "learned", "given", *(row[0] for row in rows)))
    assert similarity.main(line) == 2
    assert "--out draws the positions of one sentence" in capsys.readouterr().err


def test_tokens_without_positions_have_no_similarity(folder, trained, capsys):
    trained("refsr")
    assert similarity.main([f"--model={folder}/refsr.pt", f"--src={folder}/valid.plain"]) == 2
    assert "valid.plain:1: token without a position" in capsys.readouterr().err


def test_a_model_without_explicit_reordering_and_averaging(folder, trained, capsys):
    trained("reordering")
    assert similarity.main(["--model", f"{folder}/reordering.pt", "--src", f"{folder}/valid.src"]) == 2
    assert "the model has no explicit reordering" in capsys.readouterr().err
    call(folder, "onmt_average_models", "-models", *["reordering.pt"] * 2, "-output", "average.pt")
    lines, short = read(folder / "valid.src"), ("-max_length", 9)
    one, other = (translate(folder, lines, f"{name}.pt", *short) for name in ("average", "reordering"))
    assert one == other


# --- attention with jumps ---


@pytest.mark.parametrize("name", ["rnnsearch", "distortion", "preorder"])
def test_the_attention_in_a_sentence(folder, trained, capsys, name):
    """That which links are read from."""
    trained(name)
    texts = [f"{folder}/valid.{end}" for end in ("src" if name == "preorder" else "plain", "tgt")]
    files = ("-tgt", texts[1], "-align_output", "links")
    translate(folder, read(texts[0]), f"{name}.pt", "-beam_size", 1, "-gold_align", *files)
    line = [f"--model={folder}/{name}.pt", f"--src={texts[0]}", f"--tgt={texts[1]}", "--line=2"]
    assert attention.main([*line, f"--out={folder}/attention.png"]) == 0
    printed = capsys.readouterr().out
    end = [] if name == "preorder" else ["(end)"]
    columns = re.findall(r"┃ +(\S+)(?= ┃)", printed)
    assert columns == [*read(texts[0])[1].split(), *end]
    rows = re.findall(r"│ (\S+) *│(.*)│\n", printed)
    assert [word for word, _ in rows] == [*read(texts[1])[1].split(), "(end)"]
    shares = [list(map(float, re.findall(r"\d\.\d\d", numbers))) for _, numbers in rows]
    links = parse_alignment(read(folder / "links")[1]).links
    assert sorted(target for _, target in links) == [*range(len(rows) - 1)]
    for source, target in links:
        assert shares[target][source] == max(shares[target][: len(read(texts[0])[1].split())])
    assert (folder / "attention.png").read_bytes().startswith(b"\x89PNG")


def test_jumps(folder, trained, capsys):
    trained("distortion")
    given = [f"--src={folder}/valid.plain", f"--tgt={folder}/valid.tgt"]
    assert jumps.main([f"--model={folder}/distortion.pt", *given]) == 0
    entropy, probabilities, lost = capsys.readouterr().out.splitlines()[-3:]
    found = list(map(float, re.findall(r"0\.\d+", probabilities)))
    assert (len(found), sum(found)) == (7, pytest.approx(1, abs=5e-3))
    spread = -sum(share * math.log(share) for share in found)
    measured, most = map(float, re.findall(r"\d\.\d+", entropy))
    assert 0 < measured <= spread + 5e-3  # entropy is concave: its mean is not above that of the mean
    assert most == pytest.approx(math.log(7), abs=1e-3)
    assert 0 <= float(lost.split()[-1]) < 1
    assert jumps.main([f"--model={folder}/rnnsearch.pt", *given]) == 2
    assert "rnnsearch.pt: the model has no jumps" in capsys.readouterr().err
    assert jumps.main([f"--model={folder}/distortion.pt", given[0], f"--tgt={folder}/train.tgt"]) == 2
    assert "valid.plain:21: the file ends after 20 lines" in capsys.readouterr().err


def test_the_jumps_in_a_sentence(folder, trained, capsys):
    trained("distortion")
    files = f"--src={folder}/valid.plain", f"--tgt={folder}/valid.tgt"
    line = [f"--model={folder}/distortion.pt", *files, f"--out={folder}/jumps.png"]
    assert jumps.main([*line, "--line=2"]) == 0
    rows = re.findall(r"│ (\S+) *│(.*)│\n", capsys.readouterr().out)
    assert [word for word, _ in rows] == [*read(folder / "valid.tgt")[1].split(), "(end)"]
    for _, numbers in rows:
        assert sum(map(float, re.findall(r"\d\.\d\d", numbers))) == pytest.approx(1, abs=0.04)
    assert (folder / "jumps.png").read_bytes().startswith(b"\x89PNG")
    assert jumps.main(line) == 2
    assert "--out draws the jumps of one sentence: it goes with --line" in capsys.readouterr().err


# --- phrases ---


def test_what_phrases_become(folder, trained, capsys):
    trained("phrases")
    lines = read(folder / "valid.plain")
    outputs = translate(folder, lines, "phrases.pt", "-beam_size", 1, "-align_output", "links")
    write(folder / "valid.hyp", *outputs)
    files = [f"--src={folder}/valid.plain", f"--hyp={folder}/valid.hyp", f"--align={folder}/links"]
    assert phrases.main(files) == 0
    emitters = [{link.split("-")[0] for link in links.split()} for links in read(folder / "links")]
    assert f"{sum(map(len, emitters))} phrases, " in capsys.readouterr().out


def test_the_gates_of_a_sentence(folder, trained, capsys):
    trained("phrases")
    line = ["--model", f"{folder}/phrases.pt", "--src", f"{folder}/valid.plain"]
    assert attention.main([*line, f"--tgt={folder}/valid.tgt"]) == 2
    assert "phrases.pt: the model has no attention" in capsys.readouterr().err
    assert gates.main([*line, "--out", f"{folder}/gates.svg"]) == 0
    printed = capsys.readouterr().out
    (sentence,), model, batch = load_line(f"{folder}/phrases.pt", 1, f"{folder}/valid.plain")
    layer = next(one for one in model.modules() if isinstance(one, LocalReordering))
    words = model.encoder.embeddings.word_lut(batch["src"][:, :, 0])
    _, [opened] = layer.gates(words, torch.zeros(words.shape[:2], dtype=torch.bool))
    rows = re.findall(r"│ (\S+) *│ ([\d.]+) │ ([\d.]+) │ ([\d.]+) │", printed)
    assert [word for word, *_ in rows] == sentence.split()
    for (_, *shown), exact in zip(rows, opened.tolist(), strict=True):
        assert list(map(float, shown)) == pytest.approx(exact, abs=0.006)
    assert "distance in words" in (folder / "gates.svg").read_text()
    assert gates.main([*line, "--line", "21"]) == 2
    assert "valid.plain:21: has 20 lines" in capsys.readouterr().err


def test_beam_search_with_scores_and_alignments(folder, trained):
    trained("phrases")
    lines = ["", *read(folder / "valid.plain")]
    options = ("-beam_size", 4, "-n_best", 2, "-with_score", "-align_output", "alignments")
    outputs = translate(folder, lines, "phrases.pt", *options)
    best, second = ([line.split("\t") for line in outputs[start::2]] for start in (0, 1))
    for source, (words, score), (others, less) in zip(lines, best, second, strict=True):
        assert (words != others) == bool(source)  # nothing is translated as nothing
        assert float(score) >= float(less)
    for (words, _), alignment, source in zip(best, read(folder / "alignments")[::2], lines, strict=True):
        links = [tuple(map(int, link.split("-"))) for link in alignment.split()]
        assert links == sorted(links)
        assert sorted(j for _, j in links) == list(range(len(words.split())))
        assert all(i < len(source.split()) for i, _ in links)


def test_a_reward_for_words_and_gold_scores_that_are_those_of_training(folder, trained, caplog):
    log = trained("phrases")
    lines, gold = (read(folder / f"valid.{kind}") for kind in ("plain", "tgt"))
    search = ("-beam_size", 4, "-tgt", "valid.tgt", "-swan_word_reward")
    plain, longer = (translate(folder, lines, "phrases.pt", *search, reward) for reward in (0, 20))
    words = sum(len(line.split()) for line in plain), sum(len(line.split()) for line in longer)
    assert 2 * sum(len(line.split()) for line in lines) == words[1] > words[0]
    score = float(re.search(r"GOLD SCORE: (-[\d.]+)", caplog.text)[1])
    likelihood = -score * len(lines) / sum(len(line.split()) + 1 for line in gold)
    assert math.exp(likelihood) == pytest.approx(perplexities(log)[-1], rel=1e-3)


# --- options of OpenNMT-py ---

FEW = {"train_steps": 4, "valid_steps": 2, "save_checkpoint_steps": 2, "keep_checkpoint": -1}


def test_tied_weights_are_saved_and_averaged_and_blank_dev_lines_scored(folder, monkeypatch):
    for side in ("src", "tgt"):
        (folder / f"blank.{side}.gz").write_bytes(
            gzip.compress(b"\n" + (folder / f"valid.{side}").read_bytes())
        )
    seen = []
    monkeypatch.setattr(BleuScorer, "compute_score", lambda _, *texts: seen.append(texts) or 1.0)
    tied = TINY | FEW | {"share_decoder_embeddings": True, "save_model": "tied"}
    data = {"train": TINY["data"]["train"], "valid": {"path_src": "blank.src.gz", "path_tgt": "blank.tgt.gz"}}
    train(folder, **tied | {"data": data, "valid_metrics": ["BLEU"]})
    assert len(seen) == 2
    for translations, references in seen:
        assert len(translations) == 21
        assert references == ["", *read(folder / "valid.tgt")]
    paths = [f"tied_step_{step}.pt" for step in (2, 4)]
    call(folder, "onmt_average_models", "-models", *paths, paths[1], "-output", "tied.pt")
    one, other, mean = (torch.load(folder / path, weights_only=False) for path in (*paths, "tied.pt"))
    for part in ("model", "generator"):
        for name, tensor in mean[part].items():
            torch.testing.assert_close(tensor, (one[part][name] + 2 * other[part][name]) / 3)
    train(folder, **tied | {"save_format": "safetensors", "save_model": "tied_safe"})
    assert translate(folder, ["w1￨0 w2￨1"], "tied_safe_step_4.pt", "-max_length", 4)


def test_guided_alignment_of_a_source_with_its_end(folder):
    for part in ("train", "valid"):
        lengths = (len(line.split()) for line in read(folder / f"{part}.plain"))
        write(folder / f"{part}.align", *(" ".join(f"{i}-{i}" for i in range(n)) for n in lengths))
    data = {name: {**paths, "path_align": f"{name}.align"} for name, paths in PLAIN.items()}
    guided = RECURRENT | FEW | {"data": data, "lambda_align": 1.0, "alignment_layer": -1}
    assert perplexities(train_aloud(folder, "guided", **guided, early_stopping=0))


def test_a_training_that_goes_on_has_the_dropout_of_its_step(folder, monkeypatch):
    rates = {"dropout": [0.1, 0.4], "attention_dropout": [0.1, 0.3], "dropout_steps": [0, 1]}
    train(folder, **TINY | FEW | rates | {"save_model": "dropped"})
    changed = []
    monkeypatch.setattr(NMTModel, "update_dropout", lambda _, *given: changed.append(given))
    train(folder, **TINY | FEW | rates | {"train_from": "dropped_step_2.pt", "save_model": "again"})
    assert changed == [(0.4, 0.3)]


def test_a_line_that_is_longer_than_the_positions_that_a_model_has(folder, trained, capsys):
    trained("preorder")
    write(folder / "long.src", " ".join(["w1"] * 5001))
    files = ("-src", "long.src", "-output", "long.out")
    status, lines = outcome(capsys, folder, "onmt_translate", "-model", "preorder.pt", *files)
    assert status == 2
    assert lines[-1] == "a line has more tokens than the model has positions, 5000"
