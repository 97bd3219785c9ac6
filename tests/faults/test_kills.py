"""``kill -9`` before file operations: what was there is as it was, or as it is to be, and work goes on."""

import shutil
import signal

import pytest

from preorder.annotate import stanza
from preorder.cli import annotate as annotate_command
from preorder.cli import main
from preorder.io import atomic
from preorder.learning import checkpoint
from tests.support import fake_stanza
from tests.support.kill_points import run, work_in_fork
from tests.support.texts import content


@pytest.mark.parametrize("kind", ["atomic_file", "atomic_directory"])
def test_what_is_written_is_whole_and_the_next_writer_tidies_up(tmp_path, kind):
    folder = tmp_path / "folder"
    path = folder / "target"
    file = path / "file" if kind == "atomic_directory" else path
    file.parent.mkdir(parents=True)

    def write(text):
        with getattr(atomic, kind)(str(path)) as place:
            (place / "file" if kind == "atomic_directory" else place).write_text(text)

    file.write_text("before")
    status, operations = work_in_fork(folder, lambda: write("after"))
    assert (status, file.read_text()) == (0, "after")
    assert operations > 6
    for number in range(1, operations + 1):
        file.write_text("before")
        assert work_in_fork(folder, lambda: write("after"), number)[0] == -signal.SIGKILL
        assert file.read_text() in ("before", "after")
        write("again")
        assert file.read_text() == "again"
        assert [entry.name for entry in folder.iterdir()] == ["target"]


TRAIN = "train --method btg --classes 9 --held-out 4 --src {0}/src --align {0}/align --model {0}/model"
CROSS_FIT = f"{TRAIN} --cross-fit 2 --cross-fit-out {{0}}/ordered"
ANNOTATE = "annotate --src {0}/src --lang en --stanza-dir {0}.models --out {0}/annot"
ANNOTATE += " --trees dependency --classes 9 --pos-out {0}/pos"
COMMANDS = {
    "train": (f"{TRAIN} --iterations 3", f"{TRAIN} --iterations 1"),
    "cross-fit": (f"{CROSS_FIT} --iterations 2", f"{CROSS_FIT} --iterations 1"),
    "annotate": (ANNOTATE, f"{ANNOTATE} --tagset upos"),
}
"""A command that is killed, and one that has left other outputs under the same names."""


@pytest.fixture
def eager(monkeypatch):
    """Write a checkpoint after each iteration and chunk."""
    monkeypatch.setattr(checkpoint, "INTERVAL", 0)
    monkeypatch.setattr(checkpoint, "SHARE", float("inf"))
    monkeypatch.setattr(stanza, "CHUNK", 20)
    fake_stanza.install(monkeypatch)
    work = annotate_command.annotate
    monkeypatch.setattr(annotate_command, "annotate", lambda *a, **named: work(*a, **named | {"workers": 0}))


def slow(*values):
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


@pytest.mark.parametrize("more", ["", *slow("--fresh")])
@pytest.mark.parametrize("with_old", [True, *slow(False)])
@pytest.mark.parametrize("name", ["annotate", *slow("train", "cross-fit")])
def test_a_killed_command_comes_to_the_same_end(tmp_path, eager, name, with_old, more):
    folder, log = tmp_path / "folder", tmp_path / "folder.log"
    folder.mkdir()
    (tmp_path / "folder.models").mkdir()
    (folder / "src").write_text("a b c\nb a c\n" * 10)
    (folder / "align").write_text("0-0 1-2 2-1\n" * 20)
    command, earlier = (line.format(folder).split() for line in COMMANDS[name])
    if with_old:
        assert run(folder, earlier)[0] == 0
    before = content(folder)
    shutil.copytree(folder, tmp_path / "copy")
    assert main(command) == 0  # here, so that each fork finds all imported and compiled
    after = content(folder)
    assert after != before

    def killed_at(number):
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "copy", folder)
        return run(folder, command, number)

    status, operations = killed_at(0)
    assert (status, content(folder)) == (0, after), log.read_text()
    assert operations >= 40
    for number in range(1, operations + 1, 17):
        assert killed_at(number)[0] == -signal.SIGKILL
        check_outputs(content(folder), before, after)
        assert run(folder, [*command, *more.split()])[0] == 0, log.read_text()
        assert content(folder) == after
        assert not list(folder.glob("*.checkpoint"))


def check_outputs(now, before, after):
    """Check that each output is the old one or the new one; files of a model are of one model."""
    whole = {name: data for name, data in now.items() if ".checkpoint" not in name and name[0] != "."}
    assert set(before) & set(after) <= set(whole) <= set(before) | set(after)
    for name, data in whole.items():
        assert data in (before.get(name), after.get(name)), name
    model = {name: data for name, data in whole.items() if name.startswith("model/")}
    assert not model or any(model.items() <= state.items() for state in (before, after))
