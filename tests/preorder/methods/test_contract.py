"""What every preordering method promises, whatever it learns."""

import pickle
import random
import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from preorder.btg.nbest import EXACT
from preorder.data import NO_LINES, Alignment, Bitext, Sentence
from preorder.errors import UsageError
from preorder.learning.checkpoint import Checkpoint
from preorder.learning.loop import HeldOutLines
from preorder.methods.base import Training
from preorder.methods.model_directory import LAYER_OPTIONS, Model, load_model, save_model
from preorder.methods.registry import METHODS, all_options, method_class
from tests.support.texts import content
from tests.support.trees import random_sentence
from tests.support.verb_last import CORPUS, LINES, POSITIONS, SENTENCES, bitext, links, svo

SMALL = {"iterations": 3, "minibatch": 6, "hidden": 8, "depth": 1, "size": 8}
LEARNING = {"iterations": 12, "hidden": 16, "size": 12, "learning_rate": 0.02, "dropout": 0.1}
LENGTHS = (7, 12, 7, 30, EXACT, EXACT + 1, 700)
ANY = [*LINES, *(random_sentence(np.random.default_rng(n), n) for n in LENGTHS)]


def options_of(method, **changes):
    options = all_options()[method]
    return options(**{name: value for name, value in (SMALL | changes).items() if hasattr(options, name)})


def puzzling():
    """Return sentences with random alignments, some doubtful, so that no iteration is without errors."""
    generator = random.Random(3)
    drawn = [links(*generator.sample(range(len(s)), len(s))).links for s in SENTENCES]
    doubt = (1, 0.8, 1)
    return Bitext(
        SENTENCES, [Alignment.weighted(dict.fromkeys(one, doubt[i % 3])) for i, one in enumerate(drawn)]
    )


def saved(preorderer, directory):
    """Return what a model directory holds, file by file."""
    save_model(Model(preorderer), str(directory))
    return content(directory)


@pytest.fixture(scope="module", params=METHODS)
def preorderer(request):
    options = options_of(request.param, **LEARNING)
    return method_class(request.param).fit(Training(bitext(), options, bitext(CORPUS[::3])))[0]


def test_learns_a_pattern_and_carries_it_over_to_unseen_words(preorderer):
    assert [order.positions for order in preorderer.order(SENTENCES)] == POSITIONS
    sentence, positions = svo("they", "grow", "apples")
    assert preorderer.order([sentence])[0].positions == positions


