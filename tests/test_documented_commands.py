"""Every command in the documents: its options exist, and it runs, the long ones shortened."""

import argparse
import contextlib
import importlib
import itertools
import re
import shutil
import subprocess
import sys
import unittest.mock
from pathlib import Path

import pytest
import yaml

import onmt_preorder.cli
import preorder.cli
from onmt_preorder.base_configuration import merge, read_files
from preorder_recipes.configuration import read_system
from preorder_recipes.synthetic import generate
from tests.support.opennmt import call
from tests.support.running import ROOT, environment

PROGRAMS = ("preorder", "onmt_preorder", "onmt_build_vocab", "onmt_train", "onmt_translate", "onmt_server")
MODULES = r"python -m ((?:preorder_recipes|benchmarks)\.[\w.]+)"
PAGES = [
    *(Path("docs") / name for name in sorted(path.name for path in (ROOT / "docs").glob("*.md"))),
    Path("README.md"),
    Path("config/README.md"),
    Path("preorder/models/README.md"),
    *sorted(path.relative_to(ROOT) for path in (ROOT / "recipes").glob("*/*.md")),
]
HELP = {"preorder": preorder.cli.EPILOG}
HELP["onmt_preorder"] = "".join(
    getattr(onmt_preorder.cli, f"EXAMPLES{of}") for of in ("", "_OF_BEST", "_OF_RUN")
)
for name in preorder.cli.COMMANDS:
    HELP[name] = importlib.import_module(f"preorder.cli.{name}").EXAMPLES
PAGES += HELP  # the indented lines of help texts are commands, too
OTHERS = {"--preorder": ("preorder", ("train",)), "--onmt": ("onmt_translate", ())}
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_INDENTED = re.compile(r"(?:(?<=\n\n)|(?<=:\n))((?:    .*\n)+)")
_SUBSTITUTED = re.compile(r"\$\(([^()]*)\)")
_PARTS = re.compile(r"[|;&]|\bdo\b")
_FIRST = re.compile(
    rf"^(?:\$ )?(?:{'|'.join(PROGRAMS)}|python|recipes/\w+\.sh|make|git|for|\(cd|curl|cd|source|PYTHON=\S+) ",
    re.M,
)
_OF_HELP = re.compile(r"^ +((?:preorder|onmt_\w+|zcat|echo|curl|PYTHONPATH=\S+) .*)", re.M)


def _text(page):
    if page not in HELP:
        return (ROOT / page).read_text(encoding="utf-8")
    return "\n".join(("```", *_OF_HELP.findall(re.sub(r"\\\n\s*", " ", HELP[page])), "```\n"))


def _is_shell(block):
    return _FIRST.search(block) is not None and not block.startswith("config/")


def blocks(page, languages=("", "bash")):
    """Return the blocks of commands of a page; of one in which commands follow a ``$``, these alone."""
    text = _text(page)
    fenced = [body for language, body in _FENCED.findall(text) if language in languages]
    indented = [re.sub("^    ", "", body, flags=re.M) for body in _INDENTED.findall(_FENCED.sub("", text))]
    found = [body for body in (*fenced, *indented) if _is_shell(body)]
    shown = [re.findall(r"^\$ (.*\n)", body, re.M) for body in found]
    return ["".join(lines) or body for lines, body in zip(shown, found, strict=True)]


def commands(block):
    """Return the commands of a block, one a line, without comments; a loop is one command."""
    text = re.sub(r"<<END\n.*?^END$", "", block, flags=re.M | re.S)
    text = re.sub(r"(?<=\s)#.*", "", re.sub(r"\\\n\s*|(?<=\|)\n\s*", " ", text))
    text = re.sub(r"^for [^\n]*do\n.*?^done$", _loop, text, flags=re.M | re.S)
    return [line.strip() for line in text.splitlines() if line.strip()]


def _loop(match):
    return re.sub(r"\s*\n\s*", "; ", match[0]).replace("; do; ", "; do ")


