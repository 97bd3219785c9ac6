"""Greedy search and beam search over segments, against exhaustive search on a vocabulary of three words."""

import itertools
import math
from collections import defaultdict

import pytest
import torch
from onmt.model_builder import build_model
from onmt.opts import translate_opts
from onmt.translate import GNMTGlobalScorer, Translator
from onmt.utils.parse import ArgumentParser

from onmt_preorder.opennmt.segments import segment_layers, translation_loss
from onmt_preorder.papers.npmt.likelihood import log_likelihood
from onmt_preorder.papers.npmt.scorer import SentencePairs, WorkLimits
from onmt_preorder.papers.npmt.search import beam_search, best_segments, greedy_segments, spread
from tests.support.opennmt import make_opt
from tests.support.segmentations import BEGIN, END, WORDS, all_segments, make_batch, make_model, segment_score
from tests.support.transformers import SPECIALS, SWAN, WITHOUT_FEATURES, make_vocabs

LONGEST = 2
EVERY = len(all_segments(LONGEST))
REAL = torch.tensor([[True, True, True], [True, False, False], [True, True, False]])


def setup(seed=1, cell="GRU", layers=1):
    model = make_model(cell, layers, seed=seed)
    states = make_batch([3, 3, 3], [1, 1, 1], seed).states.detach()
    return model, states


def words_of(segments, element, rank):
    return tuple(segments.words[element, rank, : segments.lengths[element, rank]].tolist())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("cell", "layers"), [("GRU", 1), ("LSTM", 2)])
@pytest.mark.parametrize("banned", [[BEGIN], [BEGIN, *WORDS[1:]]])
def test_greedy_is_the_argmax_of_each_element_by_itself(seed, cell, layers, banned):
    model, states = setup(seed, cell, layers)
    found = greedy_segments(model, states[REAL], 3, banned)
    for element, state in enumerate(states[REAL]):
        words = ()
        while len(words) < 3:
            scores = next_symbols(model, state, words)
            scores[banned] = -math.inf
            best = scores.argmax().item()
            if best == END:
                break
            words = (*words, best)
        assert words_of(found, element, 0) == words
        torch.testing.assert_close(found.scores[element, 0], segment_score(model, state, words))


def next_symbols(model, state, words):
    """Return the log probabilities of all symbols after a segment's first words."""
    now, output, _ = model.network.begin(state.unsqueeze(0), model.first_gates(state.device))
    for word in words:
        gates = model.network.gates(model.embeddings(torch.tensor([[[word]]])))[0]
        output, now = model.network.step(gates, now, None)
    return model.vocabulary(output).log_softmax(1)[0].detach()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("count", [1, 4, EVERY, EVERY + 3])
@pytest.mark.parametrize("reward", [-1.0, 0.0, 0.4, 2.0])
def test_the_best_segments_of_an_element(seed, count, reward):
    model, states = setup(seed)
    wide = best_segments(model, states[REAL], LONGEST, max(count, EVERY), [BEGIN], reward)
    for element, state in enumerate(states[REAL]):
        scores = {words: segment_score(model, state, words).item() for words in all_segments(LONGEST)}
        quality = {words: score + reward * len(words) for words, score in scores.items()}
        best = sorted(quality, key=quality.get, reverse=True)[:count]
        assert [words_of(wide, element, rank) for rank in range(len(best))] == best
        torch.testing.assert_close(
            wide.scores[element, : len(best)].tolist(), [scores[words] for words in best]
        )
        assert wide.scores[element, EVERY:].eq(-math.inf).all()


@pytest.mark.parametrize(("seed", "reward"), [(10, 2.0), (10, 2.5), (19, 1.0), (19, 1.3), (26, -1.0)])
def test_a_beginning_is_followed_as_long_as_it_may_become_the_best(seed, reward):
    """Of one word there is one beginning of each length, so that nothing but the bound drops any."""
    model, states = setup(seed)
    elements = states.flatten(0, 1)
    found = best_segments(model, elements, 6, 1, [BEGIN, *WORDS[1:]], reward)
    for element, state in enumerate(elements):
        quality = [segment_score(model, state, WORDS[:1] * n).item() + reward * n for n in range(7)]
        assert found.lengths[element, 0] == max(range(7), key=quality.__getitem__)


