"""``preorder diagnose``: is word order the problem, and what could an order be worth?"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from preorder.alignment.eflomal import align
from preorder.alignment.links import DEFAULT_SYMMETRIZATION
from preorder.annotate.classes import learn_classes
from preorder.annotate.tokenizers import languages_of, log_tokenizers, make_tokenizer
from preorder.command_line import options, print_tables, source, translations, visible
from preorder.command_line.paths import runs_by_name
from preorder.command_line.source import STANZA, Pair, Source
from preorder.command_line.translations import Translations
from preorder.data import Bitext
from preorder.data.texts import read_text
from preorder.errors import DataError, UsageError
from preorder.io import files
from preorder.methods.registry import choose_method
from preorder.methods.train import TrainingPlan
from preorder.metrics import DEFAULTS, TOKENIZERS
from preorder.progress import LOGGER, counted

if TYPE_CHECKING:
    from preorder.analysis.results import Table

    Splitter = Callable[[str], Sequence[str]]

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
  preorder diagnose --ref test.ja --hyp base=base.ja ours=ours.ja --tokenize none
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
    how: dict[str, Any] = {"metavar": "xx,yy|T", "type": _tokenizers, "default": DEFAULTS.tokenize}
    parser.add_argument("--tokenize", **how, help=text)
    options.add_flags(parser, case_sensitive="RIBES and counts of words distinguish upper and lower case")
    options.add_seed(parser)
    options.add_json(parser)


def _tokenizers(text: str) -> str:
    if "," not in text:
        if text not in TOKENIZERS:
            names = ", ".join(TOKENIZERS)
            raise argparse.ArgumentTypeError(f"neither languages (en,ja) nor of {names}: {text!r}")
        return text
    try:
        return ",".join(languages_of(text))
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


@dataclass(frozen=True)
class Answer:
    """The answer to one question: about the pair, translations, or their order by links."""

    key: str  # of its object in JSON
    found: dict[str, Any]
    tables: list[Table]
    details: Sequence[Table] = ()  # with -v
    lines: Sequence[str] = ()  # advice, and last the verdict


def run(arguments: argparse.Namespace) -> None:
    """Print how far the languages' orders differ, what translations could gain, and a verdict."""
    has_pair, has_headroom, has_orders = _asked(arguments)
    language, comma, other = arguments.tokenize.partition(",")
    if comma:
        log_tokenizers(language, other)
    text = Source(arguments.src, pos=arguments.pos, tokenize=language if comma else None)
    pair = Pair(text, arguments.tgt, arguments.align, other or None)
    most, seed, answers = arguments.lines, arguments.seed, []
    named = options.taken(Translations, arguments, ref=arguments.ref or [], hyp=arguments.hyp or [])
    if has_headroom:
        plain = replace(named, tokenize=NONE, split=make_tokenizer(other)) if comma else named
        answers.append(_headroom(plain))
    if has_pair:
        answers.insert(0, _pair(pair, most, seed))
    if has_orders:
        split = (make_tokenizer(language), make_tokenizer(other)) if comma else _split_as_bleu(language)
        answers.append(_orders(arguments.test_src, named, split, pair if has_pair else None, most))
    if arguments.json:
        files.write_json(files.STANDARD, {answer.key: answer.found for answer in answers})
        return
    tables = [one for answer in answers for one in answer.tables]
    if arguments.verbose:
        tables += [one for answer in answers for one in answer.details]
    print_tables(tables)
    for line in chain.from_iterable(answer.lines for answer in answers):
        print(visible(line))


def _asked(arguments: argparse.Namespace) -> tuple[bool, bool, bool]:
    """Return whether pair, headroom and order by links are asked for; refuse incomplete options."""
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
    return has_pair, has_headroom, by_links


def _split_as_bleu(name: str) -> tuple[Splitter, Splitter]:
    """Return a splitter at spaces for the source, and one by a tokenizer of BLEU for translations."""
    from preorder.metrics.translation import tokenizer

    of_bleu = tokenizer(name)
    return str.split, lambda line: of_bleu(line).split()


def _headroom(named: Translations) -> Answer:
    from preorder.analysis.diagnosis import diagnose_translations, translation_tables
    from preorder.analysis.results import curve_tables

    data = named.read()
    found, curves = diagnose_translations(data.references, data.systems, data.options, named.seed)
    return Answer("systems", found, translation_tables(found), curve_tables(curves))


