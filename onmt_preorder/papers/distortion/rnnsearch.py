"""The decoder of RNNsearch*, with or without jumps (Zhang et al. 2017, eq. 5 to 13).

It is ``encoder_type: bidirectional_gru`` with ``decoder_type: distortion_rnn``. The decoder also reads the
states of ``encoder_type: preorder_transformer``, a hybrid as of Chen et al. 2018, *The best of both worlds*.

An attention is kept padded with ``window`` zeros on either side: the source words from which attention can
jump to word j are then the ``2 window + 1`` entries from j on. Jumps from them have the distances ``window,
…, -window`` (positive is forward): that is the order of the probabilities here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

NONE, SOURCE, TARGET, HIDDEN = "none", "source", "target", "hidden"
PAPER_WINDOW, PAPER_LAMBDA = 3, 0.5  # Zhang et al. 2017, §4.3


@dataclass(frozen=True)
class DistortionConfig:
    """The decoder's sizes, and what its jumps depend on."""

    size: int
    source_size: int  # of the encoder's states
    dropout: float = 0.1
    distortion: str = NONE
    window: int = PAPER_WINDOW  # the longest jump, in source tokens
    weight: float = PAPER_LAMBDA  # of the jumps in the attention


@dataclass(frozen=True)
class SourceStates:
    """What every step knows of a batch of source sentences."""

    keys: Tensor  # U h_j + b of the attention, (batch, length, size)
    values: Tensor  # what is summed by attention: linear images of h_j, (batch, length, any), 0 after the end
    mask: Tensor  # (batch, length), 1 for a word and 0 after its sentence's end
    penalty: Tensor  # (batch, length), 0 for a word and -inf after its sentence's end

    @classmethod
    def of(cls, keys: Tensor, values: Tensor, lengths: Tensor) -> SourceStates:
        """Make the masks; ``lengths`` is ``(batch,)``, words in each sentence."""
        mask = torch.arange(keys.size(1), device=keys.device) < lengths.unsqueeze(1)
        penalty = keys.new_zeros(mask.shape).masked_fill(~mask, -torch.inf)
        return cls(keys, values, mask.to(keys.dtype), penalty)


class AdditiveAttention(nn.Module):
    """``α̂_j = softmax_j v · tanh(W s̃ + U h_j + b)``; s̃ and the layer between are of one size."""

    def __init__(self, size: int, source_size: int) -> None:
        super().__init__()
        self.query = nn.Linear(size, size, bias=False)
        self.keys = nn.Linear(source_size, size)
        self.score = nn.Linear(size, 1, bias=False)

    def forward(self, query: Tensor, source: SourceStates) -> Tensor:
        """Return α̂, ``(batch, length)``, for ``W s̃``, ``(batch, size)``.

        Cost: ``batch × length × size`` hyperbolic tangents, most of the time of a step.
        """
        layer = (source.keys + query.unsqueeze(1)).tanh()
        return (self.score(layer).squeeze(2) + source.penalty).softmax(-1)


def mix(content: Tensor, previous: Tensor, jumps: Tensor, weight: float, mask: Tensor) -> Tensor:
    """Return ``α_t = λ Σ_k P(k) Γ(α_{t-1}, k) + (1 - λ) α̂_t`` (eq. 7 and 8), ``(batch, length)``.

    ``content`` is α̂_t; ``previous`` α_{t-1}, padded; ``jumps`` P(k), ``(batch, 2 window + 1)``, distances
    ``window, …, -window``; ``weight`` λ; ``mask`` of :class:`SourceStates`. Attention that jumps out of the
    sentence is lost. Cost: ``batch × length × (2 window + 1)`` multiplications, in one product.
    """
    near = previous.unfold(1, jumps.size(1), 1)
    mixed = torch.baddbmm(content.unsqueeze(2), near, jumps.unsqueeze(2), beta=1 - weight, alpha=weight)
    return mixed.squeeze(2) * mask


