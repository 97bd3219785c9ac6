"""Configuration files that are none, or ask for what cannot be: one line, status 2, nothing written."""

import os

import pytest
import yaml

pytest.importorskip("onmt", reason="OpenNMT-py is not installed: see the README")

from tests.support.opennmt import TINY, outcome, write_training_task
from tests.support.texts import content

FILES = {
    "[a, b]": "the file has to hold lines of KEY: VALUE",
    "3": "the file has to hold lines of KEY: VALUE",
    "": "the file has to hold lines of KEY: VALUE",
    "a: b: c": "c.yaml:1: not YAML: mapping values are not allowed here",
    "a: [": "not YAML: ",
    "a: \x01": "not YAML: ",
    "a: 2020-99-99": "not YAML: ",
    "a: " + "9" * 5000: "not YAML: ",
    "a: !!python/object/apply:os.system [ls]": "not YAML: could not determine a constructor",
    "a: " + "[" * 1_000: "YAML that is nested too deeply",
    "a: " + "{a: " * 5_000 + "}" * 5_000: "YAML that is nested too deeply",
    "1: 2": "a key is a name, not 1",
    "sizes: {1: {}}": "a key is a name, not 1",
    "sizes: {small: 3}": "each of sizes has to hold lines of KEY: VALUE",
    "sizes: {small: {}}\nsize: [small]": "c.yaml:2: size is the name of one of sizes",
    "base: {a: b}": "base is a file name or a list of them",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("configurations")
    write_training_task(folder, 5, 5)
    return folder


def check(folder, capsys, text, message, program="onmt_train"):
    (folder / "c.yaml").write_text(text)
    before = content(folder)
    status, lines = outcome(capsys, folder, program, "-config", "c.yaml")
    assert (status, len(lines)) == (2, 1), lines
    assert message in lines[0]
    assert len(lines[0]) < 400
    assert content(folder) == before


@pytest.mark.parametrize("program", ["onmt_train", "onmt_build_vocab"])
@pytest.mark.parametrize("text", FILES, ids=range(len(FILES)))
def test_a_file_that_is_no_configuration(folder, capsys, text, program):
    check(folder, capsys, text, FILES[text], program)


ODD = [[1, 2], ["x"], {"a": "b"}, {}, "x", -7, 1.5, True, "é\0", [[1]], [{}], "2024-01-01", "nan"]
KEYS = """
layers hidden_size dropout train_steps learning_rate encoder_type preorder_encoding preorder_max_relative
norm_placement optim seed data transforms src_vocab early_stopping_criteria n_src_feats hiden_size
share_vocab bfloat16
""".split()


@pytest.mark.parametrize("key", KEYS)
def test_values_of_odd_types(folder, capsys, key):
    for value in ODD if "FAULTS" in os.environ else ODD[KEYS.index(key) % 4 :: 4]:
        text = yaml.safe_dump(TINY | {"train_steps": 0, key: value}, allow_unicode=True)
        (folder / "c.yaml").write_text(text)
        before = content(folder)
        status, lines = outcome(capsys, folder, "onmt_train", "-config", "c.yaml")
        assert (status, len(lines)) in ((2, 1), (0, 0)), (key, value, status, lines)
        assert all(len(line) < 2000 for line in lines)
        assert content(folder) == before
