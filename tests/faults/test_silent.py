"""What would go unnoticed: another model for other threads, positions as words, layers that nothing uses."""

import json
import shutil
from pathlib import Path

import pytest

from preorder.analysis.report import read_manifest as read
from preorder.cli import main
from preorder.data.formats import parse_source
from preorder.errors import DataError
from preorder.methods.registry import METHODS
from tests.support.texts import content, write

ESCAPE = "\x1b[31m\x9b2J\u202e"
WORDS = [
    f"{subject} {verb} the {adjective} fish" for subject in "ab" for verb in "cde" for adjective in "fgh"
]
WORDS *= 4
TREE = "(S (NP (N {})) (VP (V {}) (NP (D {}) (NP (A {}) (N {})))))"
LINKS = "0-0 1-4 2-1 3-2 4-3"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("src"), *WORDS)
    write(Path("tgt"), *WORDS)
    write(Path("pos"), *["N V D A N"] * len(WORDS))
    write(Path("trees"), *(TREE.format(*line.split()) for line in WORDS))
    learned = [LINKS, "0-1 1-0 2-4 3-2 4-3", LINKS]  # nothing of it to the end
    write(Path("align"), *learned * (len(WORDS) // 3))
    write(Path("features"), *["a￨0 b￨2 c￨1"] * len(WORDS))
    write(Path("positions"), *["0 4 1 2 3"] * len(WORDS))
    return tmp_path


TRAIN = "train --align align --classes 3 --held-out 12 --model model --fresh --method".split()


def run(*argv, status=0):
    assert main(list(argv)) == status


SMALL = "--iterations 2 --minibatch 16"
SIZES = {
    "btg": SMALL,
    "neural-btg": f"{SMALL} --hidden 48 --depth 1",
    "rvnn": "--iterations 2 --minibatch 60 --size 128 --trees trees",
    "swap-lstm": f"{SMALL} --size 48 --trees trees",
}


@pytest.mark.parametrize("method", METHODS)
def test_the_same_bytes_with_any_number_of_threads(folder, method):
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    found = []
    for threads in (1, 3):
        torch.set_num_threads(threads)  # whatever the environment says
        run(*TRAIN, method, "--src", "src", *SIZES[method].split(), "--threads", str(threads))
        found.append(content(folder / "model"))
    torch.set_num_threads(before)
    assert found[0] == found[1]
    assert '"threads"' not in found[0]["model.json"].decode()


@pytest.mark.parametrize(
    "command",
    [
        f"{' '.join(TRAIN)} btg --src features",
        f"{' '.join(TRAIN)} btg --src features --pos pos",
        "apply --model en-verb-final --src features",
        "show --model en-verb-final --src features",
        "gold --src features --align align",
        "align --src features --tgt tgt --out none",
    ],
)
def test_positions_are_not_taken_for_words(folder, capsys, command):
    run(*command.split(), status=2)
    error = capsys.readouterr().err
    assert "features:1: has token￨position already: give the plain text that these were made from" in error
    assert error.count("\n") == 1
    assert not Path("model").exists()


@pytest.mark.parametrize("line", ["a￨0", "a￨0 b￨7 c￨7", "a￨0￨1 b￨1￨1", "￨￨0", "a￨_ b￨0"])
def test_lines_with_positions(line):
    with pytest.raises(DataError, match="has token￨position already"):
        parse_source(line)


@pytest.mark.parametrize("line", ["", "a ￨ b", "a￨0 b", "￨", "￨0", "￨_", "a￨b", "a￨", "a&#65512;0"])
def test_tokens_that_hold_the_separator_are_words(line):
    assert parse_source(line).words == tuple(line.split())


@pytest.mark.parametrize(
    ("trained", "applied", "unused"),
    [
        ([], ["--pos", "pos"], ["--pos"]),
        ([], ["--trees", "trees"], ["--trees"]),
        ([], ["--pos", "pos", "--trees", "trees"], ["--pos", "--trees"]),
        (["--pos", "pos"], ["--pos", "pos"], []),
        (["--pos", "pos"], ["--trees", "trees"], []),  # its tags
        (["--pos", "pos"], ["--pos", "pos", "--trees", "trees"], ["--trees"]),
    ],
)
def test_layers_that_a_model_does_not_use_are_named_once(folder, capsys, trained, applied, unused):
    run(*TRAIN, "btg", "--iterations", "1", "--src", "src", *trained)
    for command in (["apply", "--out", "out"], ["show"]):
        capsys.readouterr()
        run(*command, "--model", "model", "--src", "src", *applied)
        told = [line for line in capsys.readouterr().err.splitlines() if "is not used" in line]
        assert told == [f"{name} is not used: the model was trained without it" for name in unused]


SCORE = "score --ref tgt --hyp {0}=src {0}2=src --metrics ribes"
EXAMPLES = "analyse examples --src src2 --ref tgt --hyp {0}=src {0}2=src2"


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("show --src src2 --positions positions", 0),
        (f"{SCORE},bleu,ter --baseline {{0}}", 0),
        (EXAMPLES, 0),
        ("analyse length --src src2 --ref tgt --hyp {0}=src --metrics ribes", 0),
        ("analyse gain --ref tgt --hyp {0}=src --positions {0} --align align --metrics ribes", 0),
        ("apply --model {0} --src src", 2),
        ("gold --src {0}none --align align", 2),
    ],
)
def test_nothing_steers_the_terminal(folder, capsys, command, status):
    write(Path("src2"), *(f"{ESCAPE}a b the g fish" for _ in WORDS))
    shutil.copy("positions", ESCAPE)
    run(*(part.replace("{0}", ESCAPE) for part in command.split()), status=status)
    printed = "".join(capsys.readouterr())
    assert not {"\x1b", "\x9b", "\u202e"} & set(printed)


@pytest.fixture
def run_folder(tmp_path):
    (tmp_path / "outside").write_text("secret\n")
    inside = tmp_path / "run"
    (inside / "inner").mkdir(parents=True)
    (inside / "link").symlink_to("../outside")
    (inside / "inner-link").symlink_to("..")
    (inside / "link-to-link").symlink_to("link")
    (inside / "text").write_text("a\n")
    return inside


PLACES = "/etc/passwd ../outside inner/../../outside link inner-link/outside \0 link-to-link".split(" ")
MANIFEST = {"title": "A", "source": "text", "references": ["text"], "systems": {"a": {"runs": ["text"]}}}


@pytest.mark.parametrize("place", PLACES)
def test_a_report_reads_its_own_folder_only(run_folder, place):
    path, reason = run_folder / "report.json", "lies outside of the folder; with `also` it may be|is no path"
    for changes in (
        {"source": place},
        {"references": ["text", place]},
        {"alignment": place},
        {"systems": {"a": {"runs": [place]}}},
        {"systems": {"a": {"runs": ["text"], "positions": place}}},
        {"robustness": place},
    ):
        path.write_text(json.dumps(MANIFEST | changes))
        with pytest.raises(DataError, match=reason):
            read(path)


def test_a_report_reads_what_the_command_line_names(run_folder, capsys):
    (run_folder / "report.json").write_text(json.dumps(MANIFEST | {"references": ["link"]}))
    run("report", str(run_folder), status=2)
    assert "--also" in capsys.readouterr().err
    for also in ("outside", "."):
        run("report", str(run_folder), "--also", str(run_folder.parent / also))
