"""Source sentences from the files that the user named, layer by layer; what Stanza is to add to them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

from preorder.annotate.stanza_models import DEVICES, TAGSETS, TREES, StanzaOptions
from preorder.cli import options
from preorder.data import files
from preorder.data.errors import UsageError
from preorder.data.formats import parse_source, parse_tokens, read_annotated
from preorder.data.types import Sentence
from preorder.syntax.read import add_trees

STANZA = "stanza"


def add_layers(parser: argparse.ArgumentParser, default_tags: str = "none") -> None:
    """Add ``--src``, ``--annot`` and the options that name single layers."""
    options.add_source(parser)
    parser.add_argument(
        "--annot",
        metavar="F",
        help="annotated source in lader's format (words, POS tags and, if any, classes, tab-separated), "
        "instead of --src",
    )
    add_syntax(parser, default_tags)


def add_syntax(parser: argparse.ArgumentParser, default_tags: str) -> None:
    """Add ``--pos``, ``--trees`` and ``--lang``, and what Stanza needs."""
    parser.add_argument(
        "--pos",
        metavar=f"F|{STANZA}",
        help=f"one POS tag for each token of --src, or have Stanza tag it (default: {default_tags})",
    )
    parser.add_argument(
        "--trees",
        metavar=f"F|{'|'.join(TREES)}",
        help="syntax trees of the source, one bracketing a line or CoNLL-U (the file's first line tells); "
        "their tags are used where no others are given. Or have Stanza parse it, from the tags if given",
    )
    parser.add_argument("--lang", metavar="xx", help="language of the source, as Stanza calls it")
    group = parser.add_argument_group("Stanza")
    group.add_argument(
        "--stanza-dir",
        metavar="DIR",
        help="where its models lie: as stanza.download left them, or as DIR/xx/pos.pt, constituency.pt, "
        "depparse.pt and pretrain.pt (default: they are downloaded to where Stanza keeps them)",
    )
    group.add_argument(
        "--tagset",
        choices=TAGSETS,
        help="xpos: the tags of the language's treebank, Penn's for English (default); "
        "upos: those of Universal Dependencies",
    )
    group.add_argument(
        "--stanza-device",
        choices=DEVICES,
        default=StanzaOptions.device,
        help="where it runs (default: %(default)s)",
    )


def read_sentences(arguments: argparse.Namespace) -> Iterator[Sentence]:
    """Yield the source sentences with the layers that files give.

    Raises:
        UsageError: options that do not go together.
        DataError: bad input, with its file and line.
    """
    sentences = _annotated(arguments) if arguments.annot is not None else plain_sentences(arguments)
    return with_file_trees(sentences, arguments)


def plain_sentences(arguments: argparse.Namespace) -> Iterator[Sentence]:
    """Yield the sentences of ``--src``, with the tags of a file if ``--pos`` names one.

    Raises:
        DataError: bad input, with its file and line.
    """
    sentences = files.read_parsed(arguments.src, parse_source)
    if arguments.pos in (None, STANZA):
        return sentences
    tags = files.read_parsed(arguments.pos, parse_tokens)
    streams = (arguments.src, sentences), (arguments.pos, tags)
    return files.map_parallel(lambda sentence, line: replace(sentence, tags=line), arguments.pos, *streams)


def with_file_trees(sentences: Iterator[Sentence], arguments: argparse.Namespace) -> Iterator[Sentence]:
    """Yield the sentences with the trees of a file if ``--trees`` names one.

    Raises:
        DataError: bad input, with its file and line.
    """
    if arguments.trees is None or arguments.trees in TREES:
        return sentences
    return add_trees(source_name(arguments), sentences, arguments.trees)


def source_name(arguments: argparse.Namespace) -> str:
    """Return the path that the sentences come from."""
    annotated = getattr(arguments, "annot", None)
    return arguments.src if annotated is None else annotated


def _annotated(arguments: argparse.Namespace) -> Iterator[Sentence]:
    if arguments.src != files.STANDARD or arguments.pos is not None:
        raise UsageError("--annot holds words and POS tags: it does not go with --src or --pos")
    return read_annotated(arguments.annot)


def stanza_options(
    arguments: argparse.Namespace, trained: StanzaOptions | None = None, language: str | None = None
) -> StanzaOptions | None:
    """Return what Stanza is to add to the sentences of :func:`read_sentences`, or None.

    Args:
        arguments: the command line.
        trained: what it added to those that a model was trained on; what no option gives, it adds again.
        language: where ``--lang`` is not given.

    Raises:
        UsageError: no language is given; or the model's trees were made from tags, and none are given.
    """
    tagged = getattr(arguments, "annot", None) is not None or arguments.pos not in (None, STANZA)
    trees = arguments.trees if arguments.trees in TREES else None
    tags = arguments.pos == STANZA
    if trained is not None and arguments.trees is None:
        trees = trained.trees
        tags = tags or not (trained.tagged or tagged)
        if trees is not None and not (tags or tagged):
            raise UsageError("the model's trees are made from given POS tags (--pos), and none are given")
    if trees is None and not tags:
        return None
    language = arguments.lang or language
    if language is None:
        raise UsageError("--lang says which models Stanza needs")
    return StanzaOptions(
        language,
        trees,
        arguments.tagset or (trained or StanzaOptions).tagset,
        tagged,
        arguments.stanza_dir,
        arguments.stanza_device,
    )