class DistortionRNNDecoder(nn.Module):
    """A GRU f1, attention, a GRU f2, and the deep output layer of Bahdanau et al. 2015.

    Per target word: ``s̃_t = f1(s_{t-1}, y_{t-1})``, ``α̂_t`` from ``s̃_t``, ``α_t`` from it and the jumps,
    ``c_t = Σ_j α_{t,j} h_j``, ``s_t = f2(s̃_t, c_t)``. What goes to the generator is
    ``tanh(V [s_t; y_{t-1}; c_t])``, after dropout.

    Only what depends on the word before is computed word by word. Since ``c_t`` is a weighted sum of the
    ``h_j``, so is its product with f2's weights: each ``h_j`` is multiplied by them once.
    """

    attentional = True

    def __init__(self, config: DistortionConfig, embeddings: Any) -> None:
        super().__init__()
        self.context, self.window, self.weight = config.distortion, config.window, config.weight
        self.embeddings = embeddings
        size, source_size = config.size, config.source_size
        word_size = embeddings.embedding_size
        self.initial = nn.Linear(size, size)
        self.before = nn.GRUCell(word_size, size)
        self.attention = AdditiveAttention(size, source_size)
        self.after = nn.GRUCell(source_size, size)
        self.readout = nn.Linear(size + word_size + source_size, size)
        self.dropout = nn.Dropout(config.dropout)
        context_size = {NONE: None, SOURCE: source_size, TARGET: word_size, HIDDEN: size}[self.context]
        self.jumps = None if context_size is None else nn.Linear(context_size, 2 * self.window + 1)
        self.state: dict[str, Tensor] = {}

    def init_state(self, _: Tensor, states: Tensor, final: Tensor) -> None:
        """Begin a batch: ``s_0 = tanh(W h_1 + b)`` of ``final``, a GRU's backward state of the first word.

        α_0 is just before the first word: a jump by 1 leads to it. The first jump depends on ``c_0 = 0``,
        ``emb(<s>)``, or ``s̃_0 = s_0``. ``states`` is h, ``(batch, length, source_size)``; ``final`` is
        ``(batch, size)``.
        """
        hidden = self.initial(final).tanh()
        self.state = {"hidden": hidden}
        if self.jumps is None:
            return
        attention = hidden.new_zeros(len(hidden), states.size(1) + 2 * self.window)
        attention[:, self.window - 1] = 1
        self.state["attention"] = attention
        if self.context == SOURCE:
            self.state["logits"] = self.jumps.bias.expand(len(hidden), -1)
        elif self.context == HIDDEN:
            self.state["logits"] = self.jumps(hidden)

    def map_state(self, fn: Callable[[Tensor, int], Tensor]) -> None:
        """Select or repeat sentences: ``fn`` is applied to all that is kept between words."""
        self.state = {name: fn(tensor, 0) for name, tensor in self.state.items()}

    def detach_state(self) -> None:
        """Stop gradients from flowing into the words before."""
        self.state = {name: tensor.detach() for name, tensor in self.state.items()}

    def forward(
        self, tgt: Tensor, enc_out: Tensor, src_len: Tensor, step: int | None = None, **_: Any
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Decode a batch, all of its words or, given the index ``step`` from 0, the next one.

        ``tgt`` is ``(batch, words, 1)`` ids of the words before each; ``enc_out`` h, ``(batch, length,
        source_size)``. Return what the generator reads, ``(batch, words, size)``, and the attention,
        ``(batch, words, length)``, as ``std`` and as ``align``.
        """
        embedded = self.embeddings(tgt)
        hidden, attention = self._unroll(embedded, self._source(enc_out, src_len, step))[:2]
        read = self.readout(torch.cat((hidden, embedded, attention @ enc_out), -1))
        return self.dropout(read.tanh()), {"std": attention, "align": attention}

    def jump_probabilities(self, tgt: Tensor, enc_out: Tensor, src_len: Tensor) -> tuple[Tensor, Tensor]:
        """Return P(k), ``(batch, words, 2 window + 1)`` as in :func:`mix`, and attention."""
        _, attention, jumps = self._unroll(self.embeddings(tgt), self._source(enc_out, src_len, None))
        return torch.stack(jumps, 1), attention

    def update_dropout(self, dropout: float, *_: Any) -> None:
        """Change the dropout rate, as OpenNMT-py's ``dropout_steps`` ask."""
        self.dropout.p = dropout

    def _source(self, states: Tensor, lengths: Tensor, step: int | None) -> SourceStates:
        if step:
            return SourceStates.of(self.state["keys"], self.state["values"], lengths)
        weight, jumps = self.after.weight_ih, self._jumps_by(SOURCE)
        if jumps is not None:  # S-Distortion reads the context just as f2 does
            weight = torch.cat((weight, jumps.weight))
        keys, values = self.attention.keys(states), linear(states, weight)
        if step is not None:
            self.state |= {"keys": keys, "values": values}
        return SourceStates.of(keys, values, lengths)

    def _jumps_by(self, context: str) -> nn.Linear | None:
        """Return the layer of the jumps if they depend on a context, else None."""
        return self.jumps if self.context == context else None

    def _unroll(self, embedded: Tensor, source: SourceStates) -> tuple[Tensor, Tensor, list[Any]]:
        """Return s, ``(batch, words, size)``, α, ``(batch, words, length)``, and P(k) of all words."""
        inputs = linear(embedded, self.before.weight_ih, self.before.bias_ih).unbind(1)
        jumps = self._jumps_by(TARGET)
        logits = [None] * len(inputs) if jumps is None else jumps(embedded).unbind(1)
        joined = self._joined()
        hidden, steps = [], []
        for word in zip(inputs, logits, strict=True):
            steps.append(self._step(*word, source, joined))
            hidden.append(self.state["hidden"])
        attention, probabilities = zip(*steps, strict=True)
        return torch.stack(hidden, 1), torch.stack(attention, 1), list(probabilities)

    def _joined(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return weights and biases of everything that reads s̃_t, for one product, and the biases for c_t.

        f2's gates come first, then the attention's query (s̃_t only), then the logits of the next word's
        jumps if they depend on this vector.
        """
        zeros = torch.zeros_like(self.after.bias_hh[: self.after.hidden_size])
        of_between = [(self.after.weight_hh, self.after.bias_hh), (self.attention.query.weight, zeros)]
        of_context: list[Tensor] = [self.after.bias_ih]
        if (jumps := self._jumps_by(HIDDEN)) is not None:
            of_between.append((jumps.weight, jumps.bias))
        if (jumps := self._jumps_by(SOURCE)) is not None:
            of_context.append(jumps.bias)
        weights, biases = zip(*of_between, strict=True)
        return torch.cat(weights), torch.cat(biases), torch.cat(of_context)

    def _step(
        self,
        inputs: Tensor,
        logits: Tensor | None,
        source: SourceStates,
        joined: tuple[Tensor, Tensor, Tensor],
    ) -> tuple[Tensor, Tensor | None]:
        """Decode one word; return its attention, ``(batch, length)``, and P(k), ``(batch, 2 window + 1)``.

        ``inputs`` is f1's product with the word before, ``(batch, 3 size)``; ``logits`` those of the jumps
        where they depend on that word, ``(batch, 2 window + 1)``.
        """
        hidden = self.state["hidden"]
        recurrent = linear(hidden, self.before.weight_hh, self.before.bias_hh)
        between = gru(inputs, recurrent, hidden)
        weight, bias, context_bias = joined
        size = self.after.hidden_size
        recurrent, query, of_between = linear(between, weight, bias).tensor_split((3 * size, 4 * size), -1)
        attention, jumps = self.attention(query, source), None
        if self.jumps is not None:
            jumps = (self.state["logits"] if logits is None else logits).softmax(-1)
            attention = mix(attention, self.state["attention"], jumps, self.weight, source.mask)
            self.state["attention"] = pad(attention, (self.window, self.window))
        read = torch.baddbmm(context_bias, attention.unsqueeze(1), source.values).squeeze(1)
        context, of_context = read.tensor_split((3 * size,), -1)
        self.state["hidden"] = gru(context, recurrent, between)
        if self.context in (SOURCE, HIDDEN):
            self.state["logits"] = of_context if self.context == SOURCE else of_between
        return attention, jumps


def gru(inputs: Tensor, recurrent: Tensor, hidden: Tensor) -> Tensor:
    """Return a GRU's next state, as :class:`torch.nn.GRUCell`, of ``W_i x + b_i``, ``W_h h + b_h`` and h."""
    size = hidden.size(-1)
    gates = (inputs[:, : 2 * size] + recurrent[:, : 2 * size]).sigmoid()
    reset, update = gates.chunk(2, -1)
    candidate = (inputs[:, 2 * size :] + reset * recurrent[:, 2 * size :]).tanh()
    return candidate + update * (hidden - candidate)


# --- first values, and the start from a trained RNNsearch* (§4.3) ---


def initialise(model: nn.Module, deviation: float) -> None:
    """Make square matrices orthogonal, draw others from N(0, deviation²); biases are 0, weights of norms 1.

    A GRU's three gates count as three matrices. The paper's deviation of .01 suits its sizes: with states
    a tenth as large the signal is lost, and little is learnt.
    """
    with torch.no_grad():
        for module in model.modules():
            gates = 3 if isinstance(module, nn.GRU | nn.GRUCell) else 1
            for name, parameter in module.named_parameters(recurse=False):
                if parameter.dim() == 1:
                    parameter.fill_(0 if "bias" in name else 1)
                    continue
                for matrix in parameter.chunk(gates):
                    if matrix.size(0) == matrix.size(1):
                        nn.init.orthogonal_(matrix)
                    else:
                        nn.init.normal_(matrix, std=deviation)


def add_jumps(parameters: dict[str, Tensor], distortion: str, window: int, deviation: float) -> None:
    """Add the parameters of jumps to a whole RNNsearch*'s, by name, with the values of :func:`initialise`."""
    # A weight that reads what the jumps will depend on.
    reader = {SOURCE: "after.weight_ih", TARGET: "before.weight_ih", HIDDEN: "before.weight_hh"}
    size = parameters[f"decoder.{reader[distortion]}"].size(1)
    jumps = nn.Linear(size, 2 * window + 1)
    initialise(jumps, deviation)
    parameters |= {f"decoder.jumps.{name}": tensor for name, tensor in jumps.state_dict().items()}
