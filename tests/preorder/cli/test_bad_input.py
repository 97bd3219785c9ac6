"""What a user's files can do wrong, command by command: one clear line and status 2, or handled."""

import time

import pytest

from preorder.cli import main
from preorder.data.formats import parse_features
from tests.support.tiny_model import train_tiny

# A command line in which each word that is a name of FILES stands for that file.
COMMANDS = {
    "align": "align --src source --tgt target --out out",
    "gold": "gold --src source --align links --out out",
    "train": "train --method btg --src source --align links --classes 0 --model out",
    "train with tags": "train --method btg --src source --pos tags --align links --classes 0 --model out",
    "train with trees": "train --method btg --src source --trees trees --align links --classes 0 --model out",
    "train on a bitext": "train --method btg --src source --tgt target --classes 0 --model out",
    "apply": "apply --model model --src source --out out",
    "evaluate": "evaluate --align links --positions positions",
    "score": "score --ref target --hyp source",
}
FILES = {
    "source": "a b c\nc b a\n",
    "target": "C B A\nA B C\n",
    "links": "0-2 1-1 2-0\n0-2 1-1 2-0\n",
    "positions": "2 1 0\n2 1 0\n",
    "tags": "X Y X\nX Y X\n",
    "trees": "(S (X a) (Y b) (X c))\n(S (X c) (Y b) (X a))\n",
}
READS = [(command, word) for command, line in COMMANDS.items() for word in line.split() if word in FILES]
TEXTS = [(c, f) for c, f in READS if f in ("source", "target") and c != "score"]
LEARN_OR_MEASURE = {"align": "source", "train": "source", "train with tags": "source", "score": "target"}


def wrong():
    """Yield a command, what it says, and the content of a file (None: there is none) of which it says so."""
    for command, file in READS:
        first, second = FILES[file].encode().splitlines(keepends=True)
        yield command, f"{file}: cannot be read: No such file or directory", {file: None}
        damaged = first + second[:2] + b"\xff" + second[2:]
        yield command, f"{file}:2: not valid UTF-8 (byte 3 of the line)", {file: damaged}
        if command != "apply":
            yield command, f"{file}:2: the file ends after 1 line", {file: first}
        if file == "links":
            for link in ("3-0", "99999999999-0"):
                yield command, f"links:2: link {link} is out of range", {file: f"0-0\n{link}\n"}
        if (command, file) in TEXTS:
            message = f"{file}:1: a tab in the line: words<TAB>tags are for --annot"
            yield command, message, {file: FILES[file].replace("\n", "\tX Y X\n")}
    for command, file in LEARN_OR_MEASURE.items():
        yield command, f"{file}: the file is empty", dict.fromkeys(FILES, "")
    for mark in ("_", "/", "|", ":", "￨", "#", "^", "||", "\N{KATAKANA MIDDLE DOT}"):
        tags = f"a{mark}X b{mark}Y c{mark}X\n" * 2
        message = f"tags:1: words and tags, as in 'a{mark}X': give the tags alone"
        yield "train with tags", message, {"tags": tags}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return train_tiny(tmp_path_factory.mktemp("model"), classes=0)


@pytest.fixture
def run(tmp_path, model, capsys):
    """Give a function that runs a command on files with content given (None: no file), the others good."""

    def run(command, **changed):
        for name, content in (FILES | changed).items():
            if content is not None:
                (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        paths = {name: str(tmp_path / name) for name in (*FILES, "out")} | {"model": str(model)}
        status = main([paths.get(word, word) for word in COMMANDS[command].split()])
        return status, capsys.readouterr()

    return run


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.mark.parametrize("command", COMMANDS)
def test_good_files_are_good(run, command):
    assert run(command)[0] == 0


@pytest.mark.parametrize(("command", "message", "changed"), list(wrong()))
def test_one_line_says_what_is_wrong_where(run, tmp_path, command, message, changed):
    status, output = run(command, **changed)
    assert (status, output.out) == (2, "")
    assert output.err.startswith(f"{tmp_path}/{message}")
    assert output.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["gold", "apply"])
def test_empty_files_where_each_line_is_done_by_itself(run, out, command):
    assert run(command, **dict.fromkeys(FILES, ""))[0] == 0
    assert out.read_text() == ""


LONG = 2000


@pytest.mark.parametrize("command", ["align", "gold", "train", "apply", "evaluate", "score"])
def test_a_very_long_line(run, out, command):
    words = FILES["source"] + " ".join(["a", "b", "c"] * LONG)[: 2 * LONG - 1] + "\n"
    last = words.splitlines()[-1]
    assert len(last.split()) == LONG
    begin = time.process_time()
    status, _ = run(
        command,
        source=words,
        target=FILES["target"] + last.upper() + "\n",
        links=FILES["links"] + " ".join(f"{i}-{LONG - 1 - i}" for i in range(LONG)) + "\n",
        positions=FILES["positions"] + " ".join(map(str, reversed(range(LONG)))) + "\n",
    )
    assert status == 0
    assert time.process_time() - begin < 60
    if command in ("gold", "apply"):
        tokens, permutation = parse_features(out.read_text().splitlines()[-1])
        assert " ".join(tokens) == last
        assert command == "apply" or permutation.positions == tuple(range(LONG))[::-1]
