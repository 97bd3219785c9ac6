"""Source sentences with their layers of annotation: from files, from Stanza, or learned."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import glob
from typing import TYPE_CHECKING, Any

from preorder.annotate.classes import WordClasses
from preorder.annotate.options import (
    DEVICES,
    FOLDER_VARIABLE,
    LANGUAGE,
    STANZA,
    TREES,
    AnnotatorOptions,
    Device,
    remembered_folder,
)
from preorder.annotate.tokenizers import TOKENIZERS, check_language, tokenised
from preorder.command_line import flag, options
from preorder.data.formats import parse_source, parse_tokens, read_alignments, read_annotated
from preorder.data.sentence import Alignment, Sentence
from preorder.data.texts import checked_tags, read_tokens, token_lines
from preorder.errors import UsageError
from preorder.io import files, storage
from preorder.progress import LOGGER
from preorder.syntax.read import TAGSETS, Tagset, TreeFile, add_trees, known_tagset

if TYPE_CHECKING:
    from preorder.methods.model_directory import Model

KNOWN_LAYERS = ("tags", "classes", "constituency", "dependency")  # beside the words, of a Sentence
TAGS_OF_MODEL = f"the tags in --trees; {STANZA}, also for --trees, if the model was trained so"

SYNTAX = ("pos", "trees", "strict", "lang", "stanza_dir", "tagset", "stanza_device")
"""Options of :func:`add_syntax_options`."""


@dataclass(frozen=True)
class Source:
    """A text and its layers on the command line; fields are named as the options."""

    src: str = files.STANDARD
    annot: str | None = None
    pos: str | None = None
    trees: str | None = None
    strict: bool = False
    lang: str | None = None
    stanza_dir: str | None = None
    tagset: Tagset | None = None
    stanza_device: Device = AnnotatorOptions.device
    tokenize: str | None = None  # language of plain text; None: it is tokenised

    def __post_init__(self) -> None:
        if self.annot is not None and (self.src != files.STANDARD or self.pos is not None):
            raise UsageError("--annot holds words and POS tags: it does not go with --src or --pos")
        if self.annot is not None and self.tokenize is not None:
            raise UsageError("--annot holds words: --tokenize is for plain text")

    @property
    def name(self) -> str:
        """The path of the words."""
        return self.src if self.annot is None else self.annot


def add_layer_options(
    parser: argparse.ArgumentParser, default_tags: str = "none", nargs: str | None = None
) -> None:
    """Add ``--src`` or ``--annot``, and the options of tags and trees; with ``nargs`` files are lists."""
    options.add_source(parser, nargs=nargs)
    text = "instead of --src: annotated source in lader's format, which is words, POS tags and possibly "
    options.add_files(parser, nargs=nargs, annot=text + "word classes, separated by tabs")
    add_syntax_options(parser, default_tags, nargs)


def add_syntax_options(parser: argparse.ArgumentParser, default_tags: str, nargs: str | None = None) -> None:
    """Add ``--pos``, ``--trees`` and ``--lang``, and the options of Stanza."""
    text = f"file with a POS tag for each token of --src, or {STANZA}: Stanza tags the source"
    options.add_files(parser, f"F|{STANZA}", nargs, pos=f"{text} (default: {default_tags})")
    text = "file with a syntax tree for each sentence, as bracketings or CoNLL-U, with its tags if no others "
    text += f"are given; or {', '.join(TREES)}: Stanza parses the source, with given tags if there are some"
    options.add_files(parser, f"F|{'|'.join(TREES)}", nargs, trees=text)
    text = "refuse a file of --trees in which a tree is broken or missing (default: warn how many are)"
    options.add_flags(parser, strict=text)
    text = "language of the source, as Stanza abbreviates it: en, ja, zh-hans"
    parser.add_argument("--lang", metavar="xx", type=_language, help=text)
    group = parser.add_argument_group("Stanza")
    text = "folder of its models, as of stanza.download, or with pos.pt, constituency.pt, depparse.pt and "
    text += f"pretrain.pt in DIR/xx (default: that of a model's training, {FOLDER_VARIABLE}, or Stanza's own "
    text += "folder; to the last two, missing models are downloaded)"
    options.add_files(group, "DIR", stanza_dir=text)
    text = "tags from Stanza and CoNLL-U. xpos: of the language's treebank, for English the Penn Treebank; "
    text += "upos: of Universal Dependencies (default: the model's; else those that the file's first line "
    text += "names, or of which the model knows more; else xpos from Stanza, upos from CoNLL-U)"
    group.add_argument("--tagset", choices=TAGSETS, help=text)
    options.add_choice(group, "--stanza-device", DEVICES, AnnotatorOptions.device, "device that it runs on")


def add_tokenize(parser: argparse.ArgumentParser, what: str = "--src is") -> None:
    """Add ``--tokenize`` of a command that reads one text."""
    text = f"{what} plain text of this language: split it by SudachiPy (ja), Stanza (zh, th, …), sacremoses "
    text += f"(others); en:stanza chooses one of {', '.join(TOKENIZERS)}"
    parser.add_argument("--tokenize", metavar="xx", type=_tokenizer, help=text)


def _tokenizer(text: str) -> str:
    try:
        return check_language(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _language(text: str) -> str:
    if not LANGUAGE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"not the code of a language: {text!r}")
    return text


def read_sentences(source: Source, trees: TreeFile | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a source with the layers that its files hold."""
    if source.annot is None:
        sentences = parsed_sentences(source, [*map(files.read_lines, plain_files(source))])
    else:
        sentences = read_annotated(source.annot)
    trees = trees or tree_file(source)
    return sentences if trees is None else add_trees(source.name, sentences, trees)


