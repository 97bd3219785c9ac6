"""Imported at interpreter start by ``onmt_preorder.pth``; in a host's commands waits for that host.

It looks at what is run, and leaves other programs alone: they call ``onmt_preorder.register`` if they want
our models. Processes that a command starts inherit the environment variable :data:`SWITCH`.

Costs a fraction of a millisecond and imports nothing that Python has not imported yet. Once the host's own
``__init__`` has run, the finder registers our models and removes itself.
"""

import os
import sys
import warnings

SWITCH = "ONMT_PREORDER"
"""1: to import a host brings our models, whatever is run; 0: it never does."""

HOSTS = {"onmt": ("onmt_preorder.opennmt", "opts.py"), "eole": ("onmt_preorder.eole", "train_single.py")}
"""Each host's package, with ours for it and a file that other packages of this name do not have."""

COMMANDS = frozenset({"average_models", "build_vocab", "release_model", "server", "train", "translate"})


def is_command(argv, given):
    """Return whether a host's own command is run: its script, or ``python -m onmt.bin.NAME``.

    ``argv`` and ``given`` are ``sys.argv`` and ``sys.orig_argv``.
    """
    if argv[:1] == ["-m"]:  # so far; its module comes before the other arguments, maybe as -mMODULE
        before, package, name = given[-len(argv)].partition("onmt.bin.")
        return bool(package) and name in COMMANDS and (not before or before[0] == "-")
    folder, script = os.path.split(argv[0] if argv else "")
    if script.endswith(".py"):
        return script[:-3] in COMMANDS and os.path.normpath(folder).split(os.sep)[-2:] == ["onmt", "bin"]
    return script == "eole" or (script.startswith("onmt_") and script[5:] in COMMANDS)


def is_wanted():
    """Return whether to import a host is to bring our models."""
    switch = os.environ.get(SWITCH)
    return switch == "1" or (switch != "0" and is_command(getattr(sys, "argv", []), sys.orig_argv))


def _import(name):
    from importlib import import_module

    return import_module(name)


class _LoadedWhenUsed(type(sys)):  # type: ignore[misc]  # the module types may not be imported yet
    """Stands for a module until an attribute of it is asked for, and then has all of its attributes."""

    def __getattr__(self, attribute):
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(_import(self.__name__), attribute)


def _load_torch_alone():
    """Import torch, which looks into all modules, and let spaCy wait: commands start in 3/5 of the time."""
    from importlib.util import find_spec

    try:
        import torch  # noqa: F401
    except ImportError:  # OpenNMT-py will say so
        return
    spec = None if "spacy" in sys.modules else find_spec("spacy")
    if spec is not None:
        module = sys.modules["spacy"] = _LoadedWhenUsed("spacy")
        module.__spec__, module.__file__ = spec, spec.origin  # what torch asks all modules for


class _Finder:
    """Finds a host by the other finders; once that is loaded, registers our models and goes."""

    def find_spec(self, name, path=None, target=None):
        if name not in HOSTS:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(name, path, target) for finder in others if hasattr(finder, "find_spec"))
        spec = next(filter(None, found), None)
        if spec is not None and is_host(spec):
            load_by(spec, self._load)
        return spec

    def _load(self, module, load):
        if module.__name__ == "onmt":
            prepare()
        load(module)
        sys.meta_path.remove(self)
        try:
            _import(f"{HOSTS[module.__name__][0]}.registration").require()
        except Exception as error:  # what we need may be broken in any way
            is_ours = type(error).__module__ == "preorder.errors"
            reason = error if is_ours else f"onmt-preorder cannot be loaded: {type(error).__name__}: {error}"
            print(f"{' '.join(str(reason).split())} ({SWITCH}=0 does without)", file=sys.stderr, flush=True)
            raise SystemExit(2) from None


def load_by(spec, load_with):
    """Let ``load_with(module, load)`` load the module of a spec; ``load`` is how it would be loaded."""
    load = spec.loader.exec_module
    spec.loader.exec_module = lambda module: load_with(module, load)


def prepare():
    """Make ready for ``import onmt`` in a command: without warnings, what is slow or missing replaced."""
    # OpenNMT-py 3.5 asks for torch.cuda.amp and sdp_kernel (by contextlib), which torch has but says will
    # go: nothing that a user could mend. Can go when OpenNMT-py asks for torch.amp and sdpa_kernel.
    old = r"`?torch\.(cuda\.amp|backends\.cuda)\."
    warnings.filterwarnings("ignore", old, FutureWarning, r"onmt\.|contextlib$")
    _load_torch_alone()
    _import("onmt_preorder.opennmt.stand_ins").install()


def is_host(spec):
    """Return whether a package ``onmt`` or ``eole`` is the host: others may have the name, also folders."""
    folders = spec.submodule_search_locations or ()
    return any(os.path.isfile(os.path.join(folder, HOSTS[spec.name][1])) for folder in folders)


def install():
    """Wait for a host, unless one is loaded already or is being waited for."""
    is_waiting = any(type(finder).__module__ == __name__ for finder in sys.meta_path)
    if not is_waiting and not any(name in sys.modules for name in HOSTS):
        sys.meta_path.insert(0, _Finder())


if is_wanted():
    os.environ[SWITCH] = "1"
    install()
