"""``preorder diagnose``: is word order the problem, and what could an order be worth?"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from preorder.alignment.eflomal import align
from preorder.alignment.links import DEFAULT_SYMMETRIZATION
from preorder.annotate.classes import learn_classes
from preorder.annotate.tokenizers import languages_of, make_tokenizer
from preorder.command_line import options, print_bold, source, translations
from preorder.command_line.output import add_pictures, print_tables, write_pictures
from preorder.command_line.paths import runs_by_name
from preorder.command_line.source import STANZA, Pair, Source
from preorder.command_line.translations import Translations
from preorder.data import Bitext
from preorder.data.segments import read_sentences
from preorder.errors import DataError, UsageError
from preorder.io import files
from preorder.methods.registry import choose_method
from preorder.methods.train import TrainingPlan
from preorder.metrics import DEFAULTS, TOKENIZERS
from preorder.progress import LOGGER, counted

if TYPE_CHECKING:
    from preorder.analysis.results import Curves, Table
    from preorder.analysis.verdict import Verdict

DEFAULT_LINES = 20_000
SHARE_HELD = 10  # one line of so many is measured, the others are learned from
PAIR = ("src", "tgt", "align", "pos")
ITERATIONS, CLASSES = 4, 50  # of a quick preorderer
NONE = "none"  # the tokenizer of text that has tokens already

EXAMPLES = """\
  preorder diagnose --src train.en --tgt train.ja
  preorder diagnose --src my.en --tgt my.ja --tokenize en,ja
      plain text, which SudachiPy and Moses' rules split
  preorder diagnose --src train.en --tgt train.ja --align train.align --pos train.en.pos -v
  preorder diagnose --ref test.ja --hyp base=base.ja ours=ours.ja --tokenize none --out headroom.svg
  preorder diagnose --test-src test.en --ref test.ja --hyp llm.ja --tokenize none
      give --src train.en --tgt train.ja, too: the aligner then learns from more than the test set

--src and --tgt: how far the order of the two languages is from the same, how much of that a quick
preorderer predicts on lines that it has not seen, how well the words are known, and a verdict by the nearest
of the texts on which we trained models. -v adds all tables.
--ref and --hyp: what the translations would score if their words stood in the best order, or in the
best order that a BTG tree allows; and what is then left: words missing, too many, or others.
--test-src and --hyp: the order of translations against that of their source and, with --ref, against a
human's, by links that eflomal makes. Word forms are not compared. --src and --tgt help the aligner.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder diagnose``."""
    options.add_files(
        parser,
        src="source text, a sentence a line, tokenised unless --tokenize names languages",
        tgt="its translation; eflomal aligns both, without --align",
        pos="POS tags of the source, to learn from and to count by",
    )
    options.add_alignment(parser, required=False, confidences="weigh what it learns from")
    text = f"most lines to look at, drawn by --seed; a {SHARE_HELD}th of them is measured"
    options.add_number(parser, "--lines", options.at_least_two, DEFAULT_LINES, text)
    translations.add_options(parser, required=False)
    text = "source of --hyp: measure the order of translations by links to it"
    options.add_files(parser, test_src=text)
    text = "languages of plain text in all files, as in en,ja or en,ja:stanza; or the tokenizer of BLEU for "
    text += f"references and translations of tokenised text: {', '.join(TOKENIZERS)} (default: %(default)s)"
    how = {"metavar": "xx,yy|T", "type": _tokenizers, "default": DEFAULTS.tokenize}
    parser.add_argument("--tokenize", **how, help=text)
    options.add_flags(parser, case_sensitive="RIBES and counts of words distinguish upper and lower case")
    options.add_seed(parser)
    options.add_json(parser)
    add_pictures(parser)


