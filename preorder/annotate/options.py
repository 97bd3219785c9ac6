"""What a text is to be annotated with, and by which models of Stanza or spaCy."""

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

STANZA = "stanza"  # in place of a file of tags: Stanza tags the text
FOLDER_VARIABLE = "STANZA_RESOURCES_DIR"  # of the environment: names Stanza's folder, for itself, too
LANGUAGE = re.compile(r"[A-Za-z0-9_-]{1,32}")  # codes of languages, which become parts of paths


@dataclass(frozen=True)
class AnnotatorOptions:
    """What Stanza, or spaCy, is to do."""

    language: str  # Stanza's code
    trees: Trees | None = None  # None: tags alone
    tagset: Tagset = "xpos"
    tagged: bool = False  # whether the sentences have tags already, which they keep, and the parser reads
    folder: str | None = None  # None: where FOLDER_VARIABLE says, or where stanza.download puts models
    device: Device = "cpu"
    spacy: str | None = None  # a model of spaCy's, which is used instead of Stanza's

    @property
    def processors(self) -> tuple[str, ...]:
        """The processors of Stanza that are needed."""
        if self.trees == "constituency":
            return ("tokenize", "constituency") if self.tagged else ("tokenize", "pos", "constituency")
        return ("tokenize", "pos", "lemma", "depparse") if self.trees else ("tokenize", "pos")

    @property
    def top(self) -> Path | None:
        """The folder of all models that the options or the environment name."""
        named = self.folder or os.environ.get(FOLDER_VARIABLE)
        return Path(named) if named else None


def remembered_folder(trained: AnnotatorOptions | None, given: str | None) -> str | None:
    """Return the folder that is ``given``, or else that of a model's training, if it is still there."""
    folder = trained.folder if trained is not None else None
    if given is not None or folder is None or Path(folder).is_dir():
        return folder if given is None else given
    LOGGER.warning(
        f"{folder}: the folder of Stanza's models that the model was trained with is not there: "
        "Stanza's own folder is used; `stanza_dir` names another"
    )
    return None
