"""What is wrong with options and files, command by command: one line, status 2, and nothing is written."""

import sys

import pytest

from preorder.errors import require
from tests.support.command_files import FILES, GIVEN
from tests.support.texts import content, rows, write

LINES = """
align --src ab --tgt ./ab | ab: is both the source and its translation
analyse length @ --src src --positions positions | --positions are measured against --align
analyse length @ --src ref --align align --positions positions | positions of 2 tokens,
analyse length @ --src positions --align ref | ref:1: not an alignment link: 'x'
analyse length @ --src empty | no sentence can be grouped by source length (tokens)
analyse gain @ --align align --positions src | src:1: not a number: 'a'
analyse precision @ --baseline none | no system is called 'none', only: base, ours
analyse examples @ --src src --system base | 'base' cannot be compared with itself: name two systems
analyse examples @ --src src --hyp ours=ours | system 'ours' has
analyse robustness @ | base: no {} in it to stand for the percentage
analyse gain @ --align x --positions x --width 0 | 0.0 is not a number from 0.001 to 2
analyse robustness --ref ref --hyp run.{} --percent 0,100 | run.100: cannot be read
analyse robustness @ --percent 5,5 | not different shares of 0 to 100: '5,5'
analyse precision @ --out x.gif | a picture's name ends in .svg or .png or .pdf: 'x.gif'
analyse precision @ --metrics bleu | unrecognized arguments: --metrics
analyse examples @ --src src --metric bleu | argument --metric: invalid choice: 'bleu'
analyse robustness --ref ref --hyp run{}.svg --percent 0 --out run0.svg | run0.svg would be overwritten while
analyse length @ --src src --align align --positions unreordered=positions | unreordered is the source's own
analyse gain --ref ab --hyp ab --align unsorted --positions one.order | unsorted: no order can be evaluated
score % --align s.align | --align and the orders of a system (--order, --positions) go together
score % --align s.align --order x=s.order | no system is called 'x', only: a, b
score % --align s.align --order a=s.order --positions a=s.order | system 'a' has two orders
score % --align s.align --order a=s.order a=s.other | two systems are called 'a'
score % --align s.align --order a=s.order b=s.other | s.other:4: positions of 2 tokens, s.order has 3
score % --align s.align --order a=s.short | s.align:4: link 2-1 is out of range: the source has 2 tokens
score % --align s.align --order a=s.twice | s.twice:4: not a permutation of 0 … 1: 1 1
score --ref s.ref --hyp scored | scored:1: a tab in the line
score --ref scored --hyp s.ref | scored:1: a tab in the line
score % --baseline x | no system is called 'x', only: a, b
score % =good | not a system: '=good'
score % c= | not a system: 'c='
score % lang=en/hyp | en/hyp: cannot be read: No such file or directory
score % --metrics bleu,meteor | no metric 'meteor', only bleu, chrf, ter, ribes
evaluate --align of.three --order one.order | of.three:1: the alignment is of 3 source tokens
evaluate --align link --order ab | ab:1: not a number: 'a'
evaluate --align unsorted --order one.order | no order can be evaluated: none of 1 alignments can be sorted
evaluate --align link | one of the arguments --order --positions --model --gold is required
evaluate --align link --order a --gold b | not allowed with
evaluate --align link --gold link --unaligned keep | --unaligned has no effect with --gold
evaluate --align link --order link --gold-first-index 1 | --gold-first-index has no effect without --gold
evaluate --align none --gold none | none: the file is empty
evaluate --align link --gold links | link:2: the file ends after 1 line
evaluate --align possible --gold links | possible:2: possible links (i?j) in an alignment to be judged
evaluate --align link --gold plus | plus:1: not an alignment link: '0+0'
map --align lader2 --first-index 1 | lader2:1: link 2-0 is out of range: the source has 2 tokens
gold --src ab --align from1 | do they count from 1? (preorder map --first-index 1)
gold --src ab --align turned | are they target-source? (preorder map --reverse)
align | the following arguments are required: --tgt
align $ --hand-src source --hand-tgt target | --hand-src, --hand-tgt and --hand-align belong together
align $ --samplers 2 --symmetrize union | --symmetrize has no effect with --samplers or --hand-align
align $ --min-confidence 0.5 | --min-confidence has no effect without --samplers or --hand-align
align $ --samplers 2 --min-confidence 0 | 0.0 is not a number above 0 and at most 1
align $ --seed ² | '²' is not a whole number from 0 to 4294967295
align $ --hand-src source --hand-tgt target --hand-align far | far:1: link 9-0 is out of range
align $ --hand-src source --hand-tgt target --hand-align few | 2 hand-aligned sentences are too few
map --align links | nothing to do: name the texts, --tgt and --new-tgt, or --src and --new-src
map --align links --tgt old | --tgt and --new-tgt belong together
map --align links --tgt old --new-tgt new | new:1: these are not the same characters: 'ab' and 'ac'
show & --lines 1,2-4 | h.src:3: the file has no such line
show & --max-length 3 | h.src: no sentence is left to be shown
show & --gain 1 | --gain measures orders by links: it needs --align and --tgt
show & --align h.align | --align links the source to a target: give --tgt, too
show & --tgt h.tgt --align far | far:1: link 9-0 is out of range: the source has 4 tokens
show --src h.src --positions positions --line 2 | positions:2: positions of 3 tokens for 5 words
show & --lines 1, | '' is not a whole number from 1
show & --lines 3-1 | ends before it begins: '3-1'
show & --pos xx | --pos has no effect without --model
diagnose | give --src with --tgt or --align, --ref with --hyp
diagnose --pos tags --ref three --hyp a=three | give --src with --tgt or --align, --ref with --hyp
diagnose --src pairs --align links --ref three | give --src with --tgt or --align, --ref with --hyp
diagnose --src pairs --align far | far:1: link 9-0 is out of range
diagnose --src ab --align link | 1 line: too few
diagnose --src pairs --align links --pos stanza | --pos: give a file of tags
annotate --src src | give --lang, such as en or zh-hans
annotate --src src --lang en --trees dependency | --out is needed: trees and classes are written beside it
annotate --src src --pos f --classes 2 --out /dev/stdout | --out is needed: trees and classes
annotate --src src --pos f --classes nowhere | --classes nowhere: neither a number nor a file
annotate --src nowhere --pos f | nowhere: cannot be read: No such file or directory
annotate --src s* --pos t* --out-dir out --classes 3 | --classes N learns from one text: learn them from it
annotate --src s* --out-dir out --lang en --stanza-device gpu --workers 2 | on a GPU there is one worker
annotate --src s* --pos t* --out-dir out --engine ray --workers 2 | --workers counts processes of this machine
annotate --src s* --pos t* --out-dir out --pos-out f | --pos-out has no effect with --out-dir
apply --model en-verb-final --out out --out-dir dir | --out and --out-dir exclude each other
apply --model en-verb-final --shard 1/2 | --shard has no effect without --out-dir
apply --model en-verb-final --out-dir dir | --out-dir needs files, as --src 'in/*.gz'
apply --model en-verb-final --engine ray | --engine has no effect without --out-dir
apply --model m --out-dir dir --src s* --gpu-share 0.5 | --gpu-share has no effect without --engine ray
apply --model m --out-dir dir --src s* --engine ray --gpu-share 0.5 | no effect without --stanza-device gpu
apply --model en-verb-final --confidence-out f --out-dir dir --src s* | no effect with --out-dir
apply --model en-verb-final --confidence-out f --n-best 2 | --n-best has no effect with --confidence-out
evaluate --align link --model en-verb-final | --model orders a source: give --src
evaluate --align link --order one.order --calibration | --calibration has no effect without --model
apply --model en-verb-final --out-dir dir --shard 1 | argument --shard: not I/N: '1'
apply --model en-verb-final --out-dir dir --shard 3/2 | argument --shard: 3 is more than 2: '3/2'
apply --model en-verb-final --out-dir dir --address ray://a.b:1 | neither auto nor HOST:PORT: 'ray://a.b:1'
train --method rvnn --src none --align none --model out | --method rvnn needs syntax --trees
train --lang ../x | argument --lang: not the code of a language: '../x' (see
train # --keep-folds | --keep-folds needs --cross-fit
train # --cross-fit 2 --cross-fit-out f --keep-folds | --keep-folds: of method neural-btg alone, not btg
train # --method rvnn --trees f --members 2 | --members: of method btg and neural-btg alone, not rvnn
train # --hidden 4 | --hidden is no option of --method btg
train # --cross-fit 2 | --cross-fit and --cross-fit-out go together
train # --max-length 2 | no sentence of 1 to 2 tokens to train on
train # --annot f | --annot holds words and POS tags: it does not go with --src or --pos
train # --cross-fit 300 --cross-fit-out f | too few lines to train on for 300 folds
train # --pos three.tags | three.tags:2: 2 POS tags for 3 words
train # --pos stanza | give --lang, such as en or zh-hans
swap -q --src ten --pos one.order --out-dir out | 10 words
swap --src ten --out-dir ten | cannot be written
"""


