"""Ctrl-C during import: the exit status of an interrupt, and no traceback."""

from __future__ import annotations

import subprocess
import sys

_INTERRUPTED = """
import runpy, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "evaluator.cli.arguments":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
runpy.run_module("evaluator", run_name="__main__")
"""


def test_an_interrupt_while_loading_is_quiet():
    completed = subprocess.run([sys.executable, "-c", _INTERRUPTED], capture_output=True, check=False)
    assert (completed.returncode, completed.stdout, completed.stderr) == (130, b"", b"")
