"""Options and steps of ``preorder_recipes.robustness``; it translates with the models of ``test_run``."""

from argparse import Namespace

import torch
from onmt.bin.translate import _get_parser

from preorder_recipes import robustness
from tests.support.fake_programs import after


def experiment_of(folder, models, tags=None):
    paths = {name: str(folder / name) for name in ("source", "reference", "preorderer")}
    return robustness.RobustnessTest(**paths, tags=tags, models=models, percentages=(0, 5), seed=1)


def test_each_model_gets_the_form_that_it_reads(tmp_path):
    kinds = {"plain": "", "preordered": ".features", "reordered": ".text"}
    experiment = experiment_of(tmp_path, {kind: (f"{kind}.pt", kind, ()) for kind in kinds})
    steps = {step.name: step for step in robustness._chain(experiment, 5)}
    for kind, ending in kinds.items():
        assert after("-src", steps[f"translate/{kind}.5"].command) == f"swapped/source.5{ending}"
    assert {name: step.command[6:-2] for name, step in steps.items() if "preorder" in step.command} == {
        "preordered.5": ("--format", "features"),
        "reordered.5": ("--format", "text"),
    }


def test_tags_are_swapped_with_their_words(tmp_path):
    experiment = experiment_of(tmp_path, {"one": ("one.pt", "preordered", ())}, str(tmp_path / "tags"))
    swap = robustness._swap(experiment)
    assert after("--pos", swap.command) == str(tmp_path / "tags")
    assert set(swap.reads) == {str(tmp_path / "source"), str(tmp_path / "tags")}
    for percent in (0, 5):
        source, tags = f"swapped/source.{percent}", f"swapped/tags.{percent}"
        apply = robustness._chain(experiment, percent)[0]
        assert (after("--src", apply.command), after("--pos", apply.command)) == (source, tags)
        assert {source, tags} <= set(apply.reads) & set(swap.makes)


def test_each_model_has_its_search_and_the_subword_model_by_its_whole_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("a\n")
    for name in ("swan", "other"):
        torch.save({"opt": Namespace(decoder_type=name)}, tmp_path / f"{name}.pt")
    line = "--src file --ref file --run run --ratio 1.5 --word-reward 1.2 --beam 2 --subword-model file"
    line += " --plain other=other.pt swan=swan.pt --seed 7 --percent 5,10"
    test = robustness._test(robustness.build_parser().parse_args(line.split()))
    for step in (robustness._swap(test), robustness._analyse(test)):
        assert after("--percent", step.command) == "5,10"
    assert after("--seed", robustness._swap(test).command) == "7"
    for name, ratio, reward in [("other", 1.5, 0), ("swan", 0, 1.2)]:
        found = _get_parser().parse_args(["-model", "m", "-src", "s", *test.models[name][-1]])
        assert (found.beam_size, found.ratio, found.swan_word_reward, found.seed) == (2, ratio, reward, 7)
        assert found.src_subword_model == found.tgt_subword_model == str(tmp_path / "file")
