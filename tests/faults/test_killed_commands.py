"""``preorder train`` and ``annotate`` killed before each of their file operations.

What was there is as it was, or as it is to be; the same command comes to the same end, and leaves nothing
beside it.
"""

import os
import shutil
import signal

import pytest

from preorder.annotate import stanza
from preorder.cli import annotate as annotate_command
from preorder.cli import main
from preorder.learning import checkpoint
from tests.support import fake_stanza
from tests.support.kill_points import run
from tests.support.texts import content

STRIDE = 1 if "FAULTS" in os.environ else 17
"""A command is killed before each so many-th operation; with ``FAULTS`` in the environment before each."""

TRAIN = "--method btg --classes 9 --held-out 4 --src {0}/src --align {0}/align --model {0}/model"
CROSS_FIT = f"{TRAIN} --cross-fit 2 --cross-fit-out {{0}}/ordered"
ANNOTATE = "--src {0}/src --lang en --stanza-dir {0}.models --out {0}/annot"
COMMANDS = {
    "train": (f"train {TRAIN} --iterations 3", f"train {TRAIN} --iterations 1"),
    "cross-fit": (f"train {CROSS_FIT} --iterations 2", f"train {CROSS_FIT} --iterations 1"),
    "annotate": (
        f"annotate {ANNOTATE} --trees dependency --classes 9 --pos-out {{0}}/pos",
        f"annotate {ANNOTATE} --trees dependency --classes 9 --pos-out {{0}}/pos --tagset upos",
    ),
}
"""A command that is killed, and one that has left other outputs under the same names."""


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Write a checkpoint after each iteration and chunk."""
    monkeypatch.setattr(checkpoint, "INTERVAL", 0)
    monkeypatch.setattr(checkpoint, "SHARE", float("inf"))
    monkeypatch.setattr(stanza, "CHUNK", 20)
    monkeypatch.setattr(stanza, "_work", fake_stanza.work)
    monkeypatch.setattr(stanza, "prepare", lambda options: [])
    work = annotate_command.annotate
    monkeypatch.setattr(annotate_command, "annotate", lambda *a, **named: work(*a, **named | {"workers": 0}))


class Workplace:
    """A folder in which a command is to run, as it was before and as it is to be."""

    def __init__(self, tmp_path, name, with_old):
        self.folder = tmp_path / "folder"
        self.folder.mkdir()
        (tmp_path / "folder.models").mkdir()
        (self.folder / "src").write_text("a b c\nb a c\n" * 10)
        (self.folder / "align").write_text("0-0 1-2 2-1\n" * 20)
        self.command, earlier = (line.format(self.folder).split() for line in COMMANDS[name])
        if with_old:
            assert run(self.folder, earlier)[0] == 0
        self.before = content(self.folder)
        shutil.copytree(self.folder, tmp_path / "copy")
        assert main(self.command) == 0  # here, so that each fork finds all imported and compiled
        self.renew()
        status, self.operations = run(self.folder, self.command)
        assert status == 0, (tmp_path / "folder.log").read_text()
        self.after = content(self.folder)

    def renew(self):
        shutil.rmtree(self.folder)
        shutil.copytree(self.folder.with_name("copy"), self.folder)

    def check_outputs(self):
        """Check that each output is the old one or the new one; files of a model are of one model."""
        now = {name: data for name, data in content(self.folder).items() if ".checkpoint" not in name}
        whole = {name: data for name, data in now.items() if not name.startswith(".")}
        assert set(whole) <= set(self.before) | set(self.after)
        assert set(whole) >= set(self.before) & set(self.after)
        for name, data in whole.items():
            assert data in (self.before.get(name), self.after.get(name)), name
        model = {name: data for name, data in whole.items() if name.startswith("model/")}
        assert not model or any(model.items() <= state.items() for state in (self.before, self.after))

    def check_killed_at(self, number, *more):
        self.renew()
        assert run(self.folder, self.command, number)[0] == -signal.SIGKILL
        self.check_outputs()
        status, _ = run(self.folder, [*self.command, *more])
        assert status == 0, self.folder.with_name("folder.log").read_text()
        assert content(self.folder) == self.after
        assert not list(self.folder.glob("*.checkpoint"))


@pytest.mark.parametrize("with_old", [True, False], ids=["replacing", "new"])
@pytest.mark.parametrize(
    ("name", "least"), [("train", 40), ("cross-fit", 80), ("annotate", 60)], ids=list(COMMANDS)
)
def test_killed_before_any_file_operation(tmp_path, name, least, with_old):
    workplace = Workplace(tmp_path, name, with_old)
    assert workplace.operations >= least
    assert workplace.after != workplace.before
    for number in range(1, workplace.operations + 1, STRIDE):
        workplace.check_killed_at(number)
    workplace.renew()
    assert run(workplace.folder, workplace.command, workplace.operations + 1)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_and_begun_anew(tmp_path, name):
    workplace = Workplace(tmp_path, name, with_old=True)
    for number in range(1, workplace.operations + 1, STRIDE):
        workplace.check_killed_at(number, "--fresh")