def mentions(page):
    """Return all that a page says of our programs: the parts of its commands, and code within a line."""
    inline = re.findall(r"`([^`]+)`", _FENCED.sub("", _text(page)))
    whole = [*(command for block in blocks(page) for command in commands(block)), *map(_one_line, inline)]
    whole += [inner for one in whole for inner in _SUBSTITUTED.findall(one)]
    return [part.strip() for one in whole for part in _PARTS.split(_SUBSTITUTED.sub("X", one))]


def _one_line(code):
    return " ".join(code.split())


def calls_of(mention):
    """Return the calls of a mention: program or module, words of a subcommand, options.

    One or none, or two: what follows ``--preorder`` and ``--onmt`` are options of another.
    """
    if not (match := re.match(rf"(?:{MODULES}|({'|'.join(PROGRAMS)}))(?=\s|$)(.*)", mention)):
        return []
    rest, *passed_on = re.split(" (--preorder|--onmt) ", match[3], maxsplit=1)
    words = " ".join((rest, *passed_on[:1])).replace("analyse KIND", "analyse gain").split()  # any kind
    subcommand = ()
    if match[2] in ("preorder", "onmt_preorder"):
        own = itertools.takewhile(lambda word: word.isalpha() and word.islower(), words)
        subcommand = tuple(own)[: 1 + (words[:1] == ["analyse"])]  # which has subcommands itself
    calls = [(match[1] or match[2], subcommand, _options(words))]
    if passed_on:
        flag, options = passed_on
        calls.append((*OTHERS[flag], _options(options.split())))
    return calls


def _options(words):
    return {word.strip("()").partition("=")[0] for word in words if re.match(r"\(?--?[A-Za-z]", word)}


NOT_RUN = (
    *("recipes/syntax.sh", "recipes/kftt/orders.sh", "DATA_FOLDER"),  # need a corpus and hours
    *(
        "preorder_recipes.pydocs.prepare",
        "preorder_recipes.papers --no-training",
        "ja.model",
        "ja/all.en",
        "--run RUN",
        "cp -r RUN ADAPTED",
        "--model MODEL",
    ),  # need a corpus
    *("kftt.en enja.en", "tr/test"),  # need other texts
    *("for side in en ja; do cat", "for side in en de; do", "runs/kftt", "/translations"),  # need a corpus
    *("> all.en", "--src all.en", "all.align > train.align", "--held-out 0 --weights"),  # need it all
    *("--lang ", "--stanza-dir models", "--method btg --annot train.annot"),  # need models of Stanza's
    "PYTHONPATH=",  # needs a folder of packages: tests/onmt_preorder
    "--tokenize en,ja",  # needs a model of Stanza
    "--device cuda",  # needs a GPU
    *("cityhash", "topdown-btg-preordering", "git clone"),  # download something
    *("make ", "pip install"),  # change the environment
    "python -m benchmarks.btg",  # needs the programs that it compares with
    "benchmarks.training --size paper",  # takes gigabytes
    "s3://bucket",  # needs an object store
    *("curl ", "preorder serve"),  # need a running server, or are one
    "preorder_recipes.run --host eole",  # needs eole
    "preorder report ",  # needs a run
    "--engine ray",  # starts a Ray or needs a cluster
)
"""Parts of commands that are not run here; most of them have tests of their own."""
ELSEWHERE = ("README.md", "docs/benchmarks.md")  # run by tests of their own: test_docs.py, benchmarks

