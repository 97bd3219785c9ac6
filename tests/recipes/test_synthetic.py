"""The synthetic bitext: what its files promise of each other."""

import random
from itertools import pairwise

import nltk
import pytest

from preorder.data.formats import parse_alignment, parse_tokens
from preorder_recipes.synthetic import generate
from preorder_recipes.synthetic.generate import Rule

SIZES = {"train": 300, "dev": 40, "test": 40}


@pytest.fixture(scope="module")
def bitext(tmp_path_factory):
    folder = tmp_path_factory.mktemp("synthetic") / "data"
    command = ["--out", str(folder), "--pairs", str(SIZES["train"]), "--held", str(SIZES["dev"])]
    assert generate.main(command) == 0
    return folder


def lines(folder, name):
    return (folder / name).read_text(encoding="utf-8").splitlines()


def test_a_rule_orders_its_parts_adds_particles_and_joins_translations():
    words = {
        "VBD": ([("looked", ["shirabeta"])], [1.0]),
        "DT": ([("the", [""])], [1.0]),
        "NN": ([("word", ["tango"])], [1.0]),
        "RP": ([("up", [""])], [1.0]),
    }
    rules = {
        "VP": ([Rule(("VBD", "NP/thing", "RP"), ((1,), "o", (0, 2)))], [1.0]),
        "NP/thing": ([Rule(("DT", "NN"), ((1,),))], [1.0]),
    }
    piece = generate.sample(words | rules, random.Random(0), "VP")
    tree = "(VP (VBD looked) (NP (DT the) (NN word)) (RP up))"
    assert piece.lines() == ("looked the word up", "tango o shirabeta", "VBD DT NN RP", tree, "0-2 2-0 3-2")


def test_the_files_fit_each_other_and_parts_share_no_source_sentence(bitext):
    suffixes, sources, crossings = ("svo", "sov", "svo.pos", "svo.trees", "align"), [], 0
    for part, size in SIZES.items():
        rows = list(zip(*(lines(bitext, f"{part}.{suffix}") for suffix in suffixes), strict=True))
        assert len(rows) == size
        for source, target, tags, bracketing, links in rows:
            words, tree, alignment = (
                parse_tokens(source),
                nltk.Tree.fromstring(bracketing),
                parse_alignment(links),
            )
            assert tree.leaves() == list(words)
            assert [tag for _, tag in tree.pos()] == tags.split()
            alignment.check_within(len(words), len(parse_tokens(target)))
            sources.append(source)
            crossings += any(i[1] > j[1] for i, j in pairwise(sorted(alignment.links)))
    assert len(sources) == len(set(sources))
    assert crossings / len(sources) > 0.9


def test_a_seed_gives_the_same_files_and_dev_and_test_do_not_depend_on_the_training_pairs(tmp_path, bitext):
    for name, seed, pairs in (("same", "1", "300"), ("other", "2", "300"), ("more", "1", "500")):
        line = ["--out", str(tmp_path / name), "--pairs", pairs, "--held", "40", "--seed", seed]
        assert generate.main(line) == 0
    for path in bitext.iterdir():
        assert path.read_bytes() == (tmp_path / "same" / path.name).read_bytes()
        assert path.read_bytes() != (tmp_path / "other" / path.name).read_bytes()
        assert lines(tmp_path / "more", path.name)[: path.read_text().count("\n")] == lines(bitext, path.name)
