"""Options of annotation by Stanza."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from preorder.progress import LOGGER
from preorder.syntax.read import Tagset

Trees = Literal["constituency", "dependency"]
TREES: tuple[Trees, ...] = get_args(Trees)
Device = Literal["cpu", "gpu"]
DEVICES: tuple[str, ...] = get_args(Device)

STANZA = "stanza"  # value of --pos in place of a file: Stanza tags the text
FOLDER_VARIABLE = "STANZA_RESOURCES_DIR"  # Stanza's own variable for its folder
LANGUAGE = re.compile(r"[A-Za-z0-9_-]{1,32}")  # a language code, which becomes part of a path


@dataclass(frozen=True)
class AnnotatorOptions:
    """What Stanza adds to sentences, and by which models."""

    language: str  # Stanza's code
    trees: Trees | None = None  # None: tags alone
    tagset: Tagset = "xpos"
    tagged: bool = False  # whether sentences have tags: they keep them, and the parser reads them
    folder: str | None = None  # None: that of FOLDER_VARIABLE, or of stanza.download
    device: Device = "cpu"

    @property
    def processors(self) -> tuple[str, ...]:
        """The processors of Stanza that are needed."""
        if self.trees == "constituency":
            return ("tokenize", "constituency") if self.tagged else ("tokenize", "pos", "constituency")
        return ("tokenize", "pos", "lemma", "depparse") if self.trees else ("tokenize", "pos")

    @property
    def top(self) -> Path | None:
        """The folder of models that the options or the environment name."""
        named = self.folder or os.environ.get(FOLDER_VARIABLE)
        return Path(named) if named else None


def remembered_folder(trained: AnnotatorOptions | None, given: str | None) -> str | None:
    """Return the ``given`` folder, or else that of the training, if it still exists."""
    folder = trained.folder if trained is not None else None
    if given is not None or folder is None or Path(folder).is_dir():
        return folder if given is None else given
    LOGGER.warning(
        f"{folder}: the folder of Stanza's models that the model was trained with is not there: "
        "Stanza's own folder is used; `stanza_dir` names another"
    )
    return None