SHORTER = f"""\
set -euo pipefail
DATA='{{train: {{path_src: train.features, path_tgt: train.ja}},
        valid: {{path_src: dev.features, path_tgt: dev.ja}}}}'
preorder() {{
    case "$1 ${{2:-}}" in
        train\\ *) set -- "$@" --iterations 1 ;;
        swap\\ * | analyse\\ robustness) set -- "$@" --percent 0,100 ;;
    esac
    command preorder "$@"
}}
onmt_train() {{
    set -- "$@" -train_steps 2 -valid_steps 1 -save_checkpoint_steps 1
    command onmt_train "$@" -bucket_size 40 -num_workers 0
}}
onmt_build_vocab() {{ command onmt_build_vocab "$@" -num_threads 1; }}
seq() {{ command seq 0 100 100; }}
python() {{
    case "$2" in
        preorder_recipes.synthetic.generate) set -- "$@" --pairs 60 --held 10 ;;
        preorder_recipes.run | preorder_recipes.start)
            set -- "$@" --systems preorder_relative --cross-fit 2
            set -- "$@" --steps 2 --size tiny --set bucket_size=60 ;;
        benchmarks.training) set -- "$@" --rounds 1 --steps 1 --size tiny --batch 64 ;;
        benchmarks.attention) set -- "$@" --lengths 8 ;;
    esac
    {sys.executable} "$@"
}}
"""


PARTS = (("train", "train"), ("valid", "dev"))
MODELS = (  # system, size, the checkpoint's name, the ending of its source
    ("preorder_relative", "tiny", "ours", "features"),
    ("baseline_absolute_relative", "tiny", "base", "en"),
    ("exgre", "tiny", "model", "features"),
    ("rnnsearch", "small", "rnnsearch", "en"),
    ("distortion_hidden", "small", "distortion", "en"),
    ("npmt", "tiny", "npmt", "en"),
)
PREPARED = """
preorder train --method btg --src train.en --align train.align --model model --classes 8
for part in train dev test; do
    preorder apply --model model --src $part.en --out $part.features
    preorder annotate --src $part.en --pos $part.en.pos --out $part.annot
done
cp train.annot PAIR.train.annot; cp train.align PAIR.train.align
cp test.annot PAIR.held.annot; cp test.align PAIR.held.align
preorder apply --model model --src test.en --format positions --out test.pos
preorder gold --src test.en --align test.align --format order --out test.order
cp test.pos positions; cp test.pos test.positions; cp test.pos btg.positions
cp test.align gold.align; cp test.align en-ja.align; sed 's/.*/1-1/' test.align > gold.from-one
for name in test.de test.en.raw test.raw my.en; do cp test.en $name; done
for name in base.ja btg.ja llm.ja my.ja test.ja.1 test.ja.2; do cp test.ja $name; done
tac test.ja > ours.ja; cp train.ja train.de
for side in en ja align; do head -n 30 train.$side > hand.$side; done; cp hand.ja hand.unidic.ja
for pair in ja tr; do cp train.align $pair.align; cp train.en $pair.en; done
mkdir run in tags base ours swapped
for i in 1 2 3; do
    gzip -c test.en > in/$i.en.gz; gzip -c test.en.pos > tags/$i.pos.gz
    cp base.ja base/seed$i.ja; cp ours.ja ours/seed$i.ja
done
for name in base ours btg; do
    for p in 0 100; do cp $name.ja swapped/$name.$p; cp $name.ja swapped/$name.$p.ja; done
done
cp in/1.en.gz big.en.gz
"""
BEFORE = {  # what a page has from another place
    "docs/confidences.md": r"sed 's/[0-9]*-[0-9]*/&:0.5/g' train.align > weighted.align" "\n",
    "docs/transfer.md": "cp train.en.pos ja.en.pos; cp model/classes.txt all.annot.classes\n",
    "docs/models.md": "preorder gold --src test.en --align test.align --unaligned keep --out test.gold\n"
    'DATA="${DATA//.features/.en}"\n',
}


def is_run(command):
    return not any(part in command for part in NOT_RUN)


def test_what_is_not_run_is_still_there():
    found = [command for page in PAGES for block in blocks(page) for command in commands(block)]
    assert not [part for part in NOT_RUN if not any(part in command for command in found)]


