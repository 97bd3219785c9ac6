"""Small phrase models, and all their segmentations one after another: the truth for the tests of SWAN."""

import itertools

import torch
from torch import nn

from onmt_preorder.papers.npmt.layers import SegmentNetwork
from onmt_preorder.papers.npmt.scorer import SegmentLayers, SentencePairs

BEGIN, END, WORDS = 0, 1, (2, 3, 4)


class Embeddings(nn.Embedding):
    """Embeds as OpenNMT-py's do: ``(batch, length, 1)`` ids."""

    def forward(self, ids):
        return super().forward(ids.squeeze(-1))


def make_model(cell="GRU", layers=1, dropout=0.0, seed=1):
    torch.manual_seed(seed)
    network = SegmentNetwork(cell, source=3, word=4, size=5, layers=layers, dropout=dropout)
    vocabulary, embeddings = nn.Linear(5, 2 + len(WORDS)), Embeddings(2 + len(WORDS), 4)
    for layer in (network, vocabulary, embeddings):
        layer.double()
    for parameter in vocabulary.parameters():
        nn.init.normal_(parameter)
    return SegmentLayers(network, vocabulary, embeddings, BEGIN, END)


def parameters(model):
    return [*model.network.parameters(), *model.vocabulary.parameters(), model.embeddings.weight]


def make_batch(elements, lengths, seed=1):
    """Return sentences of so many source elements and target words; padding holds numbers too."""
    generator = torch.Generator().manual_seed(seed)
    states = torch.randn(len(elements), max(elements), 3, generator=generator, dtype=torch.double)
    words = torch.randint(WORDS[0], WORDS[-1] + 1, (len(lengths), max(lengths)), generator=generator)
    return SentencePairs(states.requires_grad_(), torch.tensor(elements), words, torch.tensor(lengths))


def segment_score(model, state, words):
    """Score one segment with torch's own cells, one word after another."""
    network, total = model.network, 0.0
    states = [
        tuple(part.unsqueeze(0) for part in layer.chunk(len(layer) // network.size))
        for layer in network.start(state).tanh().view(network.layers, -1)
    ]
    for symbol, following in zip([BEGIN, *words], [*words, END], strict=True):
        output = model.embeddings(torch.tensor([[symbol]]))
        for number, cell in enumerate(network.cells):
            after = cell(output, states[number] if len(states[number]) == 2 else states[number][0])
            states[number] = after if isinstance(after, tuple) else (after,)
            output = states[number][0]
        total = total + model.vocabulary(output).log_softmax(1)[0, following]
    return total


def all_segments(longest):
    """Return every segment of up to so many words."""
    return [segment for size in range(longest + 1) for segment in itertools.product(WORDS, repeat=size)]


def segmentations(words, elements, longest):
    """Yield all ways to cut words into as many segments, empty ones among them."""
    for cuts in itertools.combinations_with_replacement(range(len(words) + 1), elements - 1):
        bounds = [0, *cuts, len(words)]
        segments = [tuple(words[begin:end]) for begin, end in itertools.pairwise(bounds)]
        if max(map(len, segments)) <= longest:
            yield segments


def by_enumeration(model, batch, longest):
    """Return the log probability of each sentence."""
    totals = []
    for states, count, words, length in zip(
        batch.states, batch.elements.tolist(), batch.words.tolist(), batch.lengths.tolist(), strict=True
    ):
        scores = [
            sum(map(segment_score, [model] * count, states, segments))
            for segments in segmentations(words[:length], count, longest)
        ]
        totals.append(torch.stack(scores).logsumexp(0))
    return torch.stack(totals)
