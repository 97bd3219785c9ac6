"""The notebook runs, and shows what it showed when it was written.

``python -m tests.test_notebook`` writes it with the outputs of today.
"""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "docs/notebook.ipynb"
PICTURE = "image/svg+xml"


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


def outputs(notebook, with_pictures=True):
    """Return what the code cells show, a dictionary for each output."""
    found = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    left_out = () if with_pictures else (PICTURE,)
    return [
        {kind: data for kind, data in output.get("data", {}).items() if kind not in left_out}
        | {"text": output.get("text")}
        for output in found
    ]


@pytest.mark.slow
def test_the_notebook_shows_what_its_cells_give():
    import matplotlib

    same = tuple(map(int, matplotlib.__version__.split(".")[:2])) >= (3, 11)  # older ones draw in other words
    assert outputs(run(), same) == outputs(read(), same)


def test_the_notebook_has_its_outputs_and_nothing_of_a_machine():
    notebook = read()
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert sum(PICTURE in output for output in outputs(notebook)) == 1
    assert "tau 1.00" in outputs(notebook)[-1]["text"]
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert not re.findall("/home|/root|/tmp|/Users|site-packages|iopub|Traceback", text)


if __name__ == "__main__":
    nbformat.write(run(), NOTEBOOK)
