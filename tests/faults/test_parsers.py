"""Every parser, on good lines that are damaged at random: a value to write and read again, or a DataError."""

import json
import random
import time

import pytest

from preorder.analysis import report
from preorder.analysis.results import parse_curves
from preorder.annotate.classes import WordClasses
from preorder.data import Sentence, formats
from preorder.errors import DataError
from preorder.io import files
from preorder.syntax.binary import binary_branches
from preorder.syntax.read import TreeFile, add_trees

CONLLU = """\
1 I _ PRP _ _ 2 nsubj _ _
2 see _ VBP _ _ 0 root _ _
3-4 al _ _ _ _ _ _ _ _
3 a _ IN _ _ 4 case _ _
4 el _ DT _ _ 2 obl _ _
""".replace(" ", "\t")
MANIFEST = {
    "title": "t",
    "source": "s",
    "references": ["r"],
    "alignment": None,
    "systems": {"a": {"runs": ["x", "y"], "positions": "p"}},
    "tokenize": "none",
}
CURVES = {
    "kind": "length",
    "axis": "tokens",
    "groups": [{"label": "1", "sentences": 3}],
    "measures": {"bleu": {"a": [{"score": 1, "interval": [0, 2]}]}},
    "skipped": 0,
    "signature": {},
}
PIECES = (
    *(" ", "  ", "\t", "\n", "\r", "\0", "\ufeff", "\u3000", "\x0b", "\x85", "\u2028"),
    *("￨", "\\", "&#65512;", "&#99999;", "(", ")", "(X ", "(X a)", "(-NONE- *)"),
    *'-LRB- [ ] { } " , : # _ - ? ||| 0 -1 1 2 007'.split(" "),
    *("9" * 18, "9" * 19, "9" * 5000),
    *"1e999 NaN Infinity 1.5 ٣ ² true".split(" "),
    *("[" * 100_000, "(" * 2000, '{"a":' * 50_000, "null", "\ud7ff"),
    *("1.1\t", "3-4\t", "0-0 ||| ", "1-1 ||| "),
)


def damaged(text, generator):
    """Change some pieces of a text."""
    for _ in range(generator.choice((1, 1, 2, 3))):
        begin = generator.randrange(len(text) + 1)
        end = begin + generator.choice((0, 0, 1, 1, 2, generator.randrange(len(text) + 1)))
        new = generator.choice((*PIECES, *[text[generator.randrange(len(text) + 1) :][:9]] * 9, "", "", ""))
        text = text[:begin] + new + text[end:]
    return text


def file_of(text, folder):
    (folder / "file").write_bytes(text.encode("utf-8", "surrogatepass"))
    return str(folder / "file")


def read_sentence(text, folder):
    """Read trees, and write what annotate and train write of them: tags, and binary trees."""
    for _, readings in TreeFile(file_of(text, folder)):
        for sentence in readings:
            assert formats.parse_tokens(" ".join(sentence.tags)) == sentence.tags
            assert len(binary_branches(sentence, "head")) == max(0, len(sentence) - 1)


def read_annotated(text, folder):
    for sentence in formats.read_annotated(file_of(text, folder)):
        line, columns = formats.format_annotated(sentence), 2 + bool(sentence.classes)
        assert formats.parse_annotated(line, columns) == sentence


def read_alignments(text, folder):
    for alignment in formats.read_alignments(file_of(text, folder)):
        again = formats.parse_alignment(formats.format_alignment(alignment))
        for name in ("links", "possible", "doubtful"):
            assert getattr(again, name) == getattr(alignment, name)


def parse_features(text, folder):
    words, permutation = formats.parse_features(text)
    assert formats.parse_features(formats.format_features(words, permutation)) == (words, permutation)


def parse_classes(text, folder):
    path = file_of(text, folder)
    for classes in (WordClasses.parse(path, text.encode()), WordClasses.read(path)):
        for word, name in classes.of_word.items():
            assert formats.parse_tokens(name) == (name,), word


