"""Damaged and hostile models: the same orders as before, or one line; never a crash, a hang or a traceback.

``FAULTS=20000`` in the environment tries so many damaged models, and other ones with each ``FAULTS_SEED``.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from preorder.annotate.classes import learn_classes
from preorder.data.types import Bitext
from preorder.methods.model_directory import Model, save_model
from preorder.methods.registry import METHODS, all_options, method_class
from preorder.methods.unaligned.preorderer import AttachingPreorderer
from tests.support.verb_last import bitext

COUNT = int(os.environ.get("FAULTS", "1000"))
SEED = os.environ.get("FAULTS_SEED", "1")
SMALL = {"iterations": 1, "minibatch": 6, "hidden": 8, "depth": 1, "size": 8}
KINDS = (*METHODS, "btg-attached")


def trained(kind):
    """Return a small model of a kind, with word classes."""
    plain = bitext()
    classes = learn_classes([sentence.words for sentence in plain.sentences], 3, 1)
    lines = Bitext(list(map(classes.add_to, plain.sentences)), plain.alignments)
    method = kind.removesuffix("-attached")
    options = all_options()[method]()
    options = replace(options, **{name: value for name, value in SMALL.items() if hasattr(options, name)})
    preorderer = method_class(method).fit(lines, options)[0]
    if method != kind:
        preorderer = AttachingPreorderer.fit(preorderer, lines, 1)
    return Model(preorderer, classes, "en", {"options": options.__dict__})


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Give a folder with a model directory of each kind."""
    folder = tmp_path_factory.mktemp("models")
    for kind in KINDS:
        save_model(trained(kind), str(folder / kind))
    return folder


def test_damaged_models(models):
    """Bytes at random, which checksums tell; and with checksums that fit, anything anywhere in the files."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.support.damaged_models", str(models), SEED, str(COUNT)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120 + COUNT,
    )
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert (run.returncode, run.stderr) == (0, ""), found[-1:]
    expected = {one["kind"]: one["orders"] for one in found[: len(KINDS)]}
    results = found[len(KINDS) + 1 :: 2]
    assert len(results) == COUNT
    for case in results:
        if "error" in case:
            assert case["error"].isprintable(), case
            assert len(case["error"]) < 500, case
        elif case["damage"] == "damage_bytes":
            assert case["orders"] == expected[case["kind"]], case
    outcomes = Counter((case["damage"], "error" in case) for case in results)
    assert min(outcomes[kind, True] for kind, _ in outcomes) > COUNT // 50, outcomes