def test_the_search_ends_where_nothing_can_become_better():
    """Two segments are asked for, and each word costs so much that the second has one word."""
    model, states = setup()
    steps = []
    model.vocabulary.register_forward_hook(lambda *_: steps.append(1))
    found = best_segments(model, states[REAL], 9, 2, [BEGIN], -50.0)
    assert found.lengths.tolist() == [[0, 1]] * 6
    assert len(steps) == 2


def exhaustive(model, states):
    """Return the probability of every translation."""
    of_elements = [
        {words: segment_score(model, state, words).item() for words in all_segments(LONGEST)}
        for state in states
    ]
    found = defaultdict(list)
    for segments in itertools.product(*of_elements):
        score = sum(scores[words] for scores, words in zip(of_elements, segments, strict=True))
        found[sum(segments, ())].append(score)
    return {words: torch.tensor(scores).logsumexp(0).item() for words, scores in found.items()}


@pytest.mark.parametrize("reward", [0.0, 0.7])
def test_a_wide_beam_is_exhaustive_search(reward):
    model, states = setup(layers=2)
    wide = 600  # more than the translations of two elements, and of three as far as they are equal
    segments = spread(best_segments(model, states[REAL], LONGEST, EVERY, [BEGIN]), REAL)
    with torch.no_grad():
        found = beam_search(segments, wide, reward)
    for sentence in range(3):
        expected = {
            words: score + reward * len(words)
            for words, score in exhaustive(model, states[sentence, REAL[sentence]]).items()
        }
        best = sorted(expected, key=expected.get, reverse=True)[:20]
        got = [tuple(found.flat(sentence, rank).tolist()) for rank in range(len(best))]
        assert got == best
        scores = found.scores[sentence, : len(best)].tolist()
        torch.testing.assert_close(scores, [expected[words] for words in best], atol=1e-5, rtol=0)


def test_the_segments_shown_are_the_most_probable_of_their_words():
    model, states = setup()
    segments = spread(best_segments(model, states[REAL], LONGEST, EVERY, [BEGIN]), REAL)
    found = beam_search(segments, 300)
    for rank in range(10):
        words = found.flat(0, rank).tolist()
        shown = found.lengths[0, rank].tolist()
        assert sum(shown) == len(words)
        scores = {}
        for sizes in itertools.product(range(LONGEST + 1), repeat=3):
            if sum(sizes) == len(words):
                begins = [0, *itertools.accumulate(sizes)]
                scores[sizes] = sum(
                    segment_score(model, states[0, t], words[begins[t] : begins[t + 1]]).item()
                    for t in range(3)
                )
        assert tuple(shown) == max(scores, key=scores.get)


def test_a_beam_of_one_is_the_greedy_concatenation_of_best_segments():
    model, states = setup()
    segments = spread(best_segments(model, states[REAL], LONGEST, EVERY, [BEGIN]), REAL)
    one = beam_search(segments, 1)
    for sentence in range(3):
        best = [
            tuple(segments.words[sentence, t, 0, : segments.lengths[sentence, t, 0]].tolist())
            for t in range(3)
        ]
        assert one.flat(sentence, 0).tolist() == list(sum(best, ()))
    assert one.scores.shape == (3, 1)
    torch.testing.assert_close(one.scores[:, 0], segments.scores[:, :, 0].sum(1))
    rewarded = beam_search(segments, 1, reward=50.0)  # counts at each element
    assert rewarded.lengths.sum((1, 2)).tolist() == [LONGEST * count for count in REAL.sum(1).tolist()]


def make_translator(count, *options):
    model, opt = make_swan(make_opt(**SWAN, embedding_init=1, swan_segment_length=2))
    parser = ArgumentParser()
    translate_opts(parser)
    size = ("-beam_size", str(count), "-n_best", str(count))
    given = parser.parse_args(["-model", "m", "-src", "s", *size, *options])
    vocabs = make_vocabs(None) | {"decoder_start_token": "<s>"}
    return Translator.from_opt(model, vocabs, given, opt, global_scorer=GNMTGlobalScorer.from_opt(given))


def make_swan(opt):
    torch.manual_seed(1)
    return build_model(opt, opt, make_vocabs(None), None, -1).eval(), opt


@pytest.mark.parametrize(("asked", "choices"), [(0, 5), (1, 2), (3, 3)])
def test_how_many_segments_a_source_token_has(asked, choices):
    assert make_translator(5, "-n_best", "2", "-swan_choices", str(asked)).choices == choices


