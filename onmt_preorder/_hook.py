"""Imported at interpreter start by ``onmt_preorder.pth``: waits for ``import onmt``.

Costs a fraction of a millisecond and imports nothing that Python has not imported yet. Once OpenNMT-py's own
``__init__`` has run, by whatever command, the finder calls ``onmt_preorder.plugin.register`` and removes
itself.
"""

import sys
import warnings


class _LoadedWhenUsed(type(sys)):
    """Stands for a module until an attribute of it is asked for, and then has all of its attributes."""

    @classmethod
    def stand_for(cls, name):
        """Let this be what ``import name`` gives, unless it is imported already or not installed."""
        from importlib.util import find_spec

        spec = None if name in sys.modules else find_spec(name)
        if spec is not None:
            module = sys.modules[name] = cls(name)
            module.__spec__, module.__file__ = spec, spec.origin  # what torch asks all modules for

    def __getattr__(self, attribute):
        from importlib import import_module

        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), attribute)


def _load_torch_alone():
    """Import torch, and let spaCy wait, which only "terminology" uses: commands start in 3/5 of the time.

    Torch comes first, as it looks into all modules.
    """
    try:
        import torch  # noqa: F401
    except ImportError:  # OpenNMT-py will say so
        return
    _LoadedWhenUsed.stand_for("spacy")


class _Finder:
    """Finds ``onmt`` by the other finders, but loads it through :class:`_Loader`."""

    def find_spec(self, name, path=None, target=None):
        if name != "onmt":
            return None
        for finder in sys.meta_path:
            find_spec = None if isinstance(finder, _Finder) else getattr(finder, "find_spec", None)
            spec = find_spec and find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:  # None: a namespace package, not OpenNMT-py
                    spec.loader = _Loader(spec.loader)
                return spec
        return None


class _Loader:
    """Loads a module by another loader, then registers our models."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def exec_module(self, module):
        # OpenNMT-py 3.5 asks for torch.cuda.amp and sdp_kernel, which torch has but says will go: nothing
        # that a user could mend. Can go when OpenNMT-py asks for torch.amp and sdpa_kernel.
        warnings.filterwarnings("ignore", r"`?torch\.(cuda\.amp|backends\.cuda)\.", FutureWarning, r"onmt\.")
        module.__spec__.loader = module.__loader__ = self._loader
        _load_torch_alone()
        from onmt_preorder import stand_ins

        stand_ins.install()
        self._loader.exec_module(module)
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
        from onmt_preorder.plugin import register

        register()


def install():
    """Wait for OpenNMT-py, unless it is loaded already or is being waited for."""
    if "onmt" not in sys.modules and not any(type(finder).__name__ == "_Finder" for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


install()