def options_of(program, subcommand):
    """Return the options that a program has: those of the parser that is asked for help."""
    ours = {"preorder": preorder.cli, "onmt_preorder": onmt_preorder.cli}
    name = re.sub("^onmt_", "onmt.bin.", program)
    module = ours[program] if program in ours else importlib.import_module(name)
    arguments, known = [*subcommand, "--help"], []

    def ask(parser):
        known.extend(option for action in parser._actions for option in action.option_strings)

    with (
        unittest.mock.patch.object(sys, "argv", [program, *arguments]),
        unittest.mock.patch.object(argparse.ArgumentParser, "print_help", ask),
        contextlib.suppress(SystemExit),
    ):
        module.main(arguments) if program in ours else module.main()
    return {*known}


def test_every_option_that_the_documents_name_exists():
    known, wrong = {}, []
    calls = [(page, call) for page in PAGES for mention in mentions(page) for call in calls_of(mention)]
    assert len(calls) > 150
    for page, (program, subcommand, options) in calls:
        if (program, subcommand) not in known:
            known[program, subcommand] = options_of(program, subcommand)
            assert known[program, subcommand], (page, program, subcommand)
        called = " ".join((program, *subcommand))
        wrong += [f"{page}: {called}: {option}" for option in options - known[program, subcommand]]
    assert not wrong


def train(folder, system, size, name, source):
    data = {part: {"path_src": f"{file}.{source}", "path_tgt": f"{file}.ja"} for part, file in PARTS}
    options = {"train_steps": 1, "valid_steps": 1, "save_checkpoint_steps": 1, "bucket_size": 60}
    options |= {"src_vocab": f"{name}.src", "tgt_vocab": f"{name}.tgt", "save_data": name, "save_model": name}
    config = read_system(system, size).options | options | {"data": data}
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    call(folder, "onmt_build_vocab", "-config", f"{name}.yaml", "-n_sample", "-1")
    call(folder, "onmt_train", "-config", f"{name}.yaml")
    shutil.copy(folder / f"{name}_step_1.pt", folder / f"{name}.pt")


def bash(folder, script):
    command, pipes = ["bash", "-c", SHORTER + script], {"capture_output": True, "text": True}
    done = subprocess.run(command, cwd=folder, env=environment(), **pipes, check=False)
    assert done.returncode == 0, f"{script}\n{done.stdout[-1000:]}{done.stderr[-3000:]}"


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A folder with the files that the documents name: texts, preorderers, models."""
    pytest.importorskip("eflomal")
    folder = tmp_path_factory.mktemp("made") / "workplace"
    assert generate.main(["--out", str(folder), "--pairs", "60", "--held", "12"]) == 0
    for path in [*folder.iterdir()]:
        path.rename(folder / path.name.replace("svo", "en").replace("sov", "ja"))
    bash(folder, PREPARED)
    for model in MODELS:
        train(folder, *model)
    for name in ("run/model.pt", "run/model_step_3250.pt", "a.pt", "b.pt"):
        shutil.copy(folder / "ours.pt", folder / name)
    for side in ("src", "tgt"):
        shutil.copy(folder / f"ours.{side}", folder / f"run/{side}")
    return folder


def to_run(page):
    """Return the commands to run; those of bash blocks are run by test_docs.py."""
    return [command for block in blocks(page, ("",)) for command in commands(block) if is_run(command)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if str(page) not in ELSEWHERE and to_run(page)], ids=str
)
def test_commands_run(page, workplace, tmp_path):
    shutil.copytree(workplace, tmp_path / "here")
    script = "\n".join(to_run(page)).replace(" …", "").replace(" DIR ", " fresh ")
    bash(tmp_path / "here", BEFORE.get(str(page), "") + script)


def test_a_file_that_builds_on_configurations(tmp_path):
    """The example of config/README.md."""
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "config/README.md").read_text(encoding="utf-8"), re.S)
    (tmp_path / "run.yaml").write_text(text, encoding="utf-8")
    found = merge(read_files(str(tmp_path / "run.yaml")))
    assert (found["preorder_encoding"], found["hidden_size"], found["dropout"]) == (["relative"], 128, [0.2])