def test_orders_and_trees(preorderer):
    """Each order is a permutation of its sentence (Permutation checks), and its tree gives it.

    Methods that need no trees cut sentences of more than EXACT tokens, where the order stays.
    """
    orders, trees = preorderer.order(ANY), preorderer.trees(ANY)
    assert list(map(len, orders)) == list(map(len, ANY))
    assert [tree.permutation for tree in trees] == orders
    if not METHODS[preorderer.method].needs_trees:
        roots = [tree.nodes[0] for tree in trees if len(tree.nodes) >= EXACT]
        assert [(root.begin, root.end, root.inverted) for root in roots] == [(0, EXACT + 1, 0), (0, 700, 0)]
        assert all(EXACT // 2 < root.split <= EXACT for root in roots)
    assert preorderer.order([]) == preorderer.trees([]) == []


def test_threads_and_batches_change_nothing(preorderer, monkeypatch):
    lines = LINES * 3 + ANY
    assert preorderer.order(lines, threads=3) == preorderer.order(lines)
    assert preorderer.trees(lines, threads=3) == preorderer.trees(lines)
    expected = preorderer.trees(ANY)
    assert [preorderer.trees([line])[0] for line in ANY] == expected
    monkeypatch.setattr("preorder.methods.tree_swap.networks.MAX_TOKENS", 30)
    monkeypatch.setattr("preorder.methods.neural_btg.decode.MAX_PAIRS", 130)
    assert preorderer.trees(ANY[::-1], threads=2) == expected[::-1]


def test_best_orders(preorderer):
    best = preorderer.best_orders(ANY, 4)
    assert [orders[0][1] for orders in best] == preorderer.order(ANY)
    for line, orders in zip(ANY, best, strict=True):
        scores = [score for score, _ in orders]
        assert scores == sorted(scores, reverse=True)
        assert len({order for _, order in orders}) == len(orders) == min(4, 2 ** max(0, len(line) - 1))
    trees = preorderer.best_trees(ANY, 4, 2)
    assert [[(score, tree.permutation) for score, tree in found] for found in trees] == best
    assert preorderer.best_orders([], 4) == []


def test_inversions(preorderer):
    """Of every pair a probability, that of its order on the right side; whatever the threads."""
    if not METHODS[preorderer.method].has_confidences:
        with pytest.raises(NotImplementedError):
            preorderer.inversions(LINES)
        return
    words = [SENTENCES[0].words[0]] * (EXACT + 10)
    long = Sentence(tuple(words), tuple(SENTENCES[0].tags[:1] * len(words)))
    lines = [*LINES, long]
    found = preorderer.inversions(lines)
    for sentence, pieces in zip(lines, found, strict=True):
        assert sum(map(len, pieces)) == len(sentence) or len(sentence) < 2
        for inverted in pieces:
            assert inverted.shape == (len(inverted),) * 2
            assert ((inverted >= 0) & (inverted <= 1)).all()
            assert not np.tril(inverted).any()
    assert len(found[-1]) > 1
    for positions, (inverted,) in zip(POSITIONS, found, strict=False):
        right = np.triu(np.array(positions)[:, None] > np.array(positions), 1)
        assert (inverted[right] > 0.5).all()
        assert (inverted[np.triu(~right, 1)] < 0.5).all()
    for one, other in zip(found, preorderer.inversions(lines, threads=2), strict=True):
        assert all(map(np.array_equal, one, other))
    assert preorderer.inversions([]) == []


def test_saved_loaded_and_pickled(preorderer, tmp_path):
    kept = saved(preorderer, tmp_path / "model")
    loaded = load_model(str(tmp_path / "model"))
    loaded.preorderer.order(LINES)
    pickled = pickle.loads(pickle.dumps(loaded))
    for number, model in enumerate((loaded, pickled)):
        assert model.preorderer.layers == preorderer.layers
        assert model.preorderer.order(LINES) == preorderer.order(LINES)
        assert saved(model.preorderer, tmp_path / f"again-{number}") == kept


def test_missing_layers(preorderer):
    model = Model(preorderer)
    assert [model.annotate(sentence) for sentence in LINES] == LINES
    missing = LAYER_OPTIONS[min(preorderer.layers)]
    with pytest.raises(UsageError, match=f"^{re.escape(f'the model needs {missing}, and none are given')}$"):
        model.annotate(Sentence(("I", "see", "fish")))


class Interrupting(Checkpoint):
    """Interrupts the training after it has been saved a number of times."""

    def __init__(self, path, after):
        super().__init__(path)
        self.left = after

    due = True

    def save(self, key, values, arrays):
        super().save(key, values, arrays)
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def monotone():
    """Return the sentences with alignments that ask for the order that they have."""
    return Bitext(SENTENCES, [links(*range(len(s))) for s in SENTENCES])


@pytest.mark.parametrize("method", METHODS)
def test_training_begins_from_a_model(method, tmp_path):
    """The first iteration begins where the other training ended, interrupted or not, and learns the new."""
    begun = {"iterations": 6, "learning_rate": 0.02} if METHODS[method].needs_trees else {"iterations": 6}
    before, _ = method_class(method).fit(Training(monotone(), options_of(method, **begun)))
    save_model(Model(before), str(tmp_path / "before"))
    before = load_model(str(tmp_path / "before")).preorderer
    assert all(order == order.identity(len(order)) for order in before.order(SENTENCES))

    def tuned(checkpoint=None, **changes):
        options = options_of(method, **(begun | changes))
        return method_class(method).fit(
            Training(bitext(), options, NO_LINES, checkpoint or Checkpoint(), initial=before)
        )

    still, _ = tuned(iterations=1, aggressiveness=1e-9, learning_rate=1e-9)
    assert still.order(LINES) == before.order(LINES)
    after, statistics = tuned()
    assert [order.positions for order in after.order(SENTENCES)] == POSITIONS
    with pytest.raises(KeyboardInterrupt):
        tuned(Interrupting(tmp_path / "checkpoint", after=1))
    with pytest.raises(UsageError, match="an interrupted training with other data or options"):
        method_class(method).fit(
            Training(bitext(), options_of(method, **begun), NO_LINES, Checkpoint(tmp_path / "checkpoint"))
        )
    resumed, again = tuned(Checkpoint(tmp_path / "checkpoint"))
    assert again == statistics
    assert saved(resumed, tmp_path / "resumed") == saved(after, tmp_path / "after")


def saved_of(method, lines, folder, **options):
    """Train; return what the model's directory holds."""
    return saved(method_class(method).fit(Training(lines, options_of(method, **options)))[0], folder)


@pytest.mark.parametrize("method", METHODS)
def test_pairs_weigh_alike(method, tmp_path):
    """Two small ones ask for one order, a large one for another."""
    few, many = bitext(), monotone()
    sentences, alignments = SENTENCES * 8, [*few.alignments * 2, *many.alignments * 6]
    size = len(SENTENCES)
    pairs = [*[0] * size, *[1] * size, *[2] * (6 * size)]
    options = options_of(method, **LEARNING | {"ensemble": "none"})
    orders = []
    for given in (pairs, ()):
        model, _ = method_class(method).fit(Training(Bitext(sentences, alignments, given), options))
        orders.append([order.positions for order in model.order(SENTENCES)])
    assert orders == [POSITIONS, [tuple(range(len(s))) for s in SENTENCES]]


def renamed(lines, prefix="other-"):
    """Return the lines with other words: the tags and trees stay."""
    return [replace(line, words=tuple(prefix + word for word in line.words)) for line in lines]


@pytest.mark.parametrize("method", METHODS)
def test_without_words_a_model_learns_from_the_other_layers_alone(method, tmp_path):
    models = []
    for number, sentences in enumerate((SENTENCES, renamed(SENTENCES))):
        lines = Bitext(sentences, bitext().alignments)
        model, _ = method_class(method).fit(Training(lines, options_of(method, **LEARNING, word_dropout=1.0)))
        models.append(saved(model, tmp_path / str(number)))
        assert [order.positions for order in model.order(SENTENCES)] == POSITIONS
        assert model.order(renamed(LINES, "new-")) == model.order(LINES)
        loaded = load_model(str(tmp_path / str(number))).preorderer
        assert loaded.order(LINES) == model.order(LINES)
    assert models[0] == models[1]


@pytest.mark.parametrize("method", ["btg", "neural-btg"])
def test_without_words_there_must_be_another_layer(method):
    lines = Bitext([Sentence(s.words) for s in SENTENCES], bitext().alignments)
    with pytest.raises(UsageError, match="word dropout of 1 needs `tags`"):
        method_class(method).fit(Training(lines, options_of(method, word_dropout=1.0)))


@pytest.mark.parametrize("method", ["btg", "neural-btg"])
def test_few_sure_links_count_more_than_many_doubtful_ones(method):
    """Three times as many lines ask for another order: sure ones win, doubtful ones do not."""
    sure = bitext()
    for confidence, expected in ((1, [tuple(range(len(s))) for s in SENTENCES]), (0.2, POSITIONS)):
        others = [Alignment.weighted(dict.fromkeys(a.links, confidence)) for a in monotone().alignments]
        lines = Bitext(SENTENCES * 4, [*sure.alignments, *others * 3])
        model, statistics = method_class(method).fit(
            Training(lines, options_of(method, iterations=12, ensemble="none"))
        )
        assert statistics["trained"] == len(lines)
        assert [order.positions for order in model.order(SENTENCES)] == expected


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("setting", ["", "held-out lines", "pairs", "dropped words"])
def test_lines_options_and_seed_make_the_model(method, setting, tmp_path, caplog, monkeypatch):
    """Threads, interruptions and held-out lines change nothing; a checkpoint is of its lines."""
    monkeypatch.setattr("preorder.methods.perceptron_btg.learner.FIRST_ROWS", 8)  # tables grow
    lines, held, options = puzzling(), NO_LINES, {"iterations": 4, "ensemble": "perceptron"}
    if setting == "held-out lines":
        held, options["ensemble"] = monotone(), "none"
    elif setting == "pairs":
        options["ensemble"] = "none"
        held = replace(bitext(), pairs=[i % 3 for i in range(len(SENTENCES))])
        lines = replace(lines, pairs=[int(i < 4) for i in range(len(lines))])
    elif setting == "dropped words":
        options["word_dropout"] = 0.5

    def trained(name, checkpoint=None, lines=lines, **changes):
        chosen = options_of(method, **options | changes)
        model, statistics = method_class(method).fit(
            Training(lines, chosen, held, checkpoint or Checkpoint())
        )
        return saved(model, tmp_path / name), statistics, model

    expected, statistics, model = trained("expected")
    assert len(statistics["history"]) == 4
    assert trained("threads", threads=2)[0] == expected
    assert trained("seed", seed=2)[0] != expected
    usual = saved_of(method, puzzling(), tmp_path / "usual", iterations=4, ensemble=options["ensemble"])
    assert (usual == expected) == (setting in ("", "held-out lines"))
    with pytest.raises(KeyboardInterrupt):
        trained("stopped", Interrupting(tmp_path / "checkpoint", after=2))
    words = [replace(sentence, words=("they", *sentence.words[1:])) for sentence in lines.sentences]
    others = [links(*range(len(sentence))) for sentence in words]
    for other in (replace(lines, alignments=others), replace(lines, sentences=words)):
        with pytest.raises(UsageError, match="other data or options"):
            trained("other", Checkpoint(tmp_path / "checkpoint"), other)
    with caplog.at_level("INFO", "preorder"):
        assert trained("resumed", Checkpoint(tmp_path / "checkpoint"))[:2] == (expected, statistics)
    assert "an interrupted training goes on after iteration 2" in caplog.messages
    assert statistics["held_out"] == len(held)
    if held:
        taus = HeldOutLines(held).taus(model.order(held.sentences))
        assert taus.items() <= statistics["history"][-1].items()
        assert len(taus) == (4 if setting == "pairs" else 1)
