"""Stanza's models: which are needed, where they are, how they are downloaded and loaded.

They are in a folder as ``stanza.download`` makes it, or in one with a folder for each language (``en/``),
which has ``pos.pt``, ``constituency.pt``, ``depparse.pt``, and word vectors for all of them, ``pretrain.pt``.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, get_args

from preorder.errors import MissingExtraError, UsageError, require
from preorder.io import files
from preorder.processes import temporary_directory
from preorder.progress import LOGGER
from preorder.syntax.conllu import Tagset

_MODELS = ("pos", "constituency", "depparse")
_AVAILABLE = "https://stanfordnlp.github.io/stanza/available_models.html lists its languages"
_MAX_MESSAGE = 120  # characters of an error message of another library

Trees = Literal["constituency", "dependency"]
TREES: tuple[str, ...] = get_args(Trees)
Device = Literal["cpu", "gpu"]
DEVICES: tuple[str, ...] = get_args(Device)

FOLDER_VARIABLE = "STANZA_RESOURCES_DIR"
"""The variable of the environment that names Stanza's folder, for Stanza itself, too."""

LANGUAGE = re.compile(r"[A-Za-z0-9_-]{1,32}")
"""Codes of languages, which become parts of paths."""


@dataclass(frozen=True)
class StanzaOptions:
    """What Stanza is to do.

    Attributes:
        language: Stanza's code of the language.
        trees: the kind of syntax trees, or None for tags alone.
        tagset: the tags of the language's treebank (``xpos``), or those of Universal Dependencies (``upos``).
        tagged: whether the sentences have tags already; they keep them, and the parser reads them.
        folder: where the models are; None: where :data:`FOLDER_VARIABLE` says, or else where
            ``stanza.download`` puts them; those that are missing there are downloaded.
        device: ``cpu`` or ``gpu``.
    """

    language: str
    trees: Trees | None = None
    tagset: Tagset = "xpos"
    tagged: bool = False
    folder: str | None = None
    device: Device = "cpu"


def prepare(options: StanzaOptions) -> list[Any]:
    """Find the models, or download them; return Stanza's version, and name, size and time of each, for JSON.

    Raises:
        UsageError: they are missing or cannot be downloaded.
        MissingExtraError: Stanza is not installed.
    """
    if importlib.util.find_spec("stanza") is None:  # importing it takes seconds
        raise MissingExtraError("stanza", "stanza")
    from importlib import metadata  # slow to import, too

    is_flat = _flat_folder(options) is not None
    top = _top(options)
    if not is_flat and options.folder is None:
        top = _download(options)
    elif not is_flat:
        _check_language(top, options.language)
    models = ((path, path.stat()) for path in sorted(top.rglob("*.pt")))
    return [
        metadata.version("stanza"),
        [(str(path.relative_to(top)), file.st_size, file.st_mtime_ns) for path, file in models],
    ]


