"""A process ends with its parent."""

from __future__ import annotations

import os
import select
import subprocess
import sys

from tests.conftest import ROOT

PATIENCE = 120.0
BUSY = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"
PARENT = f"""
import os, subprocess, sys
from functools import partial
from leaderboard.operations.parent_process import end_with
child = subprocess.Popen([sys.executable, "-c", "{BUSY}"], preexec_fn=partial(end_with, os.getpid()), stdout=-1)
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""


def test_a_process_in_the_middle_of_its_work_ends_with_its_killed_parent() -> None:
    """Like a worker that would first finish its run, which may take minutes."""
    with subprocess.Popen([sys.executable, "-c", PARENT], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        watched = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
        assert select.select([watched], [], [], PATIENCE)[0], "it goes on"
        os.close(watched)
