"""The environments in which the sandbox must confine jobs, and how a server starts in each.

`user` is really unprivileged: setpriv changes the user to nobody before Python starts. A clone, and the Python that
runs the tests, may be in a folder that only root can read. So the package is copied to a folder that all can read, and
where nobody cannot run this Python, the system's Python of the same version runs it with our libraries.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evaluator.sandbox.process.launch import ROOT

HERE = Path(__file__).resolve().parent
NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
LIKE_A_CONTAINER = "unshare,setns,mount,umount2,pivot_root"


@dataclass(frozen=True)
class Environment:
    """An environment: how to start a server in it, and which best-effort layers the server must then have."""

    name: str
    user: bool = False
    refused: str = ""

    @property
    def wrapper(self) -> list[str]:
        command = [interpreter(self.user), str(shared_copy() / "refuse.py"), self.refused] if self.refused else []
        return command + list(AS_NOBODY if self.user and os.geteuid() == 0 else ())

    @property
    def start(self) -> dict[str, object]:
        """Arguments of launch.start."""
        return {
            "wrapper": self.wrapper,
            "root": shared_copy(),
            "python": interpreter(self.user),
            "paths": [shared_copy(), *libraries()],
        }

    def possible(self) -> str:
        """The reason why this environment is impossible here, or an empty string."""
        if not self.user and os.geteuid() != 0:
            return "needs root"
        if self.user and interpreter(self.user) == "":
            return "others cannot run this Python with its packages: run as another user, or chmod -R go+rX .venv"
        return ""


ENVIRONMENTS = [
    Environment("root"),
    Environment("user", user=True),
    Environment("root-like-in-a-container", refused=LIKE_A_CONTAINER),
    Environment("user-like-in-a-container", user=True, refused=LIKE_A_CONTAINER),
    Environment(
        "user-without-landlock-and-namespaces", user=True, refused=LIKE_A_CONTAINER + ",landlock_create_ruleset"
    ),
]


@cache
def shared_copy() -> Path:
    """A folder that anybody can read: the evaluator package and the hostile jobs. Removed after the tests."""
    folder = shared_folder()
    shutil.copytree(ROOT / "evaluator", folder / "evaluator", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("hostile_jobs.py", "refuse.py"):
        shutil.copy(HERE / name, folder / name)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


@cache
def _folders() -> list[Path]:
    return []


def shared_folder(owner: int | None = None) -> Path:
    """A short-named folder outside pytest's private ones, removed by `remove_shared`."""
    folder = Path(tempfile.mkdtemp(prefix="holdout-"))
    folder.chmod(0o755)
    if owner is not None and os.geteuid() == 0:
        os.chown(folder, owner, owner)
    _folders().append(folder)
    return folder


def remove_shared() -> None:
    while _folders():
        shutil.rmtree(_folders().pop(), ignore_errors=True)
    shared_copy.cache_clear()


def libraries() -> list[str]:
    return list({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})


@cache
def interpreter(user: bool) -> str:
    """A Python for the server: the tests' own, unless an unprivileged user cannot use that one."""
    if not user or os.geteuid() != 0:
        return sys.executable
    system = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    for python, base in ((sys.executable, sys.base_prefix), (system, "/usr")):
        program = f"import sys; sys.path += {libraries()!r}; import msgspec, numpy; print(sys.base_prefix)"
        command = ["env", "-i", *AS_NOBODY, "/bin/sh", "-c", 'exec "$0" "$@"', python, "-I", "-c", program]
        result = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
        if result.stdout.strip() == base:
            return python
    return ""
