"""What a user's files can do wrong, command by command: one clear line and status 2, or handled."""

import time

import pytest

from preorder.cli import main
from preorder.data.formats import parse_features, parse_positions

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
PAIRED = [(command, file) for command, file in READS if command != "apply"]
USES_LINKS = [command for command, file in READS if file == "links"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Give a preorderer that was trained on the two sentences."""
    folder = tmp_path_factory.mktemp("model")
    for name in ("source", "links"):
        (folder / name).write_text(FILES[name])
    command = ["train", "--method", "btg", "--src", str(folder / "source"), "--align", str(folder / "links")]
    assert main([*command, "--classes", "0", "--iterations", "2", "--model", str(folder / "model")]) == 0
    return folder / "model"


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
def refuses(run, tmp_path):
    """Give a function that checks that a command tells in a line what is wrong where, and writes nothing."""

    def refuses(command, message, **changed):
        status, output = run(command, **changed)
        assert (status, output.out) == (2, "")
        assert output.err.startswith(f"{tmp_path}/{message}")
        assert output.err.count("\n") == 1
        assert not (tmp_path / "out").exists()

    return refuses


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.mark.parametrize("command", COMMANDS)
def test_good_files_are_good(run, command):
    assert run(command)[0] == 0


@pytest.mark.parametrize(("command", "file"), READS)
def test_a_file_that_is_not_there(refuses, command, file):
    refuses(command, f"{file}: cannot be read: No such file or directory", **{file: None})


@pytest.mark.parametrize(("command", "file"), PAIRED)
def test_a_file_that_ends_early(refuses, command, file):
    first_line = FILES[file].splitlines(keepends=True)[0]
    refuses(command, f"{file}:2: the file ends after 1 lines", **{file: first_line})


@pytest.mark.parametrize("command", USES_LINKS)
@pytest.mark.parametrize("link", ["3-0", "99999999999-0"])
def test_a_link_out_of_range(refuses, command, link):
    refuses(command, f"links:2: link {link} is out of range", links=f"0-0\n{link}\n")


@pytest.mark.parametrize(("command", "file"), READS)
def test_text_that_is_not_utf8(refuses, command, file):
    first, second = FILES[file].encode().splitlines(keepends=True)
    damaged = first + second[:2] + b"\xff" + second[2:]
    refuses(command, f"{file}:2: not valid UTF-8 (byte 3 of the line)", **{file: damaged})


TEXTS = [(c, f) for c, f in READS if f in ("source", "target") and c != "score"]


@pytest.mark.parametrize(("command", "file"), TEXTS)
def test_a_table_in_place_of_a_text(refuses, command, file):
    table = FILES[file].replace("\n", "\tX Y X\n")
    refuses(command, f"{file}:1: a tab in the line: words<TAB>tags are for --annot", **{file: table})


@pytest.mark.parametrize(("command", "file"), TEXTS)
def test_a_tab_in_a_later_line_is_a_space(run, command, file):
    first, second = FILES[file].splitlines(keepends=True)
    assert run(command, **{file: first + second.replace(" ", "\t")})[0] == 0


@pytest.mark.parametrize("mark", "_/|")
def test_words_with_their_tags_in_place_of_tags(refuses, mark):
    tags = "".join(f"a{mark}X b{mark}Y c{mark}X\n" for _ in range(2))
    message = f"tags:1: words and tags, as in 'a{mark}X': give the tags alone"
    refuses("train with tags", message, tags=tags)


@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("align", "source"),
        ("train", "source"),
        ("train with tags", "source"),
        ("train on a bitext", "source"),
        ("evaluate", "links"),
        ("score", "target"),
    ],
)
def test_empty_files_where_something_is_to_be_learned_or_measured(refuses, command, first):
    refuses(command, f"{first}: the file is empty", **dict.fromkeys(FILES, ""))


@pytest.mark.parametrize("command", ["gold", "apply"])
def test_empty_files_where_each_line_is_done_by_itself(run, out, command):
    assert run(command, **dict.fromkeys(FILES, ""))[0] == 0
    assert out.read_text() == ""


@pytest.mark.parametrize("damage", ["folder", "model.json", "weights.safetensors", "not JSON"])
def test_a_missing_or_damaged_model(model, tmp_path, capsys, damage):
    copy = tmp_path / "model"
    copy.mkdir()
    for path in model.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    match damage:
        case "folder":
            copy = tmp_path / "nowhere"
        case "not JSON":
            (copy / "model.json").write_text("{")
        case _:
            (copy / damage).unlink()
    (tmp_path / "source").write_text(FILES["source"])
    assert main(["apply", "--model", str(copy), "--src", str(tmp_path / "source")]) == 2
    error = capsys.readouterr().err
    file = damage if damage == "weights.safetensors" else "model.json"
    assert error.startswith(f"{copy}/{file}:")
    assert error.count("\n") == 1


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
        assert parse_positions(" ".join(map(str, permutation.positions))) == permutation