def load(options: StanzaOptions) -> Any:
    """Return a ``stanza.Pipeline`` with the models, which runs on one thread.

    Raises:
        UsageError: the models cannot be loaded, or there is no GPU where one is asked for.
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
    with temporary_directory("preorder-stanza-") as folder:
        if flat is not None:
            resources = str(folder / "resources.json")
            files.write_json(resources, {options.language: {}})
            settings |= {"package": None, "resources_filepath": resources, **_model_files(flat, options)}
        if options.folder is not None:
            settings["dir"] = options.folder
        try:
            return stanza.Pipeline(**settings)
        except Exception as error:  # damaged models raise all kinds
            raise UsageError(
                f"Stanza cannot load its models for {options.language}: {_one_line(error)}"
            ) from None


@lru_cache
def _download(options: StanzaOptions) -> Path:
    """Download the models that are not there yet, once a process; return the folder of all models."""
    stanza = require("stanza", "stanza")
    common = stanza.resources.common
    download = partial(stanza.download, options.language, verbose=False, download_json=False)
    processors = _processors(options)
    try:
        download(processors=",".join(name for name in processors if name != "lemma"))
        # The models of a language without a lemmatizer do not need one, but stanza.download would fail.
        language = common.get_language_resources(common.load_resources_json(), options.language)
        if "lemma" in processors and "lemma" in language:
            download(processors="lemma")
    except Exception as error:  # any library's error of the network; or there are no such models
        if type(error).__name__ == "UnknownLanguageError":
            raise UsageError(f"Stanza has no models for {options.language!r}: {_AVAILABLE}") from None
        command = _command(options.language, "DIR")
        raise UsageError(
            f"Stanza's models for {options.language} cannot be downloaded ({_one_line(error)}); get them "
            f"where there is a network: {command}; --stanza-dir DIR names the folder"
        ) from None
    return Path(common.DEFAULT_MODEL_DIR)


def _processors(options: StanzaOptions) -> tuple[str, ...]:
    """Return the names of the processors of Stanza that are needed."""
    match options.trees:
        case "constituency":
            return ("tokenize", "constituency") if options.tagged else ("tokenize", "pos", "constituency")
        case "dependency":
            return ("tokenize", "pos", "lemma", "depparse")
    return ("tokenize", "pos")


def _flat_folder(options: StanzaOptions) -> Path | None:
    """Return the folder with ``pos.pt`` and the like, or None if the models are not kept so."""
    top = _top(options)
    if top is None:
        return None
    folder = top / options.language
    if not any((folder / f"{name}.pt").is_file() for name in _MODELS):
        return None
    for path in _model_files(folder, options).values():
        if isinstance(path, str) and not Path(path).is_file():
            raise UsageError(f"{path}: no such model of Stanza's")
    return folder


def _top(options: StanzaOptions) -> Path | None:
    """Return the folder of all models that the options or the environment name."""
    named = options.folder or os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else None


def _check_language(top: Path, language: str) -> None:
    """Check that a folder as ``stanza.download`` makes it has models for a language.

    Raises:
        UsageError: it has none; the message says how to get them.
    """
    path = top / "resources.json"
    resources = files.read_json(str(path)) if path.is_file() else {}
    entry = resources.get(language) if isinstance(resources, dict) else None
    if isinstance(entry, dict) and (top / str(entry.get("alias", language))).is_dir():
        return
    there = sorted({model.relative_to(top).parts[0] for model in top.glob("*/**/*.pt")})
    raise UsageError(
        f"{top}: no models of Stanza's for {language!r}, only for: {', '.join(there) or 'no language'}; get "
        f"them: {_command(language, str(top))}"
    )


def _command(language: str, folder: str) -> str:
    """Return the command that downloads the models for a language."""
    call = f"import stanza; stanza.download('{language}', {folder!r})"
    return f'python -c "{call}"' if shlex.quote(folder) == folder else f"python -c {shlex.quote(call)}"


def remembered_folder(trained: StanzaOptions | None, given: str | None) -> str | None:
    """Return the folder that is ``given``, or else that of a model's training, if it is still there."""
    folder = trained.folder if trained is not None else None
    if given is not None or folder is None:
        return given
    if not Path(folder).is_dir():
        LOGGER.warning(
            f"{folder}: the folder of Stanza's models that the model was trained with is not there: "
            "Stanza's own folder is used; --stanza-dir names another"
        )
        return None
    return folder


def _model_files(folder: Path, options: StanzaOptions) -> dict[str, Any]:
    """Return the options of Stanza that name the file of every model, and of its word vectors."""
    paths: dict[str, Any] = {"lemma_use_identity": True} if options.trees == "dependency" else {}
    for name in _MODELS:
        if name in _processors(options):
            paths[f"{name}_model_path"] = str(folder / f"{name}.pt")
            paths[f"{name}_pretrain_path"] = str(folder / "pretrain.pt")
    return paths


def _one_line(error: Exception) -> str:
    """Return the message of an error as one line that is not too long."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _MAX_MESSAGE else text[:_MAX_MESSAGE] + " …"
