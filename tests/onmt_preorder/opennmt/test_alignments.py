"""Links that guide the attention of a training; alignments and attention in files beside the translations."""

import io
import warnings
from types import SimpleNamespace

import pytest
import torch
from onmt.inputters.text_utils import parse_align_idx
from onmt.transforms.transform import TransformPipe
from onmt.utils import make_batch_align_matrix

from onmt_preorder.opennmt.alignments import _align, _LinksKeeper, put_on_pieces, sure_links
from onmt_preorder.opennmt.checkpoints import read_options
from preorder.data.formats import parse_features
from preorder.errors import DataError
from tests.support.opennmt import TINY, call, train, write_training_task
from tests.support.texts import links, write

LINES = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guided")
    write_training_task(folder, LINES, LINES)
    return folder


def right_links(folder, name):
    lines = (folder / f"{name}.src").read_text(encoding="utf-8").splitlines()
    return [links(parse_features(line)[1].positions) for line in lines]


def train_with(folder, links, steps=2, **changes):
    """Train with these links of the training text; return the path of the checkpoint."""
    write(folder / "train.align", *links)
    write(folder / "valid.align", *[""] * LINES)
    data = {name: {**paths, "path_align": f"{name}.align"} for name, paths in TINY["data"].items()}
    config = {"data": data, "lambda_align": 1.0, "alignment_heads": 1, "alignment_layer": -1}
    config |= {"bucket_size": LINES, "train_steps": steps, "valid_steps": steps}
    return train(folder, **config | changes)


def perplexity(path):
    return read_options(str(path)).validation_perplexity


def test_confidences_and_possible_links_are_left_out_of_the_guide():
    assert sure_links("0-0:0.5 2-1 0?3", "f", 1)["align"] == "0-0 2-1"


def test_lines_without_links_guide_nothing(folder):
    links = right_links(folder, "train")
    free, guided = (perplexity(train_with(folder, each)) for each in ([""] * LINES, ["", *links[1:]]))
    unguided = perplexity(train_with(folder, links, lambda_align=0.0))
    assert free == pytest.approx(unguided, rel=1e-4)
    assert guided != pytest.approx(unguided, rel=1e-3)


RECURRENT = {"decoder_type": "distortion_rnn", "layers": 1, "position_encoding": False}
OURS = {"decoder_type": "preorder_transformer"}
OTHERS = [pytest.param(changes, marks=pytest.mark.slow) for changes in ({}, RECURRENT)]


@pytest.mark.parametrize("changes", [OURS, *OTHERS])
def test_attention_follows_the_links(folder, changes):
    path = train_with(folder, right_links(folder, "train"), steps=80, **changes)
    given = ("-model", path, "-src", "train.src", "-tgt", "train.tgt", "-gold_align", "-output", "out")
    call(folder, "onmt_translate", *given, "-align_output", "found.align")
    lines = (folder / "found.align").read_text().splitlines()
    pairs = zip(lines, right_links(folder, "train"), strict=True)
    right = [len({*line.split()} & {*links.split()}) / len(links.split()) for line, links in pairs]
    assert sum(right) / LINES > 0.9


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ("0-x", r"train\.align:3: not an alignment link: '0-x'$"),
        ("0-9", r"train\.align:3: link 0-9 is out of range: the target has \d tokens$"),
        ("{n}-0", r"train\.align:3: link (\d)-0 is out of range: the source has \1 tokens$"),
    ],
)
def test_links_that_cannot_be(folder, links, message):
    lines = right_links(folder, "train")
    with pytest.raises(DataError, match=message):
        train_with(folder, [*lines[:2], links.format(n=len(lines[2].split())), *lines[3:]])


def test_links_of_words_are_put_on_pieces():
    """A prefix has none, and each piece those of its word."""
    example = {"src": "<de> a@@ b c".split(), "src_original": "ab c".split(), "align": "0-1 1-0".split()}
    example |= {"tgt": "x y@@ z".split(), "tgt_original": "x yz".split()}
    put_on_pieces(example)
    assert set(example["align"]) == {"1-1", "1-2", "2-1", "2-2", "3-0"}


def test_matrix_of_a_batch():
    assert parse_align_idx("") == []
    assert parse_align_idx("0-1 2-0") == [[0, 1], [2, 0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of sparse tensors
        none = make_batch_align_matrix(torch.tensor([], dtype=torch.long), [2, 3, 4])
        matrix = make_batch_align_matrix(torch.tensor([[0, 1, 2], [0, 1, 3]]), [1, 3, 4], normalize=True)
    assert torch.equal(none, torch.zeros(2, 3, 4))
    assert matrix.sum() == 1
    assert matrix[0, 1, 2] == 0.5


def test_translations_and_links_part(tmp_path):
    translations = io.StringIO()
    keeper = _LinksKeeper(translations, str(tmp_path / "links"))
    keeper.write("a ||| b ||| 1-0 0-1\n ||| \n")  # one holds the separator, one is empty
    keeper.write("c ||| 0-0\t-1.5\n")  # with its score
    keeper.flush()
    keeper.finish()
    assert translations.getvalue() == "a ||| b\n\nc\t-1.5\n"
    assert (tmp_path / "links").read_text() == "1-0 0-1\n\n0-0\n"


@pytest.mark.parametrize("has_links", [True, False])
def test_pieces_are_joined_without_the_links(has_links):
    options = SimpleNamespace(report_align=has_links)
    joined = SimpleNamespace(opts=options, apply_reverse=lambda text: text.replace(" ", ""))
    pipe = TransformPipe(None, [joined])
    expected = "ab|||c ||| 0-0 1-1" if has_links else "ab|||c|||0-01-1"
    assert pipe.apply_reverse("a b ||| c ||| 0-0 1-1") == expected
    assert pipe.apply_reverse("a b") == "ab"


@pytest.mark.parametrize(("symbol", "words"), [(7, 2), (None, 3)])
def test_an_end_symbol_after_the_source_is_no_word_of_it(symbol, words):
    weights, encoder = torch.tensor([[0.1, 0.2, 0.7]]), SimpleNamespace(end_symbol=symbol)
    inference = SimpleNamespace(model=SimpleNamespace(encoder=encoder))
    ((found, nothing),) = _align(lambda _: [[weights, None]], inference)
    assert (found.equal(weights[:, :words]), nothing) == (True, None)
