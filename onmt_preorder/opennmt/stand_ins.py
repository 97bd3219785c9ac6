"""Stand-ins for two packages that OpenNMT-py 3.5 imports and that have no wheels for Python 3.13 and later.

pyonmttok: OpenNMT-py keeps its vocabularies in ``Vocab``, which is all that most commands need of it.
fasttext: the transform ``clean`` asks it for the language of a text.
What is missing is an error when it is used. Can go when OpenNMT-py imports both at use.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from types import ModuleType


class Vocab:
    """Tokens and their ids, as ``pyonmttok.Vocab``."""

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens_to_ids = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
        self.default_id: int | None = None

    @property
    def ids_to_tokens(self) -> list[str]:
        """The tokens, in the order of their ids."""
        return list(self.tokens_to_ids)

    def __len__(self) -> int:
        return len(self.tokens_to_ids)

    def __contains__(self, token: str) -> bool:
        return token in self.tokens_to_ids

    def __getitem__(self, token: str) -> int:
        return self([token])[0]

    def __call__(self, tokens: Sequence[str]) -> list[int]:
        """Return the id of each token."""
        ids, unknown = self.tokens_to_ids, self.default_id
        if unknown is None:
            unknown = ids.get("<unk>", len(self))
        return [ids.get(token, unknown) for token in tokens]

    lookup_token = __getitem__

    def add_token(self, token: str) -> None:
        """Give a token the next id, unless it has one."""
        self.tokens_to_ids.setdefault(token, len(self))


def build_vocab_from_tokens(
    tokens: Iterable[str], maximum_size: int = 0, special_tokens: Sequence[str] = (), **_: int
) -> Vocab:
    """Return the special tokens and then the others; with a limit, the most frequent of them first.

    OpenNMT-py's ``minimum_frequency`` is always 1.
    """
    counts, special = Counter(tokens), dict.fromkeys(special_tokens)
    others = [token for token in counts if token not in special]
    if maximum_size <= 0:
        return Vocab([*special, *others])
    others.sort(key=counts.__getitem__, reverse=True)
    return Vocab([*special, *others[: max(0, maximum_size - len(special))]])


class _Missing(ModuleType):
    """A module that is not installed: an attribute that it lacks is an error that says so."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        from preorder.errors import DataError

        raise DataError(
            f"{self.__name__} is not installed, which {self.__name__}.{name} needs: there are wheels for "
            "Python 3.10 to 3.12"
        )


_CONTENTS = {
    "pyonmttok": {"Vocab": Vocab, "build_vocab_from_tokens": build_vocab_from_tokens},
    "fasttext": {},
}


def install() -> None:
    """Let ``import pyonmttok`` and ``import fasttext`` succeed where these are not installed."""
    for name, content in _CONTENTS.items():
        if sys.modules.get(name) is None and find_spec(name) is None:
            sys.modules[name] = module = _Missing(name)
            vars(module).update(content)
