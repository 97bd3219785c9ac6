"""Print a system's whole configuration: its own options, and those of its family and size."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import yaml

from onmt_preorder.base_configuration import CONFIG, FOR_RECIPES, ConfigurationFile, merge, read_files
from preorder.errors import UsageError
from preorder_recipes.commands import execute, make_parser
from preorder_recipes.eole import configuration
from preorder_recipes.pipeline.subwords import KINDS

SIZES = ("tiny", "little", "small", "small_long", "medium", "medium_long", "paper")
DEFAULT_HOST = "opennmt"
HOSTS: dict[str, Callable[..., dict[str, Any]]] = {DEFAULT_HOST: dict, "eole": configuration}
"""What makes each host's configuration of options; ``pipeline/`` has a module of the name of each."""
DEFAULT_SIZE = "small"  # of the families in config/, too
SUBWORD_TRANSFORM = "sentencepiece"  # of OpenNMT-py, by which config/subwords.yaml splits words

PREDICTED, GOLD = "predicted", "gold"
KEPT = "gold_kept"  # the gold order in which unaligned words keep their positions (Chen et al. 2020, §4)
FEATURES, TEXT = "features", "text"
READS: dict[str, tuple[str | None, str]] = {
    "plain": (None, TEXT),
    "predicted": (PREDICTED, FEATURES),
    "gold": (GOLD, FEATURES),
    "predicted_text": (PREDICTED, TEXT),
    "gold_text": (GOLD, TEXT),
}
"""What a system may read: an order, or None for the source as it is, and the format of ``preorder apply``."""
SUPERVISION = (None, PREDICTED, KEPT)

BASELINE = "baseline_absolute_relative"
VOCABULARY_OPTIONS = tuple(
    f"{side}_{name}" for name in ("vocab_size", "words_min_frequency") for side in ("src", "tgt")
)


@dataclass(frozen=True)
class System:
    """A file of ``config/system`` in one size, with options of OpenNMT-py, without the paths of the data.

    Attributes:
        order: of the source: :data:`PREDICTED`, :data:`GOLD`, or None for the source as it is.
        form: :data:`FEATURES`, ``token￨position``, or :data:`TEXT`, words put in this order.
        supervision: the order, if any, which the model learns to predict: training and validation read its
            :data:`FEATURES` in place of the source.
        begins_from: the system, if any, from whose trained model training begins.
        trained_as: the system, if any, whose trained model it is; only its translation reads ``order``.
        about: what it is: the comment that its file begins with.
    """

    name: str
    options: dict[str, Any]
    order: str | None
    form: str
    supervision: str | None
    begins_from: str | None = None
    trained_as: str | None = None
    about: str = ""

    @property
    def needs(self) -> str | None:
        """The system that is trained before it: the one whose model it is, whatever its base begins from."""
        return self.trained_as or self.begins_from


def path_of(name: str) -> Path:
    """Return the file of a system: of that name in ``config/system``, or a file of one's own, ``….yaml``."""
    if name.endswith(".yaml"):
        return Path(name)
    path = CONFIG / "system" / f"{name}.yaml"
    if not path.exists():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml")))
        raise UsageError(f"no configuration of a system {name}; there are: {known}")
    return path


def read_system(name: str, size: str | None, subwords: str | None = None) -> System:
    """Read a system by :func:`path_of`, in a size of its family (None: its default), with subwords or not."""
    path = path_of(name)
    read = read_files(str(path))
    settings = _merged(read, size, subwords)
    found = {key: settings.pop(key, None) for key in FOR_RECIPES}
    for key, value in found.items():
        if not isinstance(value, str | None):
            raise UsageError(f"{path}: {key} is {value!r}, not a name")
    reads, supervision, *others = found.values()
    if reads not in READS:
        raise UsageError(f"{path}: reads is {reads!r}, not one of {', '.join(READS)}")
    if supervision not in SUPERVISION:
        raise UsageError(f"{path}: supervision is {supervision!r}, not {PREDICTED} or {KEPT}")
    # A file of one's own is named from the file that names it, as by ``base``.
    begins_from, trained_as = (
        str(path.parent / one) if one and one.endswith(".yaml") else one for one in others
    )
    for other in filter(None, (begins_from, trained_as)):
        path_of(other)
    own = read[-1].content.get("size")
    if size and own and own != size:
        raise UsageError(f"{path}: its size is {own}: --size {own}")
    splits = SUBWORD_TRANSFORM in str(settings.get("transforms")) and not settings.get("src_subword_model")
    if splits and not subwords:
        raise UsageError(f"{path}: it splits words: --subwords")
    named = (supervision, begins_from, trained_as, _first_comment(path))
    system = System(path.stem, settings, *READS[reads], *named)
    if system.trained_as:
        model = _merged(read_files(str(path_of(system.trained_as))), size, subwords)
        if settings != {key: value for key, value in model.items() if key not in FOR_RECIPES}:
            raise UsageError(f"{path}: its options are not those of {system.trained_as}, whose model it has")
    return system


def _first_comment(path: Path) -> str:
    lines = takewhile(lambda line: line.startswith("#"), path.read_text(encoding="utf-8").split("\n"))
    return " ".join(line.lstrip("# ") for line in lines)


def read_vocabulary(size: str | None, subwords: str | None = None) -> dict[str, Any]:
    """Return the options of the vocabulary that all systems of a run share: that of the Transformers."""
    return _merged(read_files(str(CONFIG / "family" / "transformer.yaml")), size, subwords)


def _merged(files: list[ConfigurationFile], size: str | None, subwords: str | None) -> dict[str, Any]:
    return merge([*files, *(read_files(str(CONFIG / "subwords.yaml")) if subwords else ())], size)


def systems_in(size: str) -> list[str]:
    """Return the names of all systems that there are in a size, the baseline first."""
    names = sorted(file.stem for file in (CONFIG / "system").glob("*.yaml"))
    names.sort(key=lambda name: name != BASELINE)
    return [name for name in names if any(size in file.sizes for file in read_files(str(path_of(name))))]


def key_and_value(text: str) -> tuple[str, str]:
    """Split ``KEY=VALUE``, a changed option."""
    key, separator, value = text.partition("=")
    if not separator:
        raise UsageError(f"{text}: not KEY=VALUE")
    return key, value


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = make_parser(_print)
    what = "a file of config/system, without .yaml, or your own"
    parser.add_argument("system", metavar="SYSTEM", help=what)
    parser.add_argument("--size", choices=SIZES, help=f"(default: the file's, or {DEFAULT_SIZE})")
    parser.add_argument("--subwords", choices=KINDS, help="with the options that split words")
    what = "as eole's configuration, not as OpenNMT-py's"
    parser.add_argument("--host", choices=HOSTS, default=DEFAULT_HOST, help=what)
    return execute(parser, argv)


def _print(arguments: argparse.Namespace) -> None:
    system = read_system(arguments.system, arguments.size, arguments.subwords)
    options = HOSTS[arguments.host](system.options)
    yaml.safe_dump(options, sys.stdout, sort_keys=False, default_flow_style=None)


if __name__ == "__main__":
    sys.exit(main())
