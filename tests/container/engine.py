"""Runs Docker by its command, and compose by the command that this machine has."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMAGE = os.environ.get("TEST_IMAGE", "holdout:ci")


def docker(*arguments: str, check: bool = True, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return _run(["docker", *arguments], check=check, env=env)


def run(*arguments: str, user: str = "", options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command of the image in a temporary container."""
    as_user = ("--user", user) if user else ()
    return docker("run", "--rm", "--network", "none", *as_user, *options, IMAGE, *arguments, check=False)


@functools.cache
def missing() -> str:
    """Return why the image cannot be tested here, and what to do; empty if it can."""
    if not shutil.which("docker") or docker("version", check=False).returncode:
        return "needs a running Docker engine: apt-get install docker.io docker-compose, then dockerd"
    if docker("image", "inspect", IMAGE, check=False).returncode:
        return f"needs the image {IMAGE}: docker build -t {IMAGE} . (or set TEST_IMAGE)"
    if not compose_command():
        return "needs compose: apt-get install docker-compose"
    return ""


@functools.cache
def compose_command() -> tuple[str, ...]:
    """Return `docker compose`, or Debian's `docker-compose`; empty if there is neither."""
    for command in (("docker", "compose"), ("docker-compose",)):
        if shutil.which(command[0]) and _run([*command, "version"], check=False).returncode == 0:
            return command
    return ()


def _run(command: list[str], *, check: bool, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if check and done.returncode:
        raise AssertionError(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done
