"""Tables of kept translations: figures are those of ``preorder score``, in groups those of sacrebleu."""

import json
import shlex

import pytest
from sacrebleu import corpus_bleu

from preorder.cli import main as preorder
from preorder.data.formats import parse_alignment, parse_positions
from preorder_recipes import archives, kept
from tests.support.texts import spoilt, write

REFERENCE = [f"a b c d e f g {word} h i" for word in "pqrstuvwxyzk"]
SOURCE = [f"x y {word}" for word in "pqrstuvwxyzk"]


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """An archive of two systems, with orders of which line i has tau 1, 1/3, -1/3 or -1, and its corpus."""
    folder = tmp_path / "one"
    folder.mkdir()
    shares = {"base": 0.3, "ours": 0.1}
    runs = [(name, share, seed) for name, share in shares.items() for seed in (1, 2)]
    texts = {f"{name}.seed{seed}.yy": spoilt(REFERENCE, share, seed) for name, share, seed in runs}
    predicted = [("0 1 2", "0 2 1", "2 0 1", "2 1 0")[index % 4] for index in range(12)]
    texts |= {"test.xx.gold.positions": ["0 1 2"] * 12, "test.xx.predicted.positions": predicted}
    texts |= {"test.xx.predicted.confidence": [str(index / 12) for index in range(12)]}
    texts |= {"links.reference.align": ["0-0 1-1 2-2"] * 12}
    texts |= {"links.translation.align": ["0-2 1-1 2-0", "0-0 1-1 2-2", "1-3", "0-1 2-3"] * 3}
    for name, lines in texts.items():
        write(folder / name, *lines)
    report = {"source": "../test.xx", "references": ["../test.yy"], "systems": {"base": {}, "ours": {}}}
    (folder / "report.json").write_text(json.dumps(report))
    write(tmp_path / "test.xx", *SOURCE)
    write(tmp_path / "test.yy", *REFERENCE)
    monkeypatch.setattr(archives, "_unpacked", lambda _: tmp_path)
    return tmp_path


def printed(archive, capsys, options):
    assert kept.main(["one", "--data", str(archive), *shlex.split(options)]) == 0
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    return rows[0], rows[2:]


def test_figures_are_those_of_score(archive, capsys):
    runs = (f"{name}={archive}/one/{name}.seed{seed}.yy" for name in ("base", "ours") for seed in (1, 2))
    line = f"score --ref {archive}/test.yy --tokenize none --json --baseline base --hyp".split()
    assert preorder([*line, *runs]) == 0
    found = json.loads(capsys.readouterr().out)
    titles, rows = printed(archive, capsys, "")
    assert titles[:5] == ["system (trainings)", "BLEU", "precision", "brevity", "at equal length"]
    base, ours = rows
    assert [base[0], ours[0]] == ["`base` (2)", "`ours` (2)"]
    scores, compared = found["systems"]["ours"], found["significance"]["ours"]
    deviation = found["runs"]["ours"]["bleu"]["deviation"]
    assert ours[1] == f"{scores['bleu']:.2f} ± {deviation:.2f} ({compared['bleu']['p_value']:.3f})"
    assert ours[2] == f"{scores['bleu_precision']:.2f} ({compared['bleu_precision']['p_value']:.3f})"
    equal = found["equal_length"]["ours"]["comparisons"]["bleu"]
    assert ours[4] == f"{equal['difference']:+.2f} ({equal['p_value']:.3f}) of 12"
    _, ((_, bleu, *_),) = printed(archive, capsys, "--systems ours --trainings 2")
    alone = corpus_bleu(
        (archive / "one/ours.seed2.yy").read_text().splitlines(), [REFERENCE], tokenize="none"
    )
    assert bleu == f"{alone.score:.2f}"


@pytest.mark.parametrize(
    ("by", "bounds", "groups"),
    [
        ("tau", ["-1.00", "-0.33", "0.33", "1.00"], [[3, 7, 11], [2, 6, 10], [1, 5, 9], [0, 4, 8]]),
        ("confidence", ["0.17", "0.42", "0.67", "0.92"], [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]),
        ("translation", ["-1.00", "1.00", "1.00", "1.00"], [[0, 4, 8], [1, 3], [5, 7], [9, 11]]),
    ],
)
def test_groups_of_sentences(archive, capsys, by, bounds, groups):
    """Where fewer than two tokens are linked to both translations, a line is in no group of the last."""
    titles, rows = printed(archive, capsys, f"--systems ours --by {by}")
    assert titles[:4] == [by, "source words", "system", "BLEU"]
    assert [row[0] for row in rows] == [f"up to {bound}" for bound in bounds]
    runs = [(archive / f"one/ours.seed{seed}.yy").read_text().splitlines() for seed in (1, 2)]
    for row, group in zip(rows, groups, strict=True):
        few = [[lines[index] for index in group] for lines in (REFERENCE, *runs)]
        scores = [corpus_bleu(run, few[:1], tokenize="none", force=True).score for run in few[1:]]
        assert row[3].startswith(f"{sum(scores) / 2:.2f} ± ")


def test_agreement_by_hand():
    one, other = map(parse_positions, ("0 1 2 3", "3 0 1 2"))
    assert kept.agreement(one, other, range(4)) == pytest.approx(0)
    assert kept.agreement(one, other, [1, 3]) == 1
    assert kept._agreement_of_links(*map(parse_alignment, ("0-0 1-1 2-2", "1-4 2-3")), 3) == -1


def test_what_is_not_kept_is_named(archive, capsys, monkeypatch):
    for options, message in (
        ("--systems none", "no system is called 'none', only: base, ours"),
        ("--trainings 7", "no archive one in recipes/*/translations has base.seed7.yy"),
    ):
        assert kept.main(["one", "--data", str(archive), *options.split()]) == 2
        assert message in capsys.readouterr().err
    monkeypatch.undo()
    assert archives.kept_files("no-such-archive", "report.json") == []