def tree_file(source: Source) -> TreeFile | None:
    """Open the file of ``--trees``, if that names one."""
    if source.trees is None or source.trees in TREES:
        return None
    return TreeFile(source.trees, source.tagset, source.strict)


def plain_files(source: Source) -> list[str]:
    """Return the file of words or of annotated text, and the file of tags, if there is one."""
    return [source.name, *([] if source.pos in (None, STANZA) else [source.pos])]


def parsed_sentences(source: Source, columns: Sequence[Iterable[str]], first: int = 1) -> Iterator[Sentence]:
    """Parse lines of ``--src`` and, if given, of ``--pos``; the first line has the number ``first``."""
    lines, *others = columns
    if source.tokenize is not None:
        lines = tokenised(source.src, source.tokenize, lines)
    elif first == 1:
        lines = token_lines(source.src, iter(lines))
    sentences = files.parse_lines(source.src, lines, parse_source, first)
    if source.pos is None or not others:
        return sentences
    streams = (
        (source.src, sentences),
        (source.pos, files.parse_lines(source.pos, others[0], parse_tokens, first)),
    )
    tagged = files.map_parallel(
        lambda sentence, tags: replace(sentence, tags=tags), source.pos, *streams, first=first
    )
    return checked_tags(source.pos, tagged) if first == 1 else tagged


@dataclass(frozen=True)
class Pair:
    """A language pair on the command line."""

    source: Source
    target: str | None  # file of translations; at least one of target and alignment is given
    alignment: str | None
    tokenize: str | None = None  # language of translations in plain text; None: they are tokenised

    def read_target(self) -> Iterator[tuple[str, ...]]:
        """Yield the tokens of each translation."""
        if self.target is None:
            return iter(())
        if self.tokenize is None:
            return read_tokens(self.target, parse_tokens)
        lines = tokenised(self.target, self.tokenize, files.read_lines(self.target))
        return map(parse_tokens, lines)


PAIR = ("src", "annot", "pos", "trees", "tgt", "align")
"""Options that name a file of each language pair."""


def given_pairs(common: Source, given: Mapping[str, Sequence[str] | None]) -> list[Pair]:
    """Return the language pairs of ``--src A B --align C D``; each option of :data:`PAIR` has a file a pair.

    ``--pos stanza`` and the like are given once, for all pairs.
    """
    texts = "src" if given["annot"] is None else "annot"
    count = len(given[texts] or ())

    def of_pairs(name: str) -> Sequence[str | None]:
        values = given[name] or ()
        for_all = (files.STANDARD, STANZA, *TREES)  # not files, and the text that --annot replaces
        if not values or (len(values) == 1 and values[0] in for_all):
            return [*values] * count if values else [None] * count
        if len(values) != count or {STANZA, *TREES} & {*values}:
            each = f"{flag(texts)} names {count} texts, {flag(name)} {' '.join(values)}"
            raise UsageError(f"{each}: give a file of each pair")
        return values

    *layers, targets, alignments = map(of_pairs, PAIR)
    names = (dict(zip(PAIR, one, strict=False)) for one in zip(*layers, strict=True))
    sources = (replace(common, **one) for one in names)
    return list(map(Pair, sources, targets, alignments))


def read_all_pairs(
    pairs: Sequence[Pair], tagset: Tagset | None
) -> tuple[list[Sentence], list[Any], list[int], Tagset | None]:
    """Read each pair as :func:`read_pair` does; all must have the same layers.

    Returns all sentences, all alignments or translations, the number of lines of each pair, and the tagset of
    CoNLL-U trees: the given one, or that of the first file.
    """
    sentences: list[Sentence] = []
    others: list[Any] = []
    sizes: list[int] = []
    layers: list[tuple[str, ...]] = []
    for pair in pairs:
        pair = replace(pair, source=replace(pair.source, tagset=tagset))
        trees = tree_file(pair.source)
        tagset = (trees and trees.tagset) or tagset
        lines, given = read_pair(pair, trees)
        first = next(filter(len, lines), lines[0])
        layers.append(tuple(name for name in KNOWN_LAYERS if getattr(first, name) is not None))
        if layers[-1] != layers[0]:
            has, should = (" and ".join(names) or "none" for names in (layers[-1], layers[0]))
            raise UsageError(f"{pair.source.name}: has {has} where {pairs[0].source.name} has {should}")
        sentences += lines
        others += given
        sizes.append(len(lines))
    return sentences, others, sizes, tagset


