"""Mistakes in the command lines of recipes: one line, status 2, and nothing has been done."""

import importlib
import re
from dataclasses import replace

import pytest

from preorder.api import train
from preorder.methods.model_directory import load_model, save_model
from preorder_recipes import run
from preorder_recipes.pipeline import opennmt
from preorder_recipes.pipeline.train import config_of
from tests.support.texts import content, rows, write_bitext

RUN = "run --data data --src aa --tgt bb --run RUN"
TRAIN = "run --src aa --tgt bb --run RUN --stage train"
ROBUST = "robustness --src data/test.aa --ref data/test.bb --run RUN"

OWN = {  # systems of one's own
    "mine": "base: plain\nvalid_steps: x",
    "quoted": "base: plain\nvalid_steps: '10'",
    "after": "base: plain\nbegins_from: misspelt.yaml",
    "a=b": "base: plain",
    "misspelt": "base: plain\nhiden_size: 64",
    "large": "base: plain\nsize: medium",
    "pieces": "base: [plain, subwords]",
    "endless": "reads: plain\nsizes: {small: {layers: 1}}",
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Preorderers of which each needs what the data lack, by name."""
    top, links = tmp_path_factory.mktemp("models"), ["0-1 1-0"] * 2
    tree = "(S (A a) (B b))"
    given = {"xx": {}, "tagged": {"tags": ["A B"] * 2}, "trees": {"trees": [tree] * 2}}
    for name, layers in given.items():
        method = "rvnn" if "trees" in layers else "btg"
        model = train(["a b"] * 2, links, method, classes=0, iterations=1, **layers)
        model.save(str(top / name))
    save_model(replace(load_model(str(top / "xx")), language="xx"), str(top / "xx"))
    return top


@pytest.fixture
def folder(models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for model in models.iterdir():
        (tmp_path / model.name).symlink_to(model)
    write_bitext(tmp_path / "data")
    (tmp_path / "data/features").write_text("a￨0 b￨1\n")
    (tmp_path / "file").write_text("")
    (tmp_path / "log").write_text("nothing\n")
    for name, line in OWN.items():
        (tmp_path / f"{name}.yaml").write_text(f"{line}\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/data").symlink_to("../data")
    return tmp_path


STARTS = {"RUN": RUN, "TRAIN": TRAIN, "ROBUST": ROBUST}
MISTAKES = rows(r"""
run --src aa --tgt bb | required: --run
RUN --nonsense | unrecognized arguments: --nonsense
run --src aa --tgt bb --run RUN | the stage prepare needs --data
run --data data --src aa --tgt aa --run RUN | --src and --tgt: aa is given twice
run --data data --src ../aa --tgt bb --run RUN | argument --src: not the code of a language
run --data data --src aa --tgt b.b --run RUN | argument --tgt: not the code of a language
run --data data --src aa --tgt bb --run file | file: cannot be written: File exists
run --data data --src aa --tgt bb --run . | data would be overwritten while it is needed
run --data data --src aa --tgt bb --run inner | data would be overwritten while it is needed
RUN --systems gold,gold | --systems: gold is given twice
RUN --systems ../base | no configuration of a system ../base
RUN --seeds 1,2,1 | --seeds: 1 is given twice
RUN --seeds=-1 | --seeds: -1 is not a whole number
RUN --device gpu | PyTorch finds no GPU here
RUN --steps 0 | argument --steps: 0 is not a whole number from 1
RUN --cross-fit 1 | argument --cross-fit: 1 is not a whole number from 2
RUN --preorder --nonsense 3 | unrecognized arguments: --nonsense 3
RUN --preorder --depth 3 | --depth is no option of --method btg
RUN --preorder --method rvnn | --preorder --method rvnn: needs --trees constituency or depend
RUN --preorder --method=rvnn | --preorder --method rvnn: needs --trees constituency or depend
RUN --preorder --init | argument --init: expected one argument
RUN --preorder --init none | none: cannot be read: No such file or directory
RUN --preorder --pos data/features | --preorder --pos: files of pos belong in the data folder
RUN --preorder --model other | --preorder --model: preorder_recipes.run sets it itself
RUN --systems plain,gold --preorder --iterations 2 | --preorder: no system here reads the ord
RUN --given-alignment --hand-alignment .3 | --hand-alignment: not allowed with
RUN --adapt | --adapt needs --preorderer
RUN --subword-size 500 | --subword-size needs --subwords
RUN --preorderer none | none: cannot be read: No such file or directory
RUN --preorderer data | data/model.json: cannot be read: No such file or directory
RUN --preorderer xx | --preorderer .*/xx: it orders xx, not aa
RUN --preorderer tagged | tagged: it reads POS tags: data/train.aa.pos is missing
RUN --preorderer trees | trees: it reads trees: data/train.aa.trees is missing
RUN --preorderer en-verb-final --systems plain | --preorderer: no system here reads the order of
RUN --preorderer en-verb-final --preorder --seed 2 | --preorderer is not trained without --adapt
RUN --preorderer en-verb-final --adapt --preorder --init xx | --init: the model of --preorderer se
RUN --preorderer en-verb-final --adapt --preorder --classes 9 | --classes: the model of --preordere
RUN --preorderer en-verb-final --adapt --preorder --method rvnn | --method: the model of --preorde
RUN --preorderer en-verb-final --adapt --preorder --iterations 0 | --iterations: 0 is not a whole
TRAIN --set layers | layers: not KEY=VALUE
TRAIN --set hiden_size=4 | unknown key 'hiden_size': did you mean 'hidden_size'?
TRAIN --set reads=gold | --set, in system baseline_absolute_relative: unknown key 'reads'
TRAIN --set seed=4 | --set seed: preorder_recipes.run sets it itself
TRAIN --set layers=x | --set, in system baseline_absolute_relative: argument --layers/
TRAIN --set layers=1 --set layers=2 | --set: layers is given twice
TRAIN --steps 3 --set train_steps=2 | --set: train_steps is given twice
TRAIN --set layers=[ | --set layers: not YAML
TRAIN --set learning_rate=.nan | --set learning_rate: neither a number nor a word
TRAIN --set heads=3 | --set, in system baseline_absolute_relative: hidden_size 128 is not a
TRAIN --subwords bpe --set transforms=[filtertoolong] | --subwords needs sentencepiece among
TRAIN --set save_format=safetensors | save_format: preorder_recipes.run needs checkpoints that
TRAIN --systems mine.yaml | system mine: argument --valid_steps/-valid_steps:
TRAIN --systems misspelt.yaml | system misspelt: unknown key 'hiden_size': did you mean 'hidden
TRAIN --systems large.yaml | large.yaml: its size is medium: --size medium
TRAIN --systems endless.yaml | system endless: train_steps is no whole number from 1: 0
TRAIN --systems quoted.yaml | system quoted: valid_steps is no whole number from 1: '10'
TRAIN --set early_stopping='3' | early_stopping is no whole number from 0: '3'
TRAIN --set train_steps=0 | relative: train_steps is no whole number from 1: 0
TRAIN --systems after.yaml | system misspelt: unknown key 'hiden_size': did you mean 'hidden
TRAIN --set share_vocab=true | relative: share_vocab: a run has a vocabulary for each side
TRAIN --systems plain_gold_text --set lambda_align=.1 --set alignment_layer=1 | lambda_align needs the sou
TRAIN --systems a=b.yaml | --systems: a name with =
TRAIN --subwords bpe --set transforms=5 | --subwords needs sentencepiece among
run --src aa --tgt bb --run RUN --stage score --set valid_steps=0 | --valid_steps/-valid_steps: not a whole nu
TRAIN --systems pieces.yaml | pieces.yaml: it splits words: --subwords
ROBUST | no model to translate with
ROBUST --plain a=none.pt | none.pt: cannot be read: No such file or directory
ROBUST --plain a/b=file | a/b=file: each model needs a name of its own that a file can have
ROBUST --plain a=x --preordered a=y | a: each model needs a name of its own
ROBUST --preordered a=x | models that read an order need --preorderer, which predicts it
ROBUST --plain a=file --word-reward 101 | 101.0 is not a number from -100 to 100
ROBUST --plain a=file --pos none | none: cannot be read
ROBUST --plain a=file --percent 10,10 | argument --percent: not different shares
robustness --src none --ref data/test.bb --run RUN --plain a=file | none: cannot be read
split --src data/train.aa --tgt data/train.bb --out RUN --held x | 'x' is not a whole number
pipeline.data --data data --src aa --tgt bb --out inner/data | data would be overwritten while
start --src data/train.aa --tgt data/train.bb --run RUN --given | unrecognized arguments: --given
start --src data/train.aa --tgt data/train.bb --run RUN --no | unrecognized arguments: --no
pipeline.checkpoints --log none --folder data | none: No such file or directory
pipeline.checkpoints --log log --folder data | log: no checkpoint was saved after a validation
synthetic.generate --out data | data: exists already
synthetic.generate --out file/x | file/x: cannot be written: (Not a|File)
pipeline.convert --features data/features --format text --out data/features | features would be
configuration nonsense | no configuration of a system nonsense
configuration npmt --size medium | no size 'medium'
similarity --model file --src data/features | file: not a checkpoint of OpenNMT-py
jumps --model file --src log --tgt none | none: cannot be read: No such
attention --model file --src log --tgt none | none: cannot be read: No such
""")


@pytest.mark.parametrize(("line", "message"), MISTAKES)
def test_mistakes_are_found_before_any_work(folder, capsys, monkeypatch, line, message):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    first, _, rest = line.partition(" ")
    name, *arguments = f"{STARTS.get(first, first)} {rest}".split()
    before = content(folder)
    try:
        status = importlib.import_module(f"preorder_recipes.{name}").main(arguments)
    except SystemExit as ended:
        status = ended.code
    error = capsys.readouterr().err
    assert (status, error.count("\n")) == (2, 1), error
    assert re.search(message, error), error
    assert content(folder) == before
    assert not (folder / "RUN").exists()


@pytest.mark.parametrize("missing", ["train.aa", "dev.bb", "test.align"])
def test_missing_data(folder, capsys, missing):
    (folder / "data" / missing).unlink()
    assert run.main(f"{RUN} --given-alignment".split()[1:]) == 2
    assert capsys.readouterr().err == f"data/{missing}: cannot be read: No such file or directory\n"
    assert not (folder / "RUN/stamps").exists()


def test_what_may_be_changed(tmp_path):
    """With a text that a bucket would hold many times, too."""
    write_bitext(tmp_path / "data")
    given = "layers=2 dropout=[0.1] valid_steps=5 early_stopping=2 rnn_type=GRU seed=1 train_from=x"
    changes = [part for one in f"{given} bucket_size=4096".split() for part in ("--set", one)]
    line = ["--src", "aa", "--tgt", "bb", "--run", str(tmp_path), *changes]
    job = run.job_of(run.build_parser().parse_args(line))
    opennmt.check_options(job, lambda system: config_of(job, system, 1))
    assert job.changes["dropout"] == [0.1]
