"""Notebooks in git: clean, self-contained, and run from top to bottom by one command."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]


def test_there_are_notebooks():
    assert "01_first_forecast.ipynb" in {path.name for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_in_git_has_no_outputs_and_no_traces_of_a_run(path):
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    for cell in code_cells(path):
        assert cell.outputs == []
        assert cell.execution_count is None
        assert cell.metadata == {}
    assert set(notebook.metadata) <= {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_plain_python_that_fetches_nothing(path):
    for cell in code_cells(path):
        ast.parse(cell.source)  # no shell lines and no magics
        assert not re.search(r"https?://|urlopen|requests|['\"]/", cell.source)


def written(path: Path, *cells: str) -> Path:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nbformat.write(notebook, path)
    return path


def execute(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER / "execute.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
def test_a_failing_cell_is_named_and_the_others_notebooks_still_run(tmp_path):
    bad = written(tmp_path / "bad.ipynb", "x = 1", "x / 0", "x = 2")
    good = written(tmp_path / "good.ipynb", "open('here', 'w').write('x')", "1 + 1")
    done = execute(bad, good, "--out", tmp_path / "ran")
    assert done.returncode == 1
    assert "bad.ipynb: code cell 2:" in done.stdout
    assert "ZeroDivisionError" in done.stdout
    assert "good.ipynb: ran" in done.stdout
    assert code_cells(tmp_path / "ran" / "good.ipynb")[1].outputs[0].data["text/plain"] == "2"
    assert code_cells(good)[1].outputs == []  # the notebook itself stays clean
    assert not (tmp_path / "here").exists()