def test_unknown_words_can_be_banned_or_replaced():
    unknown, padding, begin = map(SPECIALS.index, ("<unk>", "<blank>", "<s>"))
    assert make_translator(2).banned == [padding, begin]
    assert make_translator(2, "-ban_unk_token").banned == [padding, begin, unknown]
    batch = {"src": torch.tensor([[[4], [5], [6]]]), "srclen": torch.tensor([3])}
    assert make_translator(2).translate_batch(batch)["alignment"] == [[]]
    found = make_translator(2, "-replace_unk").translate_batch(batch)
    for words, links in zip(found["predictions"][0], found["alignment"][0], strict=True):
        assert (0 if links is None else len(links)) == len(words) - 1


def test_a_validation_is_exact_and_leaves_out_what_cannot_be_said(caplog):
    limits = {"swan_segment_length": 2, "swan_unpromising": 0.2}
    model, _ = make_swan(make_opt(**SWAN, embedding_init=1, bfloat16=True, **limits))
    batch = {"src": torch.tensor([[[5], [6], [7]], [[4], [1], [1]]]), "srclen": torch.tensor([3, 1])}
    batch["tgt"] = torch.tensor([[2, 4, 5, 6, 3]] * 2).unsqueeze(2)
    target, states = make_vocabs(None)["tgt"], model.encoder(batch["src"], batch["srclen"])[0]
    layers = segment_layers(model.decoder, model.generator, target)
    assert layers.precision == torch.float32
    caplog.clear()  # what building the model has said
    with caplog.at_level("WARNING", "onmt"):
        loss, statistics = translation_loss(model.decoder, model.generator, target, batch, states)
    pairs = SentencePairs.of_batch(batch, states, SPECIALS.index("<blank>"))
    likelihood = log_likelihood(layers, pairs, WorkLimits(2))
    assert likelihood[1] == -math.inf
    torch.testing.assert_close(loss, -likelihood[0])
    assert statistics.n_words == 4
    [message] = caplog.messages
    assert message.startswith("left out: 1 pairs of more target words than 2 (swan_segment_length)")


def test_a_target_word_may_be_the_symbol_of_padding():
    batch = {
        "tgt": torch.tensor([[2, 5, 1, 6, 3], [2, 3, 1, 1, 1]]).unsqueeze(2),
        "srclen": torch.tensor([3, 1]),
    }
    pairs = SentencePairs.of_batch(batch, torch.zeros(2, 3, 4), SPECIALS.index("<blank>"))
    assert (pairs.words[0].tolist(), pairs.lengths.tolist()) == ([5, 1, 6], [3, 0])


def test_dropout_changes_in_words_and_layers():
    model, _ = make_swan(make_opt(**SWAN, dropout=[0.5]))
    model.update_dropout(0.25, 0.0)
    assert (model.decoder.network.dropout, model.decoder.embeddings.dropout.p) == (0.25, 0.25)


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_as_many_translations_as_are_asked_for(count):
    batch = {"src": torch.tensor([[[5], [1], [1]], [[4], [5], [6]]]), "srclen": torch.tensor([1, 3])}
    found = make_translator(count).translate_batch(batch)
    assert found["scores"][:, :count].isfinite().all()
    for predictions in found["predictions"]:
        assert len({tuple(words.tolist()) for words in predictions}) == count


def test_after_a_transformer_the_search_scores_as_the_training_does():
    """The words of its segments have no positions."""
    model, _ = make_swan(make_opt(**WITHOUT_FEATURES, decoder_type="swan", embedding_init=1))
    assert model.encoder.embeddings.position_encoding
    assert not model.decoder.embeddings.position_encoding
    states, _, _ = model.encoder(torch.tensor([[[5]]]), torch.tensor([1]))
    layers = segment_layers(model.decoder, model.generator, make_vocabs()["tgt"])
    with torch.no_grad():
        found = best_segments(layers, states[0], 3, count=60)
        for score, words, length in zip(*(part[0] for part in found), strict=True):
            pair = SentencePairs(states, torch.tensor([1]), words[None, :length], length[None])
            gold = log_likelihood(layers, pair, model.decoder.exact_limits)
            torch.testing.assert_close(gold, score[None])
        assert found.lengths.max() > 1
