"""Run ``docs/notebook.ipynb``; ``python -m tests.support.notebook`` writes it with the outputs of today."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "docs/notebook.ipynb"


def read():
    return nbformat.read(NOTEBOOK, as_version=4)


def run():
    """Return the notebook with the outputs that its cells give now, and nothing about this machine."""
    notebook = read()
    folder = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(notebook, kernel_name="python3", record_timing=False, resources=folder).execute()
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":  # what a library warns of is not shown
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


if __name__ == "__main__":
    nbformat.write(run(), NOTEBOOK)
