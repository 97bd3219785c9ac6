"""Stanza's models: which are needed, where they lie, how they are fetched and loaded.

They lie in folders as ``stanza.download`` makes them, or in one for each language: ``pos.pt``,
``constituency.pt``, ``depparse.pt``, and word vectors for all of them, ``pretrain.pt``.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, get_args

from preorder.data import files
from preorder.data.errors import MissingExtraError, UsageError, require

_MODELS = ("pos", "constituency", "depparse")
_MESSAGE = 120  # characters of another library's message that are passed on

Trees = Literal["constituency", "dependency"]
TREES: tuple[str, ...] = get_args(Trees)
Tagset = Literal["xpos", "upos"]
TAGSETS: tuple[str, ...] = get_args(Tagset)
Device = Literal["cpu", "gpu"]
DEVICES: tuple[str, ...] = get_args(Device)


@dataclass(frozen=True)
class StanzaOptions:
    """What Stanza shall do.

    Attributes:
        language: its code, as Stanza has it.
        trees: the kind of syntax trees, or None for tags alone.
        tagset: the language's own tags (``xpos``), or Universal Dependencies' (``upos``).
        tagged: whether the sentences come with tags; they are kept, and the parser reads them.
        folder: where the models lie; None: where ``stanza.download`` puts them.
        device: ``cpu`` or ``gpu``.
    """

    language: str
    trees: Trees | None = None
    tagset: Tagset = "xpos"
    tagged: bool = False
    folder: str | None = None
    device: Device = "cpu"


def prepare(options: StanzaOptions) -> list[Any]:
    """Find the models, or fetch them; return what tells them, and the version of Stanza, from others.

    Raises:
        UsageError: they are missing or cannot be fetched.
        MissingExtraError: Stanza is not installed.
    """
    if importlib.util.find_spec("stanza") is None:  # importing it takes seconds
        raise MissingExtraError("stanza", "stanza")
    if options.folder is None:
        top = _download(options)
    else:
        top = Path(options.folder)
        _flat_folder(options)
    models = ((path, path.stat()) for path in sorted(top.rglob("*.pt")))
    return [
        metadata.version("stanza"),
        [(str(path.relative_to(top)), file.st_size, file.st_mtime_ns) for path, file in models],
    ]


def load(options: StanzaOptions) -> Any:
    """Load the models, from where they lie, on one thread.

    Raises:
        UsageError: they cannot be loaded, or there is no GPU where one is asked for.
        MissingExtraError: Stanza is not installed.
    """
    stanza = require("stanza", "stanza")
    torch = require("torch", "stanza")
    torch.set_num_threads(1)
    gpu = options.device == "gpu"
    if gpu and not torch.cuda.is_available():
        raise UsageError("there is no GPU that torch can use")
    settings = {"lang": options.language, "download_method": None, "verbose": False, "use_gpu": gpu}
    settings |= {"tokenize_pretokenized": True, "processors": ",".join(_processors(options))}
    if options.tagged:
        settings["constituency_pretagged"] = True
    flat = _flat_folder(options)
    with tempfile.TemporaryDirectory(prefix="preorder-stanza-") as folder:
        if flat is not None:
            resources = str(Path(folder) / "resources.json")
            files.write_json(resources, {options.language: {}})
            settings |= {"package": None, "resources_filepath": resources, **_model_files(flat, options)}
        if options.folder is not None:
            settings["dir"] = options.folder
        try:
            return stanza.Pipeline(**settings)
        except Exception as error:  # of as many kinds as models can be damaged
            raise UsageError(
                f"Stanza cannot load its models for {options.language}: {_one_line(error)}"
            ) from None


@lru_cache
def _download(options: StanzaOptions) -> Path:
    """Fetch the models that are not there yet to where Stanza keeps them, once a process, and return that.

    Raises:
        UsageError: they cannot be fetched.
    """
    stanza = require("stanza", "stanza")
    common = stanza.resources.common
    steps = _processors(options)
    try:
        _fetch(stanza, options, [step for step in steps if step != "lemma"])
        # Where a language has no lemmatizer, its models do without, but stanza.download asks for one.
        language = common.get_language_resources(common.load_resources_json(), options.language)
        if "lemma" in steps and "lemma" in language:
            _fetch(stanza, options, ["lemma"])
    except Exception as error:  # of the network, in any library; or there are no such models
        raise UsageError(
            f"Stanza's models for {options.language} cannot be downloaded ({_one_line(error)}); "
            "--stanza-dir names a folder that has them"
        ) from None
    return Path(common.DEFAULT_MODEL_DIR)


def _fetch(stanza: Any, options: StanzaOptions, steps: Sequence[str]) -> None:
    stanza.download(options.language, processors=",".join(steps), verbose=False, download_json=False)


def _processors(options: StanzaOptions) -> tuple[str, ...]:
    """Return Stanza's names of the steps that give what is asked for."""
    match options.trees:
        case "constituency":
            return ("tokenize", "constituency") if options.tagged else ("tokenize", "pos", "constituency")
        case "dependency":
            return ("tokenize", "pos", "lemma", "depparse")
    return ("tokenize", "pos")


def _flat_folder(options: StanzaOptions) -> Path | None:
    """Return the folder with ``pos.pt`` and the like, where ``options.folder`` has one for the language.

    Raises:
        UsageError: ``options.folder`` has no models, or not all.
    """
    if options.folder is None:
        return None
    top = Path(options.folder)
    folder = top / options.language
    if not any((folder / f"{name}.pt").is_file() for name in _MODELS):
        if not (top / "resources.json").is_file():
            raise UsageError(
                f"{top}: no models of Stanza's for {options.language!r}: neither {options.language}/pos.pt "
                "nor resources.json is there"
            )
        return None
    for path in _model_files(folder, options).values():
        if isinstance(path, str) and not Path(path).is_file():
            raise UsageError(f"{path}: no such model of Stanza's")
    return folder


def _model_files(folder: Path, options: StanzaOptions) -> dict[str, Any]:
    """Name every file, as Stanza wants it: a model's path alone would leave out its word vectors."""
    paths: dict[str, Any] = {"lemma_use_identity": True} if options.trees == "dependency" else {}
    for name in _MODELS:
        if name in _processors(options):
            paths[f"{name}_model_path"] = str(folder / f"{name}.pt")
            paths[f"{name}_pretrain_path"] = str(folder / "pretrain.pt")
    return paths


def _one_line(error: Exception) -> str:
    """Return what an error says, in one line and not too long."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _MESSAGE else text[:_MESSAGE] + " …"
