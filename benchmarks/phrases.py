"""Neural phrase-based translation: what the sum over segmentations costs, and how fast phrases are decoded.

    python -m benchmarks.phrases memory --length 50 --size 512 --batch 2
    python -m benchmarks.phrases training --model npmt.pt
    python -m benchmarks.phrases decoding --model npmt.pt --attention attention.pt --source test.de

memory: the peak of resident memory that the loss and its gradient add, for random sentences of a length.
training: forward and backward pass of the loss on the model's own training text, exactly and with what is
unlikely left out, and how far the gradient is then from the exact one.
decoding: source words a second of greedy search and of the beam, beside the beam of a model with attention,
turn by turn on the same batches, one thread, without reading and writing.
"""

from __future__ import annotations

import argparse
import io
import resource
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from statistics import median
from typing import Any

import torch
from onmt.constants import CorpusTask
from onmt.inputters.dynamic_iterator import build_dynamic_dataset_iter
from onmt.inputters.inputter import dict_to_vocabs
from onmt.model_builder import build_base_model
from onmt.transforms import get_transforms_cls
from onmt.translate.translator import build_translator
from torch import Tensor, nn

from benchmarks.process import RSS_UNIT
from onmt_preorder.opennmt.line_translator import translation_options
from onmt_preorder.papers.npmt.likelihood import log_likelihood
from onmt_preorder.papers.npmt.network import SegmentNetwork
from onmt_preorder.papers.npmt.scorer import SegmentLayers, SentencePairs, WorkLimits
from preorder.cli.table import print_table