def _pair(pair: Pair, most: int, seed: int) -> Answer:
    """Align at most ``most`` lines, learn from nine tenths, measure the rest; find the nearest case."""
    import numpy as np

    from preorder.analysis.diagnosis import diagnose_pair, pair_tables
    from preorder.analysis.results import curve_tables
    from preorder.analysis.verdict import Profile, Verdict, cases_table, rare_share

    if pair.source.pos == STANZA:
        raise UsageError("--pos: give a file of tags, such as preorder annotate writes")
    sentences, others, *translations = source.read_pair(pair, keeps_targets=True)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(sentences))[:most])
    if len(chosen) < 2:
        raise UsageError(f"{counted(len(chosen), 'line')}: too few")
    texts = [[sentence.words for sentence in sentences], *translations]
    words = [texts[0][index] for index in chosen]
    if pair.alignment is None:
        texts.append(others)
        LOGGER.info(f"aligning {counted(len(chosen), 'line')}")
        aligned = [others[index] for index in chosen]
        alignments = list(align(words, aligned, DEFAULT_SYMMETRIZATION, seed))
    else:
        alignments = [others[index] for index in chosen]
    held = range(0, len(chosen), SHARE_HELD)
    seen = [index for index in range(len(chosen)) if index not in held]
    LOGGER.info(f"learning from {counted(len(seen), 'line')}")
    classes = learn_classes([words[index] for index in seen], CLASSES, seed)
    bitext = Bitext([classes.add_to(sentences[index]) for index in chosen], alignments)
    plan = TrainingPlan.of("btg", seed=seed, iterations=ITERATIONS, held_out=0)
    preorderer, _ = plan.train(bitext.take(seen))
    unseen = bitext.take(held)
    names = [sentence.tags or sentence.words for sentence in unseen.sentences]
    orders = preorderer.order(unseen.sentences)
    found, curves = diagnose_pair(names, unseen.alignments, orders, seed)
    measured = {int(chosen[index]) for index in held}
    profile = Profile(
        pairs=len(sentences),
        tau=found["unreordered"]["tau"],
        in_order=found["monotone"],
        share_of_the_way=found["share_of_the_way"],
        rare=sum(rare_share(text, measured) for text in texts) / len(texts),
        length=sum(len(line) for text in texts for line in text) / sum(map(len, texts)),
    )
    verdict, (method, why) = Verdict.of(profile), choose_method(sentences, False)
    return Answer(
        "pair",
        found | {"method": method} | verdict.as_json(),
        [verdict.table()],
        [*pair_tables(found), cases_table(profile), *curve_tables(curves)],
        [f"preorder train takes --method {method} for such text: {why}.", verdict.text],
    )


def _orders(
    source_path: str, named: Translations, split: tuple[Splitter, Splitter], pair: Pair | None, most: int
) -> Answer:
    """Align the source with references and translations, in one text with a pair; measure their orders."""
    from preorder.analysis.translation_order import diagnose_orders, order_table, order_verdict

    systems = runs_by_name(named.hyp)
    paths = source_path, *named.ref, *chain.from_iterable(systems.values())
    lines, *translations = files.read_columns(*((path, read_text(path, str)) for path in paths))
    split_source, split_target = split
    words = [split_source(line) for line in lines]
    if not any(words):
        raise DataError("no sentence has a word", source_path)
    sources = words * len(translations)
    targets = [split_target(line) for text in translations for line in text]
    if pair is not None:
        sentences, others = source.read_pair(replace(pair, alignment=None))
        sources += [sentence.words for sentence in sentences[:most]]
        targets += others[:most]
    LOGGER.info(f"aligning {counted(len(sources), 'line')}, {len(words):,} of each translation")
    links = list(align(sources, targets, DEFAULT_SYMMETRIZATION, named.seed))
    each = [links[at * len(words) : (at + 1) * len(words)] for at in range(len(translations))]
    people, rest = each[: len(named.ref)], iter(each[len(named.ref) :])
    runs = {name: [next(rest) for _ in paths] for name, paths in systems.items()}
    found = diagnose_orders(list(map(len, words)), people, runs)
    verdicts = [order_verdict(name, found) for name in systems]
    return Answer("orders", found, [order_table(found)], lines=verdicts)
