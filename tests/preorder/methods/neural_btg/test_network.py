"""What the network gives, pair by pair."""

import pytest
import torch

from preorder.btg.grammar import LABELS
from preorder.btg.scores import PARTS
from preorder.methods.neural_btg.network import Scorer


@pytest.mark.parametrize("n", [2, 5])
def test_parts_of_spans_that_end_after_their_begin(n):
    """A pair of boundaries scores what the layers give for it by itself; all else is zero."""
    torch.manual_seed(1)
    scorer = Scorer({"words": 9}, 4, 1).double().eval()
    tokens = torch.randint(9, (1, 3, n))
    parts = scorer(tokens)
    assert parts.shape == (3, PARTS, LABELS, n + 1, n + 1)
    states, _ = scorer.encoder(scorer.embeddings[0](tokens[0].T))
    for sentence in range(3):
        for b in range(n + 1):
            for e in range(n + 1):
                expected = torch.zeros(PARTS, LABELS).double()
                if b < e:
                    begin, end = (_boundary(states[:, sentence], at) for at in (b, e))
                    hidden = torch.relu(scorer.begin(begin) + scorer.end(end)).view(PARTS, 1, -1)
                    expected = (hidden @ scorer.weight)[:, 0]
                torch.testing.assert_close(parts[sentence, :, :, b, e], expected)


def _boundary(states, at):
    """Return the forward LSTM's state of the token before, and the backward one's of the token after."""
    zeros = torch.zeros(states.shape[1] // 2).double()
    before = states[at - 1].chunk(2)[0] if at > 0 else zeros
    after = states[at].chunk(2)[1] if at < len(states) else zeros
    return torch.cat((before, after))
