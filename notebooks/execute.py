"""Runs notebooks from top to bottom, each in a new kernel and an empty folder: ``make notebooks``.

``python notebooks/execute.py [NOTEBOOK ...] [--out FOLDER]``; all of this folder by default. The
notebooks themselves stay as they are, without outputs; ``--out`` keeps the executed copies.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

CELL_SECONDS = 600
HERE = Path(__file__).parent


def execute(path: Path, out: Path | None) -> str:
    """Run one notebook; returns what went wrong, nothing if all is well."""
    notebook = nbformat.read(path, as_version=4)
    fault = ""
    with tempfile.TemporaryDirectory(prefix="motionpred-notebook-") as folder:
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            cell = sum(c.cell_type == "code" and bool(c.execution_count) for c in notebook.cells)
            fault = f"code cell {cell}: {error}"
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, out / path.name)
    return fault


def main() -> int:
    """Exit code 1 if a notebook fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    failed = 0
    for path in arguments.notebooks or sorted(HERE.glob("*.ipynb")):
        begin = time.perf_counter()
        fault = execute(path, arguments.out)
        seconds = time.perf_counter() - begin
        failed += bool(fault)
        print(f"{path.name}: {fault or 'ran'} ({seconds:.0f} s)", flush=True)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
