"""``preorder report``: put runs on one page of HTML."""

from __future__ import annotations

import argparse
from pathlib import Path

from preorder.command_line import options
from preorder.command_line.paths import check_outputs
from preorder.errors import require
from preorder.io import files
from preorder.progress import LOGGER, progress

EXAMPLES = """\
  preorder report runs/svo-sov-tiny
  preorder report runs --out runs.html

A folder holds a report.json, or folders that do; python -m preorder_recipes.run writes one.
It names the files of the run (docs/evaluation.md); paths are relative to its folder, and lie in it, unless
--also names them. The page needs no other file, and no network.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder report``."""
    parser.add_argument("folders", metavar="DIR", nargs="+", help="folder of a run, or of several")
    text = "files, and folders of files, outside of the runs' folders that a report.json may name"
    parser.add_argument("--also", metavar="F|DIR", nargs="+", action="extend", default=[], help=text)
    options.add_files(parser, "F.html", out="file of the page (default: report.html in the first DIR)")
    options.add_seed(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the page of all runs."""
    from preorder.analysis.report import find_manifests, page, read_manifest, report_run

    paths = [path for folder in arguments.folders for path in find_manifests(folder)]
    manifests = [read_manifest(path, arguments.also) for path in paths]
    out = arguments.out or str(Path(arguments.folders[0]) / "report.html")
    check_outputs([*map(str, paths), *(path for one in manifests for path in one.paths())], [out])
    require("matplotlib", "plots")
    measuring = progress(manifests, "runs", len(manifests), "measured")
    runs = [report_run(one, arguments.seed) for one in measuring]
    title = manifests[0].title if len(runs) == 1 else f"{len(runs)} runs"
    files.write_lines(out, [page(title, runs)])
    if arguments.out is None:
        LOGGER.info(f"saved in {out}")