@pytest.mark.parametrize(("line", "reason"), rows(LINES))
def test_one_line_and_status_2(tmp_path, monkeypatch, refuses, line, reason):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("preorder.command_line.shards.load_ray", lambda: None)
    for name, lines in FILES.items():
        write(tmp_path / name, *lines)
    before = content(tmp_path)
    refuses(" ".join(GIVEN.get(word, word) for word in line.split()), reason)
    assert content(tmp_path) == before


def test_no_command(refuses):
    refuses("", "the following arguments are required: COMMAND (see preorder --help)\n")


@pytest.mark.parametrize(
    ("module", "package", "line"),
    [
        ("ray", "'ray>=2.40'", "apply --model en-verb-final --src text --out-dir out --engine ray"),
        ("matplotlib", "'matplotlib>=3.8'", "show --src text --order nowhere --out x.svg"),
    ],
)
def test_an_extra_that_is_not_installed(tmp_path, monkeypatch, refuses, module, package, line):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    before = write(tmp_path / "text", "a b"), write(tmp_path / "order", "1 0")
    refuses(line, f"{module} is not installed: pip install {package}\n")
    assert len(content(tmp_path)) == len(before)


def test_a_method_that_cannot_be_used_is_told_before_the_texts_are_aligned(tmp_path, monkeypatch, refuses):
    monkeypatch.setattr("preorder.cli.train.method_class", lambda method: require(f"no_{method}", "neural"))
    source, target = write(tmp_path / "text", "a b"), write(tmp_path / "other", "c d")
    refuses(
        f"train --method btg --src {source} --tgt {target} --model {tmp_path}/out",
        "no_btg is not installed: pip install 'torch>=2.6'\n",
    )
