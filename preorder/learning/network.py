"""Networks in PyTorch, an optional dependency: its device and threads, their files, and how they learn.

They learn by Adam with a rate that rises and falls once, and their weights are averaged over time.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from llvmlite import binding

from preorder.data import Bitext
from preorder.errors import DataError, NotFiniteError, require, shown
from preorder.learning.checkpoint import Arrays, Checkpoint, add_prefix, checked, part_with
from preorder.learning.encode import UNKNOWN_ROW
from preorder.learning.loop import HeldOutLines, Trainable, TrainingStatistics, train
from preorder.learning.pairs import lines_of_iteration, pair_numbers

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "neural")

Network = TypeVar("Network", bound=torch.nn.Module)
Result = TypeVar("Result")

WARM_UP = 0.05  # share of all steps in which the learning rate rises
BETAS = (0.9, 0.98)
WEIGHT_DECAY = 0.01
MAX_NORM = 5.0  # of a minibatch's gradient; a longer one is shortened
AVERAGE_DECAY = 0.998  # share of the averaged weights that a step keeps
RARITY = 0.5  # a word seen c times is read as unknown with a probability of RARITY / (RARITY + c)


def device() -> torch.device:
    """Return the GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def multiplies_bfloat16(device: str) -> bool:
    """Return whether ``cpu`` or ``cuda`` multiplies matrices of bfloat16 faster than of float32, by a rule.

    Processors with AMX do, and AMD's with AVX512_BF16 (Zen 4); Intel's AVX512_BF16 alone takes twice as long.
    """
    if device == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    is_amd = binding.get_host_cpu_name().startswith("znver")
    return binding.get_host_cpu_features().get("avx512bf16" if is_amd else "amx-bf16", False)


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let each operation of PyTorch use one thread of the CPU, in a ``with`` block."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def equally_long(
    lengths: np.ndarray, size: Callable[[int], int], generator: np.random.Generator | None = None
) -> Iterator[np.ndarray]:
    """Yield sentences of two tokens or more in groups of one length, of ``size(length)``, long ones first."""
    for length in np.unique(lengths[lengths > 1])[::-1].tolist():
        sentences = np.flatnonzero(lengths == length)
        if generator is not None:
            generator.shuffle(sentences)
        yield from np.split(sentences, range(size(length), sentences.size, size(length)))


def weights_of(network: torch.nn.Module) -> Arrays:
    """Return a copy of the weights of a network, by their names."""
    return {name: value.cpu().numpy().copy() for name, value in network.state_dict().items()}


def network_of(make: Callable[[], Network], arrays: Arrays) -> Network:
    """Return the network that ``make`` builds, with weights; memory is taken once they are known to fit."""
    with torch.device("meta"):
        network = make()
    network.to_empty(device="cpu").load_state_dict(_tensors(network, arrays))
    return network


def set_weights(network: torch.nn.Module, arrays: Arrays) -> None:
    """Put weights into a network, by their names; other arrays are ignored."""
    network.load_state_dict(_tensors(network, arrays))


def _tensors(network: torch.nn.Module, arrays: Arrays) -> dict[str, torch.Tensor]:
    tensors = {}
    for name, value in network.state_dict().items():
        array = checked(arrays, name, np.float32, tuple(value.shape), "the model's network")
        tensors[name] = torch.from_numpy(array.copy())
    return tensors


def sizes_of(values: dict[str, Any], arrays: Arrays, *names: str) -> list[int]:
    """Return some sizes of a network from a model's state; none is more than the arrays can have."""
    most = max((len(arrays), *(size for array in arrays.values() for size in array.shape)))
    for name in names:
        if type(values.get(name)) is not int or not 0 < values[name] <= most:
            raise DataError(f"not a size of the model's network: {name} {shown(values.get(name))}")
    return [values[name] for name in names]


