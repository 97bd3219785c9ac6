"""``preorder apply`` by compiled code, a block at a time, beside the same by sentences."""

import random

import pytest

from preorder.cli import main
from preorder.io import files
from preorder.methods.block_order import BlockOrderer

FORMATS = ("features", "positions", "order", "text", "tree")

ODD = ["￨", "a￨1", "&#65512;", "&", "#1;", "\u3000", "a\u00a0b", "\u2028", "\u205f", "\u1680", "\x85", "x\ry"]
PLAIN = ["S1", "V2", "O3", "der", "語", "𝄞", "“", "–", "é", "[a]", "<", "\\", "x" * 300, "あ\u3042"]
PLAIN += ["İI", "ΑΣ", "Σ", "ẞ"]  # other lengths or letters in lower case
SPACES = [" ", "  ", "\t", " \t "]


def made_up(lines, words, seed=1):
    """Return lines with any number of any words, some of them empty, some with white space at their ends."""
    generator = random.Random(seed)
    for _ in range(lines):
        parts = generator.choices(words, k=generator.choice((0, 1, 2, 5, 12)))
        line = generator.choice(SPACES).join(parts)
        yield generator.choice(("", "", " ")) + line + generator.choice(("", "", " ", "\r"))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Give models of words and classes, and of words and tags; "lower…" have learned from no capitals."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "src").write_text("S1 V2 O3\nS2 V3 語\n" * 29 + "İI ΑΣ Σ\nẞ V3 O3\n")
    (folder / "pos").write_text("N V N\n" * 60)
    (folder / "align").write_text("0-0 1-2 2-1\n" * 60)
    common = (
        f"train -q --method btg --iterations 2 --src {folder}/src --align {folder}/align --model {folder}/"
    )
    assert main(f"{common}classes --classes 3".split()) == 0
    assert main(f"{common}tags --classes 0 --pos {folder}/pos".split()) == 0
    assert main(f"{common}lower --lowercase --classes 0 --pos {folder}/pos".split()) == 0
    assert main(f"{common}lower_classes --lowercase --classes 3".split()) == 0
    return folder


@pytest.fixture
def both(monkeypatch, capfd, tmp_path):
    """Give a function that applies a model both ways: status, standard error, and the output as bytes."""

    def both(*arguments):
        results = []
        for is_bulk in (True, False):
            with monkeypatch.context() as patch:
                patch.setattr(files.read_blocks, "__defaults__", (100,))
                if not is_bulk:
                    patch.setattr("preorder.cli.apply.can_order_blocks", lambda *_: False)
                out = tmp_path / "out"
                status = main(["apply", "--threads", "2", *map(str, arguments), "--out", str(out)])
            said = capfd.readouterr().err.splitlines(keepends=True)
            error = "".join(line for line in said if not line.startswith("compiling"))  # at first, or not
            results.append((status, error, out.read_bytes() if out.exists() else None))
            out.unlink(missing_ok=True)
        return results

    return both


@pytest.mark.parametrize("model", ["classes", "lower_classes"])
@pytest.mark.parametrize("name", FORMATS)
def test_the_same_bytes_for_plain_text(models, both, tmp_path, name, model):
    long = " ".join(f"w{i}" for i in range(600))  # is parsed in pieces
    lines = ["\ufeffS1 V2", "&#91;", *made_up(200, PLAIN), long, *made_up(100, PLAIN + ODD, 2), "no end"]
    (tmp_path / "src").write_bytes("\n".join(lines).encode())
    found, expected = both("--model", models / model, "--src", tmp_path / "src", "--format", name)
    assert found == expected
    assert found[0] == 0
    assert found[2].count(b"\n") == 304
    assert ("is written as" in found[1]) == (name == "features")


@pytest.mark.parametrize("layers", ["", "\tN V N"])
def test_capitals_are_no_reason_to_leave_compiled_code(models, tmp_path, monkeypatch, layers):
    """By a model that has learned from none."""
    order, found = BlockOrderer.__call__, []

    def watched(*given):
        found.append(order(*given))
        return found[-1]

    monkeypatch.setattr(BlockOrderer, "__call__", watched)
    (tmp_path / "text").write_text(f"s1 V2 o3{layers}\n")
    given = f"lower --annot {tmp_path}/text" if layers else f"lower_classes --src {tmp_path}/text"
    assert main(f"apply --model {models}/{given} --out {tmp_path}/out".split()) == 0
    assert found[0] is not None


WRONG = {
    "positions already": ({"src": "S1￨0 V2￨1\n", "pos": "N V\n"}, "src:31: has token￨position already"),
    "a tag too few": ({"src": "a b\n", "pos": "N\n"}, "pos:31: 1 POS tags for 2 words"),
    "no UTF-8": ({"src": b"a \xff\n", "pos": "N V\n"}, "src:31: not valid UTF-8 (byte 3 of the line)"),
    "tags end early": ({"src": "a\nb\n", "pos": "N\n"}, "pos:32: the file ends after 31 lines"),
    "words end early": ({"pos": "N\n"}, "src:31: the file ends after 30 lines"),
    "two errors": ({"src": b"a b\na \xff\n", "pos": "N\n"}, "pos:31: 1 POS tags for 2 words"),
    "a column too many": ({"annot": "a\tN\tN\tN\n"}, "annot:31: 4 tab-separated fields where"),
    "a column too few": ({"annot": "a\tN\n"}, "annot:31: 2 tab-separated fields where"),
    "a column too short": ({"annot": "a b\tN N\tN\n"}, "annot:31: 1 word classes for 2 words"),
    "a table": ({"src": "\n\nS1 V2\tN V\n", "pos": "\n\nN V\n", "before": ""}, "src:3: a tab in the line"),
    "words in tags": ({"src": "\nS1 V2\n", "pos": "\nS1_N V2_V\n", "before": ""}, "pos:2: words and tags"),
    "blanks alone": ({"annot": " \n"}, "annot:31: 1 tab-separated fields where"),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_same_errors(models, both, tmp_path, case):
    changed, message = WRONG[case]
    good = {"annot": "a b\tN V\t1 2\n"} if "annot" in changed else {"src": "a b\n", "pos": "N V\n"}
    options = []
    for name, line in good.items():
        more = changed.get(name, "")
        more = more if isinstance(more, bytes) else more.encode()
        before = changed.get("before", line * 30)  # whether a file is of another kind its first words show
        (tmp_path / name).write_bytes(before.encode() + more)
        options += [f"--{name}", tmp_path / name]
    found, expected = both("--model", models / "tags", *options)
    assert found == expected
    assert found[0] == 2
    assert found[1].startswith(f"{tmp_path}/{message}")
    assert found[2] is None