BOUNDS = ((0.0, 0.0), (1e-4, 0.0), (1e-3, 0.0), (1e-3, 1e-4), (1e-3, 1e-3))
BEAMS = (  # name, beam_size, swan_choices where it has an effect
    ("greedy", 1, None),
    ("beam 5, 4 choices", 5, 4),
    ("beam 10, 2 choices", 10, 2),
    ("beam 10, 4 choices", 10, 4),
    ("beam 10, 10 choices", 10, 10),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    add = commands.add_parser("memory").add_argument
    for name, default in (("length", 50), ("batch", 2), ("size", 512), ("vocabulary", 22823), ("longest", 6)):
        add(f"--{name}", type=int, default=default, help="default: %(default)s")
    add("--logits", type=int, default=WorkLimits.logits, help="default: %(default)s")
    commands.choices["memory"].set_defaults(measure=memory)
    add = commands.add_parser("training").add_argument
    add("--model", required=True)
    add("--batches", type=int, default=3, help="default: %(default)s")
    commands.choices["training"].set_defaults(measure=training)
    add = commands.add_parser("decoding").add_argument
    for name in ("model", "attention", "source"):
        add(f"--{name}", required=True)
    add("--turns", type=int, default=3, help="default: %(default)s")
    add("--batch", type=int, default=64, help="sentences (default: %(default)s)")
    commands.choices["decoding"].set_defaults(measure=decoding)
    arguments = parser.parse_args(argv)
    torch.set_num_threads(1)
    arguments.measure(arguments)


class _Embeddings(nn.Embedding):
    def forward(self, ids: Tensor) -> Tensor:
        return super().forward(ids.squeeze(-1))


def memory(arguments: Namespace) -> None:
    """Print the peak that loss and gradient add, in MiB."""
    size, words, length = arguments.size, arguments.vocabulary, arguments.length
    torch.manual_seed(1)
    network = SegmentNetwork("GRU", size, size, size, layers=2, dropout=0.5)
    model = SegmentLayers(network, nn.Linear(size, words), _Embeddings(words, size), 2, 3)
    states = torch.randn(arguments.batch, length, size, requires_grad=True)
    lengths = torch.full((arguments.batch,), length)
    batch = SentencePairs(states, lengths, torch.randint(4, words, (arguments.batch, length)), lengths)
    for layer in (network, model.vocabulary, model.embeddings):
        for parameter in layer.parameters():
            parameter.grad = torch.zeros_like(parameter)
    before = _peak()
    log_likelihood(model, batch, WorkLimits(arguments.longest, arguments.logits)).sum().backward()
    print(
        f"{(_peak() - before) / 2**20:.0f} MiB beside {before / 2**20:.0f} MiB of model, gradient and batch"
    )


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT


def training(arguments: Namespace) -> None:
    """Print times, probability and gradient under different bounds."""
    checkpoint = torch.load(arguments.model, map_location="cpu", weights_only=True)
    opt, vocabs = checkpoint["opt"], dict_to_vocabs(checkpoint["vocab"])
    model = build_base_model(opt, vocabs)
    model.load_state_dict(checkpoint)
    model.train()
    transforms = get_transforms_cls(opt._all_transform)
    opt.num_workers = 0
    iterator = build_dynamic_dataset_iter(opt, transforms, vocabs, task=CorpusTask.TRAIN)
    batches = [batch for batch, _ in islice(iterator, arguments.batches)]
    layers = model.decoder.segment_layers(model.generator, vocabs["tgt"])
    steps = {bounds: [_step(model, layers, batch, bounds, vocabs) for batch in batches] for bounds in BOUNDS}
    words = sum(int(batch["tgtlen"].sum()) for batch in batches)
    rows = []
    for bounds, mine in steps.items():
        forward, backward, totals, gradients = zip(*mine, strict=True)
        _, _, exact, exact_gradients = zip(*steps[BOUNDS[0]], strict=True)
        errors = [(g - e).norm() / e.norm() for g, e in zip(gradients, exact_gradients, strict=True)]
        times = (f"{sum(part) / len(batches):.2f} s" for part in (forward, backward))
        lost = (sum(exact) - sum(totals)) / words
        rows.append((*map(str, bounds), *times, f"{lost:.4f}", f"{sum(errors) / len(errors):.4f}"))
    header = ("negligible", "unpromising", "forward", "backward", "nats lost a word", "error of the gradient")
    print_table(f"a batch of {opt.batch_size} sentences", header, rows)


def _step(
    model: Any, layers: SegmentLayers, batch: dict[str, Any], bounds: tuple[float, float], vocabs: Any
) -> tuple[float, float, float, Tensor]:
    torch.manual_seed(1)
    model.zero_grad()
    states = model.encoder(batch["src"], batch["srclen"])[0]
    pairs = SentencePairs.of_batch(batch, states, vocabs["tgt"]["<blank>"])
    limits = replace(model.decoder.limits, negligible=bounds[0], unpromising=bounds[1])
    begin = time.process_time()
    total = log_likelihood(layers, pairs, limits)
    total = torch.where(total.isfinite(), total, 0).sum()
    middle = time.process_time()
    total.backward()
    end = time.process_time()
    gradients = [parameter.grad.flatten() for parameter in model.parameters() if parameter.grad is not None]
    return middle - begin, end - middle, total.item(), torch.cat(gradients)


def decoding(arguments: Namespace) -> None:
    """Print words a second."""
    searches: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {}
    for name, beam in (("attention, beam 5", 5), ("attention, beam 10", 10)):
        searches[name] = _search(arguments.attention, beam, arguments)
    for name, beam, choices in BEAMS:
        searches[f"phrases, {name}"] = _search(arguments.model, beam, arguments, choices)
    speeds: dict[str, list[float]] = {name: [] for name in searches}
    for turn in range(arguments.turns + 1):
        for name, (search, batches) in searches.items():
            begin = time.process_time()
            for batch in batches:
                search(batch)
            words = sum(int(batch["srclen"].sum()) for batch in batches)
            if turn:
                speeds[name].append(words / (time.process_time() - begin))
    baseline = speeds["attention, beam 5"]
    rows = []
    for name, mine in speeds.items():
        ratio = median(one / other for one, other in zip(mine, baseline, strict=True))
        rows.append((name, f"{median(mine):.0f}", f"{ratio:.2f}"))
    print_table("decoding on one thread", ("", "source words a second", "to the first"), rows)


def _search(
    path: str, beam: int, arguments: Namespace, choices: int | None = None
) -> tuple[Callable[[Any], Any], list[Any]]:
    """Return what translates a batch, and the batches."""
    given = ["-model", path, "-src", arguments.source, "-beam_size", str(beam), "-output", "/dev/null"]
    given += ["-batch_size", str(arguments.batch)]
    given += [] if choices is None else ["-swan_choices", str(choices)]
    opt = translation_options(given)
    translator = build_translator(opt, report_score=False, out_file=io.StringIO())  # not pred.txt
    transforms = get_transforms_cls(opt._all_transform)
    iterator = build_dynamic_dataset_iter(opt, transforms, translator.vocabs, task=CorpusTask.INFER)
    return lambda batch: translator.translate_batch(batch, False), [batch for batch, _ in iterator]


if __name__ == "__main__":
    main()