def _tokenizers(text: str) -> str:
    if "," not in text:
        if text not in TOKENIZERS:
            raise argparse.ArgumentTypeError(
                f"neither languages (en,ja) nor of {', '.join(TOKENIZERS)}: {text!r}"
            )
        return text
    try:
        return ",".join(languages_of(text))
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(arguments: argparse.Namespace) -> None:
    """Print how far the languages' orders differ, what translations could gain, and a verdict."""
    has_pair = arguments.src is not None and (arguments.tgt or arguments.align) is not None
    by_links = bool(arguments.test_src and arguments.hyp)
    has_headroom = bool(arguments.ref and arguments.hyp)
    some_pair = any(getattr(arguments, name) is not None for name in PAIR)
    some_translations = bool(arguments.ref or arguments.hyp or arguments.test_src)
    incomplete = some_pair != has_pair or some_translations != (has_headroom or by_links)
    if incomplete or (arguments.test_src and not by_links) or not (has_pair or some_translations):
        raise UsageError("give --src with --tgt or --align, --ref with --hyp, or --test-src with --hyp")
    if by_links and has_pair and arguments.tgt is None:
        raise UsageError("--test-src: give --tgt beside --src: the aligner learns from both")
    if arguments.out and has_pair and has_headroom:
        raise UsageError("--out draws one picture: that of the languages or that of the translations")
    if arguments.out and not (has_pair or has_headroom):
        raise UsageError("--out draws curves by length: it needs --src and --tgt, or --ref and --hyp")
    from preorder.analysis.diagnosis import pair_tables, translation_tables
    from preorder.analysis.plots import curves_title, draw_curves
    from preorder.analysis.results import curve_tables
    from preorder.analysis.translation_order import order_table, order_verdict
    from preorder.analysis.verdict import cases_table

    found: dict = {}
    tables: list[Table] = []
    details: list[Table] = []
    curves: list[Curves] = []
    closing: list[str] = []
    verdicts: list[str] = []
    headroom = _headroom(arguments) if has_headroom else None
    if has_pair:
        (pair, by_length), verdict, method, why = _pair(arguments)
        found["pair"] = pair | {"method": method} | verdict.as_json()
        details += [*pair_tables(pair), cases_table(verdict.profile)]
        tables.append(verdict.table())
        curves.append(by_length)
        closing.append(f"preorder train takes --method {method} for such text: {why}.")
        verdicts.append(verdict.text)
    if headroom is not None:
        found["systems"], by_length = headroom
        tables += translation_tables(found["systems"])
        curves.append(by_length)
    if by_links:
        found["orders"] = _orders(arguments)
        tables.append(order_table(found["orders"]))
        verdicts += [order_verdict(name, found["orders"]) for name in runs_by_name(arguments.hyp)]
    if curves:
        write_pictures(partial(draw_curves, curves[-1]), curves_title(curves[-1]), arguments.out)
    if arguments.json:
        files.write_json(files.STANDARD, found)
        return
    if arguments.verbose:
        tables += [*details, *(table for one in curves for table in curve_tables(one))]
    print_tables(tables)
    for line in closing:
        print(line)
    for line in verdicts:
        print_bold(line)


def _languages(arguments: argparse.Namespace) -> tuple[str | None, str | None]:
    """Return the languages of plain text; None, None: it is tokenised."""
    source, comma, target = arguments.tokenize.partition(",")
    return (source, target) if comma else (None, None)


def _headroom(arguments: argparse.Namespace) -> tuple[dict[str, Any], Curves]:
    from preorder.analysis.diagnosis import diagnose_translations

    _, language = _languages(arguments)
    others = {"tokenize": NONE, "split": make_tokenizer(language)} if language else {}
    data = options.taken(Translations, arguments, metrics=("bleu",), words=DEFAULTS.words, **others).read()
    return diagnose_translations(data.references, data.systems, data.options, arguments.seed)


def _read_pair(arguments: argparse.Namespace) -> list[list[Any]]:
    language, other = _languages(arguments)
    text = Source(arguments.src, pos=arguments.pos, tokenize=language)
    return source.read_pair(Pair(text, arguments.tgt, arguments.align, other))


