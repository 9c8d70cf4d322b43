"""Ctrl-C while modules are loaded: the status of an interrupt, and no traceback."""

from __future__ import annotations

import subprocess
import sys

_INTERRUPTED = """
import runpy, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "evaluator.tasks.registry":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
runpy.run_module("evaluator", run_name="__main__")
"""


def test_an_interrupt_while_loading_is_quiet():
    ended = subprocess.run([sys.executable, "-c", _INTERRUPTED], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")