class NetworkLearner(Trainable, Generic[Network, Result]):
    """A network that learns, minibatch by minibatch, and ``average``, an exponential average of its weights.

    The same data and seed give the same weights on the same machine: each operation uses one thread. Rare
    words are read as unknown now and then (Kiperwasser and Goldberg 2016): the unknown word is learned, too.
    With word dropout this holds for all words.
    """

    def __init__(
        self,
        make: Callable[[], Network],
        words: np.ndarray,
        lengths: np.ndarray,
        options: Any,
        initial: Arrays | None = None,
        pairs: Sequence[int] = (),
    ) -> None:
        """Start from the initial weights, or else those that ``make`` draws by the seed.

        ``words`` are the rows of all training tokens in the words' embeddings; ``lengths`` the sentences';
        ``pairs`` their language pairs, as in a :class:`Bitext`.
        """
        with torch.random.fork_rng():
            torch.manual_seed(options.seed)
            network = make()
        if initial is not None:
            set_weights(network, initial)
        # Copied first: a copy made on a GPU has the weights of an LSTM in pieces.
        self.average = deepcopy(network).to(device()).eval().requires_grad_(False)
        self._network = network.to(device()).train()
        self._lengths, self._options = lengths, options
        self._pairs = pair_numbers(pairs, lengths.size)
        self._longer = np.flatnonzero(lengths > 1)  # sentences to learn from
        rarity = RARITY / (RARITY + np.bincount(words))
        hidden = rarity + options.word_dropout * (1 - rarity)
        self._hidden = torch.from_numpy(hidden.astype(np.float32)).to(device())
        self._optimizer = torch.optim.AdamW(
            network.parameters(), betas=BETAS, weight_decay=WEIGHT_DECAY, fused=True
        )

    def __len__(self) -> int:
        return self._longer.size

    @abstractmethod
    def _loss(self, minibatch: np.ndarray) -> tuple[torch.Tensor, Result]:
        """Return the loss of a minibatch, a scalar, and what the :meth:`_statistics` need of it."""

    @abstractmethod
    def _statistics(self, results: Sequence[Result]) -> TrainingStatistics:
        """Return the statistics of an iteration, the ``loss`` among them, from those of its minibatches."""

    def learn(self, iteration: int, advance: Callable[[int], Any]) -> TrainingStatistics:
        seed = np.random.SeedSequence((self._options.seed, iteration))
        generator, size, results = np.random.default_rng(seed), self._options.minibatch, []
        lines = self._longer[lines_of_iteration(self._pairs[self._longer], self._options.seed, iteration)]
        parts = equally_long(self._lengths[lines], lambda _: size, generator)
        minibatches = [lines[part] for part in parts]
        generator.shuffle(minibatches)
        with one_torch_thread(), torch.random.fork_rng():
            torch.manual_seed(int(seed.generate_state(1)[0]))
            for k, minibatch in enumerate(minibatches):
                steps = (iteration - 1) * len(minibatches) + k
                loss, result = self._loss(minibatch)
                self._step(loss, steps, len(minibatches) * self._options.iterations)
                results.append(result)
                advance(minibatch.size)
        statistics = self._statistics(results)
        weights = weights_of(self.average).values()
        if not np.isfinite(statistics["loss"]) or not all(np.isfinite(array).all() for array in weights):
            raise NotFiniteError("the weights")
        return statistics

    def train(self, held_out: Bitext, checkpoint: Checkpoint) -> dict[str, Any]:
        """Put the model of :func:`.loop.train` into ``average``; return its statistics and ``weights``."""
        weights, progress = train(self, self._options.iterations, HeldOutLines(held_out), checkpoint)
        set_weights(self.average, weights)  # a resumed training that had ended learns nothing here
        return {"weights": sum(array.size for array in weights.values()), **progress}

    def _hide(self, words: torch.Tensor) -> None:
        words.masked_fill_(torch.rand(words.shape, device=words.device) < self._hidden[words], UNKNOWN_ROW)

    def _step(self, loss: torch.Tensor, done: int, total: int) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = self._options.learning_rate * share_of_rate(done / total)
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), MAX_NORM)
        self._optimizer.step()
        share = max(1 - AVERAGE_DECAY, 9 / (10 + done))  # of this step; the first steps are soon forgotten
        averages, weights = (list(network.parameters()) for network in (self.average, self._network))
        torch.optim.swa_utils.get_ema_multi_avg_fn(1 - share)(averages, weights, None)

    def model(self) -> Arrays:
        return weights_of(self.average)

    def state(self) -> Arrays:
        arrays = add_prefix("average.", weights_of(self.average))
        arrays |= add_prefix("weights.", weights_of(self._network))
        for name, parameter in self._network.named_parameters():
            for kind, value in self._optimizer.state[parameter].items():
                arrays[f"{kind}.{name}"] = value.cpu().numpy().copy()
        return arrays

    def restore(self, arrays: Arrays) -> None:
        set_weights(self.average, part_with("average.", arrays))
        set_weights(self._network, part_with("weights.", arrays))
        for name, parameter in self._network.named_parameters():
            self._optimizer.state[parameter] = {
                kind: torch.from_numpy(arrays[f"{kind}.{name}"].copy()).to(parameter.device)
                for kind in ("step", "exp_avg", "exp_avg_sq")
            }


def drop(states: torch.Tensor, tokens: int, share: float) -> torch.Tensor:
    """Drop a share of the units of ``[token, batch, unit]``: with one token, the same of all in a sentence.

    torch's own dropout takes five times as long to draw.
    """
    if not share:
        return states
    kept = torch.rand((tokens, *states.shape[1:]), device=states.device) >= share
    return states * kept / (1 - share)


def share_of_rate(done: float) -> float:
    """Return the share of the greatest rate, a line up and a cosine down, after a share of all steps."""
    falling = 0.5 + 0.5 * math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP))
    return done / WARM_UP if done < WARM_UP else falling
