"""What OpenNMT-py's commands know of us, in every kind of process; and that other programs know nothing."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from onmt.encoders import str2enc
from onmt.transforms import AVAILABLE_TRANSFORMS

from onmt_preorder import _hook, register
from onmt_preorder.opennmt.registration import require
from tests.support.running import ROOT

KNOWS_US = "from onmt.encoders import str2enc; assert 'preorder_transformer' in str2enc"
AS_COMMAND = {_hook.SWITCH: "1"}
OURS = "--preorder_encoding"
PACKAGES = [str(ROOT), *(path for path in sys.path if "site-packages" in path)]


def run(*line, cwd="/", **variables):
    """Run a program with these variables besides the usual ones; return how it ended."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", **variables}
    return subprocess.run(line, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600)


def python(code, *flags, **how):
    """Run a program that is none of OpenNMT-py's commands."""
    return run(sys.executable, *flags, "-c", textwrap.dedent(code), **how)


def command(folder, *start, **variables):
    """Start ``onmt_train -h``, or another way."""
    return run(*(start or (sys.executable, "-m", "onmt.bin.train")), "-h", cwd=folder, **variables)


def test_the_hook_waits_for_onmt_registers_and_goes():
    """All in one process, which an error of ours ends with one line and status 2."""
    done = python(
        f"""
        import sys

        def count():
            return [type(finder).__name__ for finder in sys.meta_path].count("_Finder")

        assert "onmt_preorder._hook" in sys.modules
        for name in ("onmt", "torch", "importlib.util", "onmt_preorder.opennmt"):
            assert name not in sys.modules, name
        import onmt_preorder._hook as hook
        hook.install()
        assert count() == 1
        import importlib.util
        assert importlib.util.find_spec("onmt").name == "onmt"  # looking is not importing

        import onmt
        {KNOWS_US}
        assert onmt.__spec__.loader is onmt.__loader__
        assert type(onmt.__loader__).__name__ == "SourceFileLoader"
        hook.install()
        assert count() == 0

        from onmt.transforms import terminology
        import spacy
        assert importlib.util.find_spec("spacy").origin.endswith("__init__.py")
        import torch
        torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))])  # which looks into all modules
        assert not any(name.startswith("spacy.") for name in sys.modules), "loaded before it is used"
        assert terminology.spacy.blank("en")("two words").text == "two words"
        import spacy
        from spacy.tokens import Doc
        assert spacy.__file__ and sys.modules["spacy"] is spacy
        assert terminology.spacy.tokens.Doc is Doc
        assert not hasattr(terminology.spacy, "no_such_thing")

        import contextlib, io, runpy
        sys.argv = ["train", "-h"]
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
            runpy.run_module("onmt.bin.train", run_name="__main__")
        assert "--preorder_encoding" in printed.getvalue()
        from preorder.errors import DataError
        raise DataError("no", "f", 3)
        """,
        *("-W", "default::FutureWarning"),
        **AS_COMMAND,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.endswith("f:3: no\n")
    assert "torch.cuda.amp" not in done.stderr  # OpenNMT-py asks torch for old names


def test_other_programs_stay_as_they_are(tmp_path):
    """Until they register; a broken numba is no matter to them before, nor are their errors to us."""
    (tmp_path / "numba.py").write_text("raise ImportError('numba is broken')")
    done = python(
        """
        import sys
        import safetensors.torch, torch
        before = torch.load, torch.save, safetensors.torch.save_file, sys.excepthook, list(sys.meta_path)

        def now():
            return torch.load, torch.save, safetensors.torch.save_file, sys.excepthook, list(sys.meta_path)

        import onmt.bin.train
        from onmt.encoders import str2enc
        assert all(one is other for one, other in zip(before[:4], now()))
        assert before[4] == now()[4]
        assert type(sys.modules["spacy"]) is type(sys)
        assert "preorder_transformer" not in str2enc
        assert not any(name.startswith("onmt_preorder.") and "_hook" not in name for name in sys.modules)

        import onmt_preorder
        try:
            onmt_preorder.register()
        except ImportError as error:
            assert "numba is broken" in str(error)
        sys.path.remove("TMP")
        onmt_preorder.register()
        assert "preorder_transformer" in str2enc
        assert all(one is other for one, other in zip(before[:4], now()))
        raise ValueError("of its own")
        """.replace("TMP", str(tmp_path)),
        PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}",
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback"), done.stderr
    assert done.stderr.endswith("ValueError: of its own\n")


def test_in_the_commands_a_broken_package_is_one_line(tmp_path):
    (tmp_path / "numba.py").write_text("raise ImportError('numba is broken')")
    done = command(tmp_path, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    reason = "onmt-preorder cannot be loaded: ImportError: numba is broken (ONMT_PREORDER=0 does without)\n"
    assert (done.returncode, done.stderr) == (2, reason)
    done = command(tmp_path, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}", ONMT_PREORDER="0")
    assert (done.returncode, OURS in done.stdout) == (0, False)


SCRIPT = Path(sys.executable).parent / "onmt_train"
IS_COMMAND = {
    (str(SCRIPT), "-config", "c"): [str(SCRIPT), "-config", "c"],
    ("lib/onmt/bin/translate.py",): [],
    ("-m", "-h"): ["python", "-m", "onmt.bin.average_models", "-h"],
    ("-m",): ["python", "-Imonmt.bin.build_vocab"],
    ("bin/eole", "train"): ["bin/eole", "train"],
    ("train.py",): None,
    ("onmt_train.py",): None,
    ("bin/train.py",): None,
    ("onmt_preorder",): None,
    ("-m", "onmt.bin.train"): ["python", "-m", "pytest", "onmt.bin.train"],
    ("-m", "x"): ["python", "-m", "mine.onmt.bin.train", "x"],
    ("-c",): ["python", "-c", "import onmt.bin.train"],
    ("",): None,
    (): None,
}


@pytest.mark.parametrize("argv", IS_COMMAND)
def test_what_a_command_is(argv):
    given = IS_COMMAND[argv]
    expected = given is not None and not (argv[0] == "-c" or "pytest" in given or "mine" in str(given))
    assert _hook.is_command(list(argv), given or list(argv)) == expected


RUN = ("-S", "-m", "onmt_preorder", "run", "onmt_train")  # -S: without .pth files


@pytest.mark.parametrize("way", [(SCRIPT,), (sys.executable, "-m", "onmt.bin.train"), (sys.executable, *RUN)])
def test_commands_know_us(tmp_path, way):
    variables = {"PYTHONPATH": os.pathsep.join(PACKAGES)} if "-S" in way else {}
    done = command(tmp_path, *way, **variables)
    assert done.returncode == 0, done.stderr
    assert OURS in done.stdout


CHILD = """\
import multiprocessing

if __name__ == "__main__":
    import onmt_preorder

    onmt_preorder.register()
    context = multiprocessing.get_context("METHOD")
    with context.Pool(1) as pool:
        print(pool.apply(eval, ("str(__import__('onmt.encoders').encoders.str2enc)",)))
"""


@pytest.mark.parametrize(("method", "flags"), [("forkserver", ()), ("spawn", ("-S",))])
def test_processes_that_we_start_know_us(tmp_path, method, flags):
    """``-S``: the .pth file is not read in the child either, but our package is imported by the program."""
    code = "import onmt_preorder\n" * bool(flags) + CHILD.replace("METHOD", method)
    (tmp_path / "program.py").write_text(code)
    path = os.pathsep.join(PACKAGES) if flags else str(ROOT)
    done = run(sys.executable, *flags, "program.py", cwd=tmp_path, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert "preorder_transformer" in done.stdout


BEST = """
import sys
sys.path[:0] = ["."]
from onmt_preorder.cli import main
sys.exit(main(["best", "model"]))
"""


@pytest.fixture
def another(tmp_path):
    """Return a folder with another package of the name ``onmt``."""
    (tmp_path / "onmt/bin").mkdir(parents=True)
    for name in ("__init__", "bin/__init__"):
        (tmp_path / f"onmt/{name}.py").touch()
    (tmp_path / "onmt/bin/train.py").write_text("print('not OpenNMT-py')")
    return tmp_path


def test_another_package_of_the_name_is_left_alone(another):
    done = command(another)
    assert (done.returncode, done.stdout, done.stderr) == (0, "not OpenNMT-py\n", "")
    done = python(BEST, cwd=another)
    expected = "OpenNMT-py is not installed: pip install --no-deps OpenNMT-py==3.5.1\n"
    assert (done.returncode, done.stderr) == (2, expected)


def test_another_version_is_one_line(another):
    (another / "onmt/opts.py").touch()
    (another / "onmt/__init__.py").write_text("__version__ = '4.0.0'")
    reason = "onmt-preorder works with OpenNMT-py 3.5, not 4.0.0"
    done = command(another)
    assert (done.returncode, done.stderr) == (2, f"{reason} (ONMT_PREORDER=0 does without)\n")
    assert command(another, ONMT_PREORDER="0").stdout == "not OpenNMT-py\n"
    done = python(BEST, cwd=another)
    assert (done.returncode, done.stderr) == (2, f"{reason}\n")


def test_the_hook_works_where_another_finder_has_the_name_of_ours():
    """As in an environment that uv 0.5 made."""
    done = python(
        f"""
        import sys
        sys.path[:] = {sys.path!r}
        _Finder = type("_Finder", (), {{"find_spec": lambda *_: None}})
        sys.meta_path.insert(0, _Finder())
        import onmt_preorder._hook
        {KNOWS_US}
        """,
        "-S",  # without the hook of the installed package, which would come before
        **AS_COMMAND,
    )
    assert done.returncode == 0, done.stderr


def test_registering_late_reaches_what_is_loaded():
    pytest.importorskip("pyonmttok.version", reason="without it, the stand-in has to come before OpenNMT-py")
    done = python(
        f"""
        import onmt
        from onmt.encoders import str2enc
        from onmt.train_single import build_vocab
        assert "preorder_transformer" not in str2enc
        from onmt_preorder import register
        register()
        register()
        {KNOWS_US}
        import onmt.inputters.inputter, onmt.train_single
        assert onmt.train_single.build_vocab is onmt.inputters.inputter.build_vocab is not build_vocab
        """
    )
    assert done.returncode == 0, done.stderr


def test_registering_again_wraps_nothing_twice(monkeypatch):
    from onmt.models import model_saver
    from onmt.utils.parse import ArgumentParser

    def state():
        hook, load = sys.excepthook, model_saver.torch.load
        return ArgumentParser.__dict__["validate_model_opts"], hook, load, str2enc["preorder_transformer"]

    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)  # a library may have put its own there
    register()
    assert sys.excepthook is sys.__excepthook__
    require()
    before = state()
    require()
    assert before == state()
    assert "preorder_positions" in AVAILABLE_TRANSFORMS
