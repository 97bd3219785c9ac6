"""Imported at interpreter start by ``onmt_preorder.pth``: waits for ``import onmt``.

Costs a fraction of a millisecond and imports nothing that Python has not imported yet. Once OpenNMT-py's own
``__init__`` has run, by whatever command, the finder calls ``onmt_preorder.plugin.register`` and removes
itself.
"""

import sys
import warnings


class _LoadedWhenUsed(type(sys)):
    """Stands for a module until an attribute of it is asked for, and then has all of its attributes."""

    def __getattr__(self, attribute):
        from importlib import import_module

        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), attribute)


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
    """Finds ``onmt`` by the other finders; once that is loaded, registers our models and goes."""

    def find_spec(self, name, path=None, target=None):
        if name != "onmt":
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(name, path, target) for finder in others if hasattr(finder, "find_spec"))
        spec = next(filter(None, found), None)
        if spec is not None and spec.loader is not None:  # None: a namespace package, not OpenNMT-py
            load = spec.loader.exec_module
            spec.loader.exec_module = lambda module: self._load(module, load)
        return spec

    def _load(self, module, load):
        # OpenNMT-py 3.5 asks for torch.cuda.amp and sdp_kernel (by contextlib), which torch has but says will
        # go: nothing that a user could mend. Can go when OpenNMT-py asks for torch.amp and sdpa_kernel.
        old = r"`?torch\.(cuda\.amp|backends\.cuda)\."
        warnings.filterwarnings("ignore", old, FutureWarning, r"onmt\.|contextlib$")
        _load_torch_alone()
        from onmt_preorder import stand_ins

        stand_ins.install()
        load(module)
        sys.meta_path.remove(self)
        from onmt_preorder.plugin import register

        register()


def install():
    """Wait for OpenNMT-py, unless it is loaded already or is being waited for."""
    if "onmt" not in sys.modules and not any(type(finder).__module__ == __name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


install()