def read_manifest(text, folder):
    path = folder / "report.json"
    path.write_text(text)
    found = report.read_manifest(path).files
    for name in (found.source, *found.references):
        with pytest.raises(DataError):
            list(files.read_lines(name))


PARSERS = {
    "bracketings": (
        read_sentence,
        "(ROOT (S (NP (PRP I)) (VP (VBP see) (NP-SBJ (-NONE- *) (DT a) (NN -LRB-)))))\n",
    ),
    "CoNLL-U": (read_sentence, f"# text\n{CONLLU}\n{CONLLU}"),
    "annot": (read_annotated, "I see fish\tPRP VBP NN\t1 2 3\na\tDT\t9\n"),
    "alignments": (read_alignments, "0-0 1-2 2?1\n0-1\n"),
    "confidences": (read_alignments, "0-0:0.5 1-2:0.750 2?1\n0-1:1 1-0:0.000001\n"),
    "lader alignments": (read_alignments, "3-3 ||| 0-0 1-2 2?1\n"),
    "orders": (lambda text, _: formats.parse_order(text), "2 0 1 3"),
    "positions": (lambda text, _: formats.parse_positions(text), "2 0 1 3"),
    "features": (parse_features, "I￨0 see￨2 a&#65512;b￨1"),
    "manifest": (read_manifest, json.dumps(MANIFEST)),
    "curves": (lambda text, folder: parse_curves(files.read_json(file_of(text, folder))), json.dumps(CURVES)),
    "classes": (parse_classes, "I\t1\nsee\t2\n"),
}


@pytest.mark.parametrize("name", PARSERS)
def test_a_value_or_an_error(name, tmp_path):
    parse, good = PARSERS[name]
    parse(good, tmp_path)
    messages = []
    for number in range(60):
        text = damaged(good, random.Random(f"{name} {number}"))
        try:
            parse(text, tmp_path)
        except DataError as error:
            messages.append(str(error))
        except Exception as error:
            raise AssertionError(f"{name} {number}: {text[:200]!r}") from error
    assert len(max(messages, key=len)) < 500


@pytest.mark.parametrize(
    ("parse", "text", "reason"),
    [
        (formats.parse_order, "9" * 5000, "not a number: '999"),
        (formats.parse_positions, "9" * 5000, "not a number: '999"),
        (formats.parse_alignment, "0-" + "9" * 5000, "not an alignment link: '0-999"),
        (formats.parse_alignment, "0-0:0." + "9" * 5000, "not an alignment link: '0-0:0.999"),
        (formats.parse_features, "a￨" + "9" * 5000, "token without a position: 'a￨999"),
        (files.parse_json, "[" * 100_000, "JSON that is nested too deeply"),
        (files.parse_json, f"[[{'9' * 5000}]]", "JSON that .* of too many digits"),
    ],
)
def test_numbers_and_nesting_without_end(parse, text, reason):
    with pytest.raises(DataError, match=reason) as caught:
        parse(text)
    assert len(str(caught.value)) < 150


def test_a_deep_dependency_tree_takes_linear_time(tmp_path):
    size = 50_000
    rows = (f"{i}\tw\t_\tX\t_\t_\t{i + 1 if i < size else 0}\tdep\t_\t_\n" for i in range(1, size + 1))
    path = file_of("".join(rows), tmp_path)
    begin = time.process_time()
    (sentence,) = add_trees("source", [Sentence(("w",) * size)], TreeFile(path))
    assert time.process_time() - begin < 30  # quadratic, it would take minutes
    assert sentence.tree.heads[-1] == -1


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        (lambda path: list(files.read_lines(path)), "cannot be read: embedded null"),
        (files.read_json, "cannot be read: embedded null"),
        (lambda path: files.write_lines(path, ["x"]), "cannot be written: there is a NUL in the path"),
        (files.make_folder, "cannot be written: there is a NUL in the path"),
    ],
)
def test_nul_in_a_path(use, reason):
    with pytest.raises(DataError, match=reason):
        use("a\0b")