def read_pair(pair: Pair, trees: TreeFile | None = None, keeps_targets: bool = False) -> list[list[Any]]:
    """Read sentences, and alignments that fit both sides; without alignments, the words of translations.

    ``keeps_targets``: translations that stand beside alignments are a third list.
    """

    def checked(sentence: Sentence, alignment: Alignment, *target: Any) -> tuple[Any, ...]:
        alignment.check_within(len(sentence), *map(len, target))
        return sentence.interned(), alignment, *(target if keeps_targets else ())

    named = pair.source.name, read_sentences(pair.source, trees)
    targets = [] if pair.target is None else [(pair.target, pair.read_target())]
    found: Iterator[tuple[Any, ...]]
    if pair.alignment is not None:
        alignments = (pair.alignment, read_alignments(pair.alignment))
        found = files.map_parallel(checked, pair.alignment, named, alignments, *targets)
    else:
        lines = files.in_parallel(named, *targets)
        found = ((sentence.interned(), tuple(map(sys.intern, target))) for sentence, target in lines)
    return list(map(list, zip(*files.not_empty(pair.source.name, found), strict=True)))


def stanza_options(
    source: Source, trained: AnnotatorOptions | None = None, language: str | None = None
) -> AnnotatorOptions | None:
    """Return which layers Stanza adds to the sentences of :func:`read_sentences`; None: none.

    A model needs the layers that it was ``trained`` with, unless the command line gives them. ``language`` is
    the default of ``--lang``.
    """
    tagged = source.annot is not None or source.pos not in (None, STANZA)
    trees = next((kind for kind in TREES if kind == source.trees), None)
    tags = source.pos == STANZA
    if trained is not None and source.trees is None:
        trees = trained.trees
        tags = tags or not (trained.tagged or tagged)
        if trees is not None and not (tags or tagged):
            raise UsageError("the model's trees are made from given POS tags (--pos), and none are given")
    if trees is None and not tags:
        for name in ("stanza_dir", "stanza_device"):
            if getattr(source, name) != getattr(Source, name):
                raise UsageError(f"{flag(name)} has no effect: files hold all tags and trees that are used")
        return None
    language = source.lang or language
    if language is None:
        raise UsageError("give --lang, such as en or zh-hans: it says which models Stanza needs")
    tagset = source.tagset or (trained or AnnotatorOptions).tagset
    folder = remembered_folder(trained, source.stanza_dir)
    return AnnotatorOptions(language, trees, tagset, tagged, folder, source.stanza_device)


def for_model(source: Source, model: Model | None) -> tuple[Source, AnnotatorOptions | None]:
    """Return a source with its tagset, that of the model by default, and which layers Stanza adds to it.

    Warn of layers that the model does not use.
    """
    if model is None:
        return source, stanza_options(source)
    if source.lang and model.language and source.lang != model.language:
        raise UsageError(f"--lang {source.lang}: the model was trained on {model.language}")
    source = replace(source, tagset=source.tagset or model.tagset or _known_tagset(source, model))
    stanza = stanza_options(source, model.stanza, model.language)
    trees = {"constituency", "dependency"}
    uses = {"pos": {"tags"}, "trees": trees if source.pos else trees | {"tags"}}
    for name, used in uses.items():
        value = getattr(source, name)
        is_parsed_from = name == "pos" and value != STANZA and stanza is not None
        if value is not None and not used & model.preorderer.layers and not is_parsed_from:
            LOGGER.warning(f"--{name} is not used: the model was trained without it")
    return source, stanza if (trees | {"tags"}) & model.preorderer.layers else None


def _known_tagset(source: Source, model: Model) -> Tagset | None:
    if source.trees is None or source.trees in TREES or "tags" not in model.preorderer.layers:
        return None
    first, *_ = [*sorted(glob(source.trees)), source.trees]  # of shards
    return known_tagset(first, model.preorderer.knows_tag) if os.path.isfile(first) else None


def given_classes(classes: str) -> int | WordClasses:
    """Return the value of ``--classes``: the number of classes to learn, or the classes of a file."""
    if classes.isdecimal():
        return int(classes)
    if not storage.exists(classes):
        raise UsageError(f"--classes {classes}: neither a number nor a file")
    return WordClasses.read(classes)
