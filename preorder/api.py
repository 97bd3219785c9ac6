"""The Python API: train, load, apply and measure, on plain lists and strings.

A sentence is a string of tokens that spaces separate, or a list of tokens. An alignment is a string of links
``"0-0 1-2"`` (source-target, from 0), or a list of such pairs. A link may have a confidence, above 0 and at
most 1: ``"1-2:0.75"``, ``(1, 2, 0.75)``. A list of sentences may be an array, a column of a table or a
generator, too. The examples below share this model::

    >>> sources = ["I read books", "you like cats", "they write letters", "we eat apples"]
    >>> alignments = ["0-0 1-2 2-1"] * 4
    >>> model = preorder.train(sources, alignments)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from preorder import api_values as values
from preorder.alignment.gold import gold_permutation, target_groups
from preorder.alignment.links import DEFAULT_SYMMETRIZATION, SYMMETRIZATIONS
from preorder.annotate import tokenizers
from preorder.annotate.classes import DEFAULT_CLASSES, WordClasses
from preorder.api_values import Links, Tokens, each, filled
from preorder.data import BinaryTree, Bitext, Permutation, Sentence, formats, texts
from preorder.errors import UsageError, errors_in, shown
from preorder.io import storage
from preorder.io.files import parse_lines, read_json
from preorder.learning.options import (
    MAX_CLASSES,
    MAX_N_BEST,
    MAX_SEED,
    MAX_THREADS,
    check_choice,
    check_number,
    check_switch,
)
from preorder.methods import model_directory
from preorder.methods.ordering import LineOrderer, confident, orders
from preorder.methods.registry import check_able, check_trees, choose_method
from preorder.methods.train import TrainingPlan, train_model
from preorder.progress import counted

if TYPE_CHECKING:
    from preorder.analysis.gallery import DrawnPicture
    from preorder.metrics.confidence import OrderConfidence
    from preorder.metrics.orders import OrderEvaluation


class PreorderModel:
    """A trained preorderer. It can be pickled, so that the workers of any framework can have it.

    Its methods take sentences and, where the model was trained with them, their POS ``tags`` and their
    syntax ``trees`` (bracketings or ``nltk.Tree``) by name, and return one result a sentence. ``threads``
    work on each call.

    Example:
        >>> model
        <PreorderModel: btg, trained on 4 lines>
    """

    def __init__(self, model: model_directory.Model, threads: int = 1) -> None:
        self._model = model
        self.threads = check_number("threads", threads, 1, MAX_THREADS)

    def __repr__(self) -> str:
        lines = self.training.get("lines")
        trained = "" if lines is None else f", trained on {counted(lines, 'line')}"
        return f"<PreorderModel: {self._model.preorderer.method}{trained}>"

    def order(self, sources: Iterable[Tokens], **layers: Any) -> list[tuple[int, ...]]:
        """Return the orders: ``order[r]`` is the source index of the token at position r.

        Example:
            >>> model.order(["they like books"])
            [(0, 2, 1)]
        """
        return [permutation.order for _, permutation in self._found(sources, layers)]

    def positions(self, sources: Iterable[Tokens], **layers: Any) -> list[tuple[int, ...]]:
        """Return the positions: ``positions[i]`` is where source token i goes.

        Example:
            >>> model.positions(["they like books"])
            [(0, 2, 1)]
        """
        return [permutation.positions for _, permutation in self._found(sources, layers)]

    def text(self, sources: Iterable[Tokens], **layers: Any) -> list[str]:
        """Return the reordered sentences, their tokens separated by spaces.

        Example:
            >>> model.text(["they like books"])
            ['they books like']
        """
        return [" ".join(p.apply(s.words)) for s, p in self._found(sources, layers)]

    def features(self, sources: Iterable[Tokens], **layers: Any) -> list[str]:
        """Return lines of ``token￨position``, which ``onmt_train`` reads.

        Example:
            >>> model.features(["they like books"])
            ['they￨0 like￨2 books￨1']
        """
        return [formats.format_features(s.words, p) for s, p in self._found(sources, layers)]

    def n_best(
        self, sources: Iterable[Tokens], k: int, **layers: Any
    ) -> list[list[tuple[float, tuple[int, ...]]]]:
        """Return up to k different reorderings of each sentence, best first, as (score, positions).

        Raises:
            UsageError: k is not from 1 to 10,000.

        Example:
            >>> [positions for score, positions in model.n_best(["they like books"], 2)[0]]
            [(0, 2, 1), (0, 1, 2)]
        """
        k = check_number("k", k, 1, MAX_N_BEST)
        found = self._found(sources, layers, partial(self._model.preorderer.best_orders, k=k))
        return [[(score, permutation.positions) for score, permutation in best] for _, best in found]

    def confidences(self, sources: Iterable[Tokens], **layers: Any) -> list[OrderConfidence]:
        """Return how sure each reordering is: its ``expected_tau`` and that of its ``tokens``.

        ``expected_tau``, -1 to 1, is the Kendall's tau that the model expects of the order over all pairs of
        tokens; ``tokens`` has the same over the pairs of each source token.

        Raises:
            UsageError: the model's method is neither ``btg`` nor ``neural-btg``.

        Example:
            >>> (confidence,) = model.confidences(["they like books"])
            >>> 0 < confidence.expected_tau < 1, len(confidence.tokens)
            (True, 3)
        """
        preorderer = self._model.preorderer
        check_able("confidences", preorderer.method, "has_confidences")
        find = partial(confident, preorderer, preorderer.order)
        return [confidence for _, (_, confidence) in self._found(sources, layers, find)]

    def trees(self, sources: Iterable[Tokens], **layers: Any) -> list[BinaryTree]:
        """Return the BTG tree behind each reordering.

        Example:
            >>> model.trees(["they like books"])[0].nodes[1]
            Node(begin=1, split=2, end=3, inverted=True)
        """
        return [tree for _, tree in self._found(sources, layers, self._model.preorderer.trees)]

    def picture(
        self, source: Tokens, target: Tokens | None = None, alignment: Links | None = None, **layers: Any
    ) -> DrawnPicture:
        """Return a picture of a sentence: its tree and, with a target, its links before and after.

        It is drawn when it is saved or shown, which needs matplotlib.

        Raises:
            DataError: the parts do not fit together.

        Example:
            >>> picture = model.picture("they like books", "karera wa hon ga suki", "0-0 1-4 2-2")
            >>> picture.title
            '“they like books”, its tree and its links, before and after preordering'
        """
        from preorder.analysis.gallery import DrawnPicture
        from preorder.analysis.sentence_picture import sentence_title
        from preorder.analysis.sentence_view import SentenceView

        find = partial(confident, self._model.preorderer, self._model.preorderer.trees)
        given = {name: [layer] for name, layer in layers.items()}
        ((sentence, (tree, confidence)),) = self._found([source], given, find)
        translation = None if target is None else each(values.tokens_of, target=[target])[0]
        links = None if alignment is None else each(values.alignment_of, alignment=[alignment])[0]
        view = SentenceView(sentence.words, tree.permutation, tree, translation, links, confidence)
        return DrawnPicture(sentence_title(view), view)

    def save(self, directory: str) -> None:
        """Write a model directory, which ``preorder apply --model`` reads, whole or not at all.

        Raises:
            UsageError: the directory has no name.
            DataError: it holds other things than a model, or cannot be written.

        Example:
            >>> model.save("model")
        """
        model_directory.save_model(self._model, values.path_of("directory", directory))

    @property
    def training(self) -> Mapping[str, Any]:
        """Options and statistics of the training, as ``model.json`` has them.

        Example:
            >>> model.training["lines"]
            4
        """
        return self._model.training

    def _found(
        self,
        sources: Iterable[Tokens],
        layers: Mapping[str, Any],
        find: Callable[..., Any] | None = None,
    ) -> Iterable[tuple[Sentence, Any]]:
        """Return each sentence with what ``find`` makes of it: its order by default."""
        for name in layers:
            check_choice("layer", name, ("tags", "trees"))
        sentences = values.sentences_of(sources, **layers)
        find = partial(find or self._model.preorderer.order, threads=self.threads)
        return zip(sentences, orders(self._model, sentences, find), strict=True)


class LineModel:
    """A model directory as a function from a list of lines to a list of lines.

    It can be sent to any worker: it is pickled as the model's path and checksum, and a process loads the
    model once, at the first call. All machines have to see the directory under the same path.

    Example:
        >>> order = preorder.LineModel("en-verb-final", "text")
        >>> order(["i like the pen"])
        ['i the pen like']
    """

    def __init__(self, directory: str, format: str = "features", fields: int = 1) -> None:
        """Take a model directory, and how its lines are written and read.

        ``format``: features, positions, order, text or tree, as of ``preorder apply``. ``fields`` of a line,
        parted by tabs: 1, its words; 2, words and POS tags; 3, and word classes.

        Raises:
            DataError: there is no model.
            UsageError: there is no such format, or number of fields.
        """
        format = check_choice("format", format, formats.FORMATTERS)
        directory = model_directory.located(values.path_of("directory", directory))
        read_json(os.path.join(directory, model_directory.DESCRIPTION))
        self._key = storage.absolute(directory), model_directory.checksum(directory), format
        self._fields = check_number("fields", fields, 1, 3)

    def __call__(self, lines: Iterable[str]) -> list[str]:
        """Order each line, which may have its end.

        Raises:
            DataError: a line that is none, with its number, from 1; or the model cannot be read.
            UsageError: the model has changed, or reads a layer that the lines lack; or no list is given.

        Example:
            >>> preorder.LineModel("en-verb-final")(["i like the pen"])
            ['i￨0 like￨3 the￨1 pen￨2']
        """
        order, lines = _orderer(*self._key), each(values.line_of, lines=lines)
        parse: Callable[[str], Sentence] = partial(formats.parse_annotated, fields=self._fields)
        if self._fields == 1:
            if all("\t" in line.strip() for line in lines if line.strip()):  # else a tab is a space
                lines = list(texts.text_lines("lines", iter(lines)))
            parse = formats.parse_source
        text = "".join(f"{line}\n" for line in lines).encode()
        ordered, _ = order((text,), len(lines), self._fields, partial(parse_lines, "lines", lines, parse))
        return ordered.split("\n")[:-1]


@lru_cache(maxsize=8)
def _orderer(directory: str, expected: str, format: str) -> LineOrderer:
    """Return what a process has loaded."""
    model = model_directory.load_model(directory)
    if model_directory.checksum(directory) != expected:
        raise UsageError(f"{directory}: the model has changed since preorder.LineModel was made of it")
    return LineOrderer(model, format)


def load(directory: str, threads: int = 1) -> PreorderModel:
    """Read a model directory.

    Raises:
        DataError: it is missing, damaged, or of a version that we do not know.
        UsageError: there cannot be so many threads.

    Example:
        >>> preorder.load("en-verb-final").text(["i like the pen"])
        ['i the pen like']
    """
    return PreorderModel(model_directory.load_model(values.path_of("directory", directory)), threads)


def train(
    sources: Iterable[Tokens],
    alignments: Iterable[Links],
    method: str | None = None,
    *,
    tags: Iterable[Tokens] | None = None,
    trees: Iterable[Any] | None = None,
    classes: int | Mapping[str, str] | None = None,
    init: PreorderModel | None = None,
    pairs: Iterable[Hashable] | None = None,
    **options: Any,
) -> PreorderModel:
    """Learn to preorder from sentences and their word alignments, as ``preorder train --method`` does.

    Args:
        sources: the sentences.
        alignments: the links of each.
        method: its name; None: that of ``init``, or by the text, as ``preorder train`` chooses.
        tags: the POS tags of each.
        trees: a bracketing or ``nltk.Tree`` of each sentence, for the methods that need syntax trees.
        classes: how many word classes to learn (0: none), or the class of each word; None: 256, or those
            of ``init``.
        init: a model of the same method to begin from, as with ``preorder train --init``.
        pairs: the language pair of each sentence, by any name, where there are several: they weigh alike,
            however many sentences each has, as with ``preorder train --src A B``.
        options: as on the command line: ``limit``, ``max_length``, ``held_out``, ``seed``, ``threads``, …

    Raises:
        DataError: the lists differ in length, or a sentence does not fit its links, tags or tree.
        UsageError: an option or method that there is not, or nothing to learn from.

    Example:
        >>> preorder.train(sources, alignments, classes=0, iterations=2, seed=7)
        <PreorderModel: btg, trained on 4 lines>
    """
    if not isinstance(init, PreorderModel | None):
        raise UsageError(f"init: not a PreorderModel: {shown(init)}")
    initial = init and init._model
    if initial and classes is not None:
        raise UsageError("classes: with init the model's word classes are used")
    sentences = filled("sources", values.sentences_of(sources, tags, trees))
    if method is None:
        method = initial.preorderer.method if initial else choose_method(sentences, trees is not None)[0]
    plan = TrainingPlan.of(method, initial=initial, **options)
    check_trees(method, trees is not None)
    links = each(values.checked_alignment, sources=sentences, alignments=alignments)
    of_pairs = () if pairs is None else each(values.pair_of, sources=sentences, pairs=pairs)
    bitext = Bitext(sentences, links, values.numbers_of(of_pairs))
    return PreorderModel(train_model(plan, bitext, _classes(classes)), plan.options.threads)


def tokenize(lines: Iterable[str], language: str) -> list[str]:
    """Split plain text into tokens, as ``--tokenize`` does: the sentences that all functions here take.

    ``language``: its code, which chooses the tokenizer: SudachiPy (ja), Stanza (zh, th, …), sacremoses
    (others); a colon and a name choose another one: ``en:stanza``.

    Raises:
        MissingExtraError: the tokenizer is not installed.
        UsageError: it does not know the language.

    Example:
        >>> preorder.tokenize(["I'd like the pen."], "en")
        ["I 'd like the pen ."]
    """
    split = tokenizers.make_tokenizer(values.text_of(language))
    return [" ".join(split(line)) for line in each(values.line_of, lines=lines)]


def align(
    sources: Iterable[Tokens],
    targets: Iterable[Tokens],
    symmetrization: str = DEFAULT_SYMMETRIZATION,
    seed: int = 1,
) -> list[str]:
    """Align a bitext with eflomal (``pip install -e '.[align]'``); return the links of each pair.

    Raises:
        MissingExtraError: eflomal is not installed.
        DataError: there are not as many sources as targets.
        UsageError: there is no such symmetrization, or seed.

    Example:
        >>> links = preorder.align(["the cat", "a cat"], ["die Katze", "eine Katze"])
        >>> len(links)
        2
    """
    from preorder.alignment import eflomal

    check_choice("symmetrization", symmetrization, SYMMETRIZATIONS)
    seed = check_number("seed", seed, 0, MAX_SEED)
    words = filled("sources", [sentence.words for sentence in values.sentences_of(sources)])
    others = each(lambda _, target: values.tokens_of(target), sources=words, targets=targets)
    return list(map(formats.format_alignment, eflomal.align(words, others, symmetrization, seed)))


def evaluate(
    positions: Iterable[Iterable[int]], alignments: Iterable[Links], *, all_tokens: bool = False
) -> OrderEvaluation:
    """Measure reorderings against word alignments, as ``preorder evaluate`` does.

    ``positions[s][i]`` is where token i of sentence s goes. ``all_tokens`` measures every token against the
    gold order, not only those with links. The result has ``tau`` (-1 to 1), ``tau_nakagawa``, ``frs`` (fuzzy
    reordering score), ``complete_match`` (0 to 1), ``monotone``, the same of the unreordered source,
    ``sentences`` measured and ``skipped``.

    Raises:
        DataError: numbers that are no permutation, a link out of range, lists of different length.
        UsageError: ``all_tokens`` is neither True nor False.

    Example:
        >>> scores = preorder.evaluate([(0, 2, 1)], ["0-0 1-2 2-1"])
        >>> scores.tau, scores.monotone.complete_match
        (1.0, 0.0)
    """
    from preorder.metrics import orders

    check_switch("all_tokens", all_tokens)

    def groups(permutation: Permutation, links: Links) -> Sequence[int] | None:
        alignment = values.alignment_of(links)
        if all_tokens:
            return gold_permutation(alignment, len(permutation)).positions
        return target_groups(alignment, len(permutation))

    permutations = filled("positions", each(values.permutation_of, positions=positions))
    return orders.evaluate(each(groups, positions=permutations, alignments=alignments), permutations)


def ribes(hypotheses: Iterable[Tokens], *references: Iterable[Tokens]) -> float:
    """Return the RIBES (Isozaki et al. 2010) of tokenised translations, 0 to 1.

    References are one or more texts of as many sentences; of several the best counts.

    Raises:
        UsageError: no reference is given, or a text is one string.
        DataError: the texts differ in length.

    Example:
        >>> round(preorder.ribes(["a b c"], ["a c b"]), 3)
        0.667
    """
    from preorder.metrics.ribes import Ribes

    if not references:
        raise UsageError("ribes needs at least one reference")
    translations = filled("hypotheses", each(values.line_of_tokens, hypotheses=hypotheses))
    metric = Ribes([each(values.line_of_tokens, references=text) for text in references])
    return float(metric.score(metric.statistics(translations).sum(0)))


def _classes(classes: int | Mapping[str, str] | None) -> int | WordClasses:
    if isinstance(classes, Mapping):
        with errors_in("classes"):
            return WordClasses({values.text_of(word): values.text_of(name) for word, name in classes.items()})
    return check_number("classes", DEFAULT_CLASSES if classes is None else classes, 0, MAX_CLASSES)
