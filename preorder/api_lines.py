"""Lines in, lines out: what the workers of other people's pipelines need of a model."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache, partial

from preorder.api_values import each, line_of, path_of
from preorder.data.formats import FORMATTERS, parse_annotated, parse_source, text_lines
from preorder.errors import UsageError
from preorder.io import storage
from preorder.io.files import parse_lines, read_json
from preorder.learning.options import check_choice, check_number
from preorder.methods.line_order import LineOrderer
from preorder.methods.model_directory import DESCRIPTION, checksum, load_model, located


class LineModel:
    """A model directory as a function from a list of lines to a list of lines.

    It can be sent to any worker: it is pickled as the model's path and checksum, and a process loads the
    model once, at the first call. All machines have to see the directory under the same path.
    """

    def __init__(self, directory: str, format: str = "features", fields: int = 1) -> None:
        """Take a model directory, and how its lines are written and read.

        Args:
            directory: of ``preorder train``.
            format: of ``preorder apply``: features, positions, order, text or tree.
            fields: of a line, parted by tabs: 1, its words; 2, words and POS tags; 3, and word classes.

        Raises:
            DataError: there is no model.
            UsageError: there is no such format, or number of fields.
        """
        format, fields = check_choice("format", format, FORMATTERS), check_number("fields", fields, 1, 3)
        directory = located(path_of("directory", directory))
        read_json(os.path.join(directory, DESCRIPTION))
        self._key = storage.absolute(directory), checksum(directory), format
        self._fields = fields

    def __call__(self, lines: Iterable[str]) -> list[str]:
        """Order each line.

        Raises:
            DataError: a line that is none, with its number, from 1; or the model cannot be read. A line may
                have its end, or none.
            UsageError: the model is another by now, or reads a layer that the lines do not have; or a
                line is given, not a list.
        """
        order, lines = _orderer(*self._key), each(line_of, lines=lines)
        parse = partial(parse_annotated, fields=self._fields)
        if self._fields == 1:
            lines, parse = list(text_lines("lines", iter(lines))), parse_source
        text = "".join(f"{line}\n" for line in lines).encode()
        ordered, _ = order((text,), len(lines), self._fields, partial(parse_lines, "lines", lines, parse))
        return ordered.split("\n")[:-1]


@lru_cache(maxsize=8)
def _orderer(directory: str, expected: str, format: str) -> LineOrderer:
    """Return what a process has loaded."""
    model = load_model(directory)
    if checksum(directory) != expected:
        raise UsageError(f"{directory}: the model has changed since preorder.LineModel was made of it")
    return LineOrderer(model, format)
