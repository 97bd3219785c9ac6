"""How OpenNMT-py finds us, in every kind of process."""

import subprocess
import sys
import textwrap

import onmt
import pytest
from onmt.encoders import str2enc
from onmt.transforms import AVAILABLE_TRANSFORMS

from onmt_preorder.plugin import register
from tests.support.running import ROOT

KNOWS_US = "from onmt.encoders import str2enc; assert 'preorder_transformer' in str2enc"


def python(code, *flags):
    return subprocess.run(
        [sys.executable, "-W", "ignore", *flags, "-c", textwrap.dedent(code)],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_the_hook_waits_for_onmt_registers_and_goes():
    """All in one process, which an error of ours ends with one line and status 2."""
    done = python(
        f"""
        import sys

        def count():
            return [type(finder).__name__ for finder in sys.meta_path].count("_Finder")

        assert "onmt_preorder._hook" in sys.modules
        for name in ("onmt", "torch", "importlib.util", "onmt_preorder.plugin"):
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
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.endswith("f:3: no\n")
    assert "torch.cuda.amp" not in done.stderr  # OpenNMT-py asks torch for old names


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
    )
    assert done.returncode == 0, done.stderr


def test_without_pth_files_register_does_it():
    pytest.importorskip("pyonmttok.version", reason="without it, the stand-in has to come before OpenNMT-py")
    code = f"""
    import sys
    sys.path[:0] = {[str(ROOT), *(path for path in sys.path if "site-packages" in path)]}
    import onmt
    from onmt.encoders import str2enc
    from onmt.train_single import build_vocab
    assert "preorder_transformer" not in str2enc
    from onmt_preorder.plugin import register
    register()
    register()
    {KNOWS_US}
    import onmt.inputters.inputter, onmt.train_single
    assert onmt.train_single.build_vocab is onmt.inputters.inputter.build_vocab is not build_vocab
    """
    done = python(code, "-S")
    assert done.returncode == 0, done.stderr


def test_registering_again_wraps_nothing_twice(monkeypatch):
    from onmt.utils.parse import ArgumentParser

    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)  # a library may have put its own there
    register()
    before = ArgumentParser.__dict__["validate_model_opts"], sys.excepthook, str2enc["preorder_transformer"]
    register()
    after = ArgumentParser.__dict__["validate_model_opts"], sys.excepthook, str2enc["preorder_transformer"]
    assert before == after
    assert "preorder_positions" in AVAILABLE_TRANSFORMS


def test_another_version_is_left_alone(monkeypatch):
    monkeypatch.setattr(onmt, "__version__", "4.0.0")
    monkeypatch.delitem(str2enc, "preorder_transformer", raising=False)
    with pytest.warns(UserWarning, match=r"works with OpenNMT-py 3\.5, not 4\.0\.0"):
        register()
    assert "preorder_transformer" not in str2enc