def _pair(arguments: argparse.Namespace) -> tuple[tuple[dict[str, Any], Curves], Verdict, str, str]:
    """Align, learn from nine tenths of the lines, measure the rest; return also a method to take, and why."""
    import numpy as np

    from preorder.analysis.diagnosis import diagnose_pair
    from preorder.analysis.verdict import Profile, Verdict, rare_share

    if arguments.pos == STANZA:
        raise UsageError("--pos: give a file of tags, such as preorder annotate writes")
    sentences, others = _read_pair(arguments)
    chosen = np.sort(np.random.default_rng(arguments.seed).permutation(len(sentences))[: arguments.lines])
    if len(chosen) < 2:
        raise UsageError(f"{counted(len(chosen), 'line')}: too few")
    texts = [[sentence.words for sentence in sentences]]
    words = [texts[0][index] for index in chosen]
    if arguments.align is None:
        texts.append(others)
        LOGGER.info(f"aligning {counted(len(chosen), 'line')}")
        alignments = align(words, [others[index] for index in chosen], DEFAULT_SYMMETRIZATION, arguments.seed)
    else:
        alignments = [others[index] for index in chosen]
        if arguments.tgt is not None:
            pair = Pair(Source(arguments.src), arguments.tgt, None, _languages(arguments)[1])
            texts.append(list(pair.read_target()))
    held = range(0, len(chosen), SHARE_HELD)
    seen = [index for index in range(len(chosen)) if index not in held]
    LOGGER.info(f"learning from {counted(len(seen), 'line')}")
    classes = learn_classes([words[index] for index in seen], CLASSES, arguments.seed)
    bitext = Bitext([classes.add_to(sentences[index]) for index in chosen], alignments)
    plan = TrainingPlan.of("btg", seed=arguments.seed, iterations=ITERATIONS, held_out=0)
    preorderer, _ = plan.train(bitext.take(seen))
    unseen = bitext.take(held)
    names = [sentence.tags or sentence.words for sentence in unseen.sentences]
    found = diagnose_pair(names, unseen.alignments, preorderer.order(unseen.sentences), arguments.seed)
    measured = {int(chosen[index]) for index in held}
    profile = Profile(
        pairs=len(sentences),
        tau=found[0]["unreordered"]["tau"],
        in_order=found[0]["monotone"],
        share_of_the_way=found[0]["share_of_the_way"],
        rare=sum(rare_share(text, measured) for text in texts) / len(texts),
        length=sum(len(line) for text in texts for line in text) / sum(map(len, texts)),
    )
    return found, Verdict.of(profile), *choose_method(sentences, False)


def _orders(arguments: argparse.Namespace) -> dict[str, Any]:
    """Align the source with references and translations, in one text with the pair; measure their orders."""
    from preorder.analysis.translation_order import diagnose_orders
    from preorder.metrics.translation import tokenizer

    language, other = _languages(arguments)
    if language and other:
        split = make_tokenizer(language), make_tokenizer(other)
    else:
        of_bleu = tokenizer(arguments.tokenize)
        split = str.split, lambda line: of_bleu(line).split()
    systems = runs_by_name(arguments.hyp)
    named = [(path, "ref") for path in arguments.ref or ()]
    named += [(path, "hyp") for paths in systems.values() for path in paths]
    streams = [(path, read_sentences(path, role)) for path, role in ((arguments.test_src, "src"), *named)]
    lines, *translations = files.read_columns(*streams)
    words = [split[0](line) for line in lines]
    if not any(words):
        raise DataError("no sentence has a word", arguments.test_src)
    sources, targets = words * len(translations), [split[1](line) for text in translations for line in text]
    if arguments.src is not None:
        sentences, others = _read_pair(argparse.Namespace(**vars(arguments) | {"align": None}))
        sources += [sentence.words for sentence in sentences[: arguments.lines]]
        targets += others[: arguments.lines]
    LOGGER.info(f"aligning {counted(len(sources), 'line')}, {len(words):,} of each translation")
    links = align(sources, targets, DEFAULT_SYMMETRIZATION, arguments.seed)
    each = [links[at * len(words) : (at + 1) * len(words)] for at in range(len(translations))]
    people, rest = each[: len(arguments.ref or ())], iter(each[len(arguments.ref or ()) :])
    runs = {name: [next(rest) for _ in paths] for name, paths in systems.items()}
    return diagnose_orders(list(map(len, words)), people, runs)
