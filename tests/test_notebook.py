"""The notebook runs, and shows what it showed when it was written."""

import pytest

from tests.support.notebook import NOTEBOOK, read, run

PICTURE = "image/svg+xml"


def outputs(notebook, with_pictures=True):
    """Return what the code cells show, a dictionary for each output."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            shown = {**output.get("data", {}), "text": output.get("text")}
            if not with_pictures:
                shown.pop(PICTURE, None)
            found.append(shown)
    return found


@pytest.mark.slow
def test_the_notebook_shows_what_its_cells_give():
    import matplotlib

    same = tuple(map(int, matplotlib.__version__.split(".")[:2])) >= (3, 11)  # older ones draw in other words
    assert outputs(run(), same) == outputs(read(), same)


def test_the_notebook_has_its_outputs():
    notebook = read()
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert sum(PICTURE in output for output in outputs(notebook)) == 1
    assert "tau 1.00" in outputs(notebook)[-1]["text"]


def test_the_notebook_says_nothing_of_a_machine():
    text = NOTEBOOK.read_text(encoding="utf-8")
    for part in ("/home", "/root", "/tmp", "/Users", "site-packages", "iopub", "Traceback"):
        assert part not in text, part
