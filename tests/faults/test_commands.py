"""Command lines that cannot be, would lose something or need too much memory: one line, status 2."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from preorder.cli import build_parser, main
from preorder.command_line import Parser, execute
from preorder.command_line.paths import check_paths
from preorder.learning.options import options_of
from preorder.methods.registry import all_options
from tests.support.running import environment
from tests.support.texts import content

SOURCE, TARGET, LINKS = "a b c\n" * 20, "x y z\n" * 20, "0-0 1-2 2-1\n" * 20


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("src", SOURCE), ("tgt", TARGET), ("align", LINKS), ("order", "0 2 1\n" * 20)):
        (tmp_path / name).write_text(text)
    (tmp_path / "corpus").mkdir()
    shutil.copy("src", "corpus/src")
    (tmp_path / "link").symlink_to("src")
    (tmp_path / "hard").hardlink_to("src")
    (tmp_path / "empty").mkdir()
    (tmp_path / "lang=en").mkdir()
    for name in ("lang=en/src", "src.classes", "corpus/src.gz"):
        shutil.copy("src", name)
    for name in ("trained", "mixed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.json").write_text('{"format": "onmt-preorder model"}')
    (tmp_path / "mixed" / "notes").write_text("mine")
    return tmp_path


TRAIN = "train --method btg --classes 0 --iterations 1 --held-out 0 --src src --align align"

ANNOTATE = "annotate --pos tgt --classes 2"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("align --src src --tgt tgt --out tgt", "tgt would be overwritten while it is needed"),
        ("gold --src src --align align --out src", "src would be overwritten"),
        ("gold --src src --align align --out link", "link would be overwritten"),
        ("gold --src src --align align --out hard", "hard would be overwritten"),
        ("gold --src src --align align --out corpus", "corpus: is a directory"),
        ("gold --src src --align align --out new/", "new/: is a directory"),
        ("gold --src src --align align --out none/out", "none/out: cannot be written: there is no folder"),
        ("gold --src src --align align --out /dev/full", "/dev/full: cannot be written: No space left on"),
        ("gold --src - --align - --out out", "only one file can come from standard input"),
        ("apply --model en-verb-final --annot - --trees - --out out", "only one file can come from standard"),
        ("show --src src --positions src --stanza-device gpu", "--stanza-device has no effect without"),
        (f"{TRAIN} --model corpus", "corpus: holds other things than a model"),
        (f"{TRAIN} --model mixed", "mixed: holds other things than a model"),
        (f"{TRAIN} --model .", "a model needs a directory of its own"),
        (f"{TRAIN} --model src", "src: exists and is not a directory"),
        (f"{TRAIN} --model=", "an empty path: name a directory for the model"),
        ("gold --src src --align align --out=", "an output has an empty path: name a file"),
        ("annotate --pos tgt --src src --out-dir=", "an output has an empty path: name a file"),
        ("gold --src= --align align", "'': cannot be read: No such file"),
        (f"{TRAIN} --model model --cross-fit 2 --cross-fit-out model/out", "there is no folder"),
        (f"{TRAIN} --model empty --cross-fit 2 --cross-fit-out empty/out", "holds empty/out: a model needs"),
        ("gold --src src --align align --out trained/x", "trained/x: a model's folder holds nothing else"),
        ("annotate --pos tgt --src src --out-dir trained/new/x", "trained/new/x: a model's folder holds"),
        (f"{TRAIN} --cross-fit 2 --model m --cross-fit-out trained/x", "trained/x: a model's folder holds"),
        (f"{TRAIN} --model trained/new", "trained/new: lies in a model's folder, which holds nothing else"),
        (f"{TRAIN} --model trained/new/deep", "trained/new/deep: lies in a model's folder, which holds"),
        ("annotate --pos tgt --src src --out-dir trained", "trained: a model's folder holds nothing else"),
        (f"{TRAIN} --model /proc/new", "/proc/new: cannot be written: "),
        (f"{TRAIN} --cross-fit 2 --model m --cross-fit-out /proc/new", "/proc/new: cannot be written: "),
        (f"{TRAIN} --model {'a' * 250}", "a.checkpoint: cannot be written: File name too long"),
        (f"{TRAIN} --model model --cross-fit 2 --cross-fit-out src", "src would be overwritten"),
        (f"{ANNOTATE} --src src --out out --pos-out out.classes", "out.classes would be overwritten"),
        ("swap --src src --pos corpus/src.gz --out-dir swapped", "swapped/src.0 would be overwritten"),
        ("swap --src src --pos stanza --out-dir swapped", "--pos stanza: swap reads tags from a file"),
        ("annotate --pos tgt --src src --pos-out /dev/stdout", "only one output can go to standard output"),
        (f"{TRAIN} --model model --cross-fit 2 --cross-fit-out -", "--cross-fit-out: name a file"),
        (f"{TRAIN} --model model --stanza-dir corpus", "--stanza-dir has no effect: files hold all tags and"),
        (
            "annotate --pos tgt --src src --out out --stanza-device gpu",
            "--stanza-device has no effect: files",
        ),
    ],
)
def test_nothing_is_lost(folder, capsys, command, message):
    before = content(folder)
    assert main(command.split()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert content(folder) == before


def test_the_target_of_annotated_text_may_come_from_standard_input(folder):
    arguments = build_parser().parse_args("train --annot src --tgt - --model model".split())
    check_paths(arguments.parser, arguments)


def test_what_may_be_overwritten(folder):
    for _ in range(2):
        assert main("gold --src src --align align --out out".split()) == 0
        assert main([*TRAIN.split(), "--model", "model"]) == 0
    assert main("gold --src src --align align --out /dev/null".split()) == 0
    assert main("gold --src lang=en/src --align align --out lang=en/out".split()) == 0
    assert (folder / "lang=en/out").read_text() == (folder / "out").read_text()


def run(command, stdout=subprocess.PIPE, **variables):
    """Run ``preorder`` by the shell."""
    line = ["sh", "-c", f"exec {sys.executable} -m preorder {command}"]
    done = subprocess.run(line, env=environment(**variables), stdout=stdout, stderr=subprocess.PIPE)
    return done.returncode, (done.stdout or b"").decode(), done.stderr.decode()


FULL = "standard output: No space left on device\n"


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("gold -q --src src --align align > /dev/full", 2, FULL),
        ("evaluate -q --align align --order order > /dev/full", 2, FULL),
        ("gold -v --src src --align align --out out 2>&-", 0, ""),
        ("gold -q --src src --align align --out out <&- >&-", 0, ""),
    ],
)
def test_standard_streams_that_are_full_or_closed(folder, command, status, message):
    assert run(command) == (status, "", message)
    assert (folder / "out").exists() == (status == 0)
    if status == 0:
        assert (folder / "out").read_text() == "a￨0 b￨2 c￨1\n" * 20


@pytest.mark.parametrize(
    "command", ["gold -q --src src --align align", "evaluate -q --align align --order order", "gold --help"]
)
def test_a_reader_that_has_had_enough_is_no_error(folder, command):
    reading, writing = os.pipe()
    os.close(reading)
    assert run(command, writing, PYTHONUNBUFFERED="") == (0, "", "")
    os.close(writing)


def test_a_reader_that_ends_before_the_other_output_is_written(folder):
    (folder / "src").write_text("a b c\n" * 50_000)
    (folder / "tags").write_text("A B C\n" * 50_000)
    reading, writing = os.pipe()
    os.close(reading)
    message = "standard output was closed too early: out may be missing\n"
    assert run("annotate -q --src src --pos tags --pos-out out", writing) == (2, "", message)
    os.close(writing)
    assert not (folder / "out").exists()


@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}])
def test_output_is_utf8_whatever_the_locale(folder, locale):
    (folder / "src").write_text("私 は\n", encoding="utf-8")
    (folder / "align").write_text("0-0 1-1\n")
    assert run("gold --src src --align align", **locale) == (0, "私￨0 は￨1\n", "")


BOUNDED = [f"--{name.replace('_', '-')}" for name, o in options_of(all_options()).items() if o.bounds[1]]
NUMBERS = {
    "train": ["--seed", "--threads", "--limit", "--max-length", "--held-out", "--cross-fit", *BOUNDED],
    "apply": ["--n-best", "--threads"],
    "annotate": ["--seed", "--workers"],
    "analyse length": ["--width", "--last", "--seed"],
    "show": ["--lines", "--sample", "--gain", "--worst", "--max-length"],
    "swap": ["--percent"],
    "align": ["--seed"],
}
"""Command → options whose values have bounds."""


@pytest.mark.parametrize(("command", "option"), [(name, one) for name in NUMBERS for one in NUMBERS[name]])
@pytest.mark.parametrize("value", ["-5", "x", "", "1" + "0" * 20, "9" * 5000])
def test_bounds(command, option, value, capsys):
    with pytest.raises(SystemExit) as caught:
        main([*command.split(), f"{option}={value}"])
    error = capsys.readouterr().err
    assert caught.value.code == 2
    assert re.search(f"argument {option}(/--line)?: ", error)
    assert error.count("\n") == 1
    assert len(error) < 250


# --- memory ---

LIMITED = """
import resource, sys
from preorder.cli import build_parser, main
train = "train -q --method btg --max-length 1000 --classes 0 --held-out 0 --iterations 1"
train += " --src {0} --align {0}.align --model {0}.model"
assert main(train.format("short").split()) == 0  # so that all is imported, compiled and started
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 300 * 2**20,) * 2)
sys.exit(main(train.format("long").split()))
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
def test_sizes_that_do_not_fit(tmp_path):
    """There is memory for the smaller one, and 300 MiB more."""
    for name, length in (("short", 3), ("long", 900)):
        (tmp_path / name).write_text(" ".join(map(str, range(length))) + "\n")
        (tmp_path / f"{name}.align").write_text(" ".join(f"{i}-{length - i}" for i in range(length)) + "\n")
    command = [sys.executable, "-c", LIMITED]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("not enough memory: ask for smaller sizes")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "long.model").exists()


def fail(error):
    """Run a command that fails; return its exit status."""

    def run(_):
        raise error

    parser = Parser()
    parser.set_defaults(run=run)
    return execute(parser, [])


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes."),
        RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB"),
        RuntimeError("can't start new thread"),
        ImportError("a.so: failed to map segment from shared object"),
        OSError("Could not find/load shared object file 'libllvmlite.so' from resource location: 'x'"),
    ],
)
def test_what_libraries_say(error, capsys):
    assert fail(error) == 2
    assert capsys.readouterr().err.startswith("not enough memory: ")


@pytest.mark.parametrize("error", [RuntimeError("memory"), ValueError("out of memory"), KeyError("x")])
def test_faults_of_the_program_keep_their_traceback(error):
    with pytest.raises(type(error)):
        fail(error)
