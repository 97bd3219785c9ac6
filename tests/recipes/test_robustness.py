"""Bad command lines of ``recipes.robustness``; what it does is tested on the models of ``test_run``."""

from argparse import Namespace

import pytest
import torch
from onmt.bin.translate import _get_parser

from recipes import robustness

LINE = ["--src", "src", "--ref", "ref"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "no model to translate with: --plain, --preordered, --reordered"),
        (
            ["--plain", "a=x", "--preordered", "a=y", "--preorderer", "m"],
            "a: each model needs a name of its own",
        ),
        (
            ["--plain", "some/model.pt"],
            "some/model.pt: each model needs a name of its own that a file can have",
        ),
        (["--preordered", "a=x"], "models that read an order need --preorderer, which predicts it"),
    ],
)
def test_unusable_options_are_one_line_and_status_2(tmp_path, capsys, options, message):
    assert robustness.main([*LINE, "--run", str(tmp_path), *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith(message)
    assert error.count("\n") == 1


def test_missing_source(tmp_path, capsys):
    assert robustness.main([*LINE, "--run", str(tmp_path), "--plain", "a=x"]) == 2
    assert capsys.readouterr().err == "src: cannot be read: No such file or directory\n"


def test_interruption_has_status_130(monkeypatch, tmp_path, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(robustness, "run", interrupt)
    monkeypatch.chdir(tmp_path)
    for name in ("src", "ref", "x"):
        (tmp_path / name).touch()
    assert robustness.main([*LINE, "--run", "run", "--plain", "a=x"]) == 130
    assert capsys.readouterr().err == "interrupted; the same command goes on\n"


def test_each_model_gets_the_form_that_it_reads(tmp_path):
    kinds = {"plain": "", "preordered": ".features", "reordered": ".text"}
    models = {kind: (tmp_path / f"{kind}.pt", kind) for kind in kinds}
    files = {name: tmp_path / name for name in ("source", "reference", "preorderer")}
    experiment = robustness.Experiment(
        **files, tags=None, models=models, percentages=(5,), seed=1, translate=dict.fromkeys(kinds, ())
    )
    steps = {step.name: step for step in robustness._chain(experiment, 5)}
    for kind, ending in kinds.items():
        command = steps[f"translate/{kind}.5"].command
        assert command[command.index("-src") + 1] == f"swapped/source.5{ending}"
    assert {name: step.command[6:-2] for name, step in steps.items() if "preorder" in step.command} == {
        "preordered.5": ("--format", "features"),
        "reordered.5": ("--format", "text"),
    }


def test_tags_are_swapped_with_their_words(tmp_path):
    files = {name: tmp_path / name for name in ("source", "reference", "tags", "preorderer")}
    models = {"one": (tmp_path / "one.pt", "preordered")}
    experiment = robustness.Experiment(
        **files, models=models, percentages=(0, 5), seed=1, translate={"one": ()}
    )
    swap = robustness._swap(experiment)
    assert swap.command[swap.command.index("--pos") + 1] == str(tmp_path / "tags")
    assert set(swap.reads) == {str(tmp_path / "source"), str(tmp_path / "tags")}
    for percent in (0, 5):
        source, tags = f"swapped/source.{percent}", f"swapped/tags.{percent}"
        assert {source, tags} <= set(swap.makes)
        apply = robustness._chain(experiment, percent)[0]
        given = {name: apply.command[apply.command.index(name) + 1] for name in ("--src", "--pos")}
        assert given == {"--src": source, "--pos": tags}
        assert {source, tags} <= set(apply.reads)


def test_each_model_is_told_what_its_search_has(tmp_path):
    files = {name: tmp_path / name for name in ("source", "swan.pt", "other.pt")}
    files["source"].write_text("a\n")
    for name in ("swan", "other"):
        torch.save({"opt": Namespace(decoder_type=name)}, files[f"{name}.pt"])
    line = [
        f"--src={files['source']}",
        f"--ref={files['source']}",
        f"--run={tmp_path / 'run'}",
        *("--ratio=1.5", "--word-reward=1.2", "--plain"),
        *(f"other={files['other.pt']}", f"swan={files['swan.pt']}"),
    ]
    told = robustness._experiment(robustness.build_parser().parse_args(line)).translate
    for name, ratio, reward in [("other", 1.5, 0), ("swan", 0, 1.2)]:
        found = _get_parser().parse_args(["-model", "m", "-src", "s", *told[name]])
        assert (found.ratio, found.swan_word_reward) == (ratio, reward)


def test_the_subword_model_is_named_by_its_whole_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    line = "--src file --ref file --plain a=file --run run --beam 2 --subword-model file"
    experiment = robustness._experiment(robustness.build_parser().parse_args(line.split()))
    found = _get_parser().parse_args(["-model", "m", "-src", "s", *experiment.translate["a"]])
    pieces = str(tmp_path / "file")
    assert (found.beam_size, found.src_subword_model, found.tgt_subword_model) == (2, pieces, pieces)
