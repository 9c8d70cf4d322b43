"""Container images for tests, built by a real engine from a base without a registry and saved as archives."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path

BASE = os.environ.get("TEST_BASE_IMAGE", "holdout-base")

ANSWERING = """
import json, os
answers = {answers!r}
with open("/output/predictions.jsonl", "w") as out:
    for line in open("/input/inputs.jsonl"):
        question = json.loads(line)
        if question["id"] in answers:
            out.write(json.dumps({{"id": question["id"], "predicted_label": answers[question["id"]]}}) + "\\n")
print("answered", len(answers))
"""


@functools.cache
def missing() -> str:
    """Return why containers cannot run here, and what to do; empty if they can."""
    if not shutil.which("docker") or _docker("version").returncode:
        return "needs a running Docker engine: apt-get install docker.io, then dockerd"
    if _docker("image", "inspect", BASE).returncode:
        return f"needs the image {BASE}: .ci/base-image {BASE} FOLDER (or set TEST_BASE_IMAGE)"
    return ""


def archive_of(program: str, folder: Path) -> Path:
    """Save an image that runs a Python program as an archive; the image is removed from the engine.

    Each call makes another digest, so that concurrent test processes do not remove or load each other's images.
    """
    with tempfile.TemporaryDirectory() as context:
        Path(context, "main.py").write_text(program)
        Path(context, "Dockerfile").write_text(
            f'FROM {BASE}\nLABEL test={uuid.uuid4().hex}\nCOPY main.py /main.py\nENTRYPOINT ["python3", "/main.py"]\n'
        )
        built = _docker("build", "--quiet", context)
    if built.returncode:
        raise AssertionError(built.stderr)
    image = built.stdout.strip()
    archive = folder / f"{image[-12:]}.tar"
    saved = _docker("save", "--output", str(archive), image)
    if saved.returncode:
        raise AssertionError(saved.stderr)
    _docker("image", "rm", image)
    return archive


def answering(answers: dict[str, str]) -> str:
    """Return a program that predicts labels for these claims only."""
    return ANSWERING.format(answers=answers)


def containers(label: str) -> list[str]:
    """Return the engine's containers with a label, in any state."""
    return _docker("ps", "--all", "--quiet", "--filter", f"label={label}").stdout.split()


def left(instance: str) -> list[str]:
    """Return the engine's containers and volumes of an instance of the site."""
    label = f"holdout.instance={instance}"
    return containers(label) + _docker("volume", "ls", "--quiet", "--filter", f"label={label}").stdout.split()


def volumes() -> set[str]:
    """Return the engine's volumes that have no container and no label of this project.

    Those of concurrent tests have a container or a label.
    """
    # One call: between two, a concurrent test may remove a volume that the first has listed.
    form = '{{.Name}} {{.Label "holdout.instance"}}'
    unused = _docker("volume", "ls", "--filter", "dangling=true", "--format", form).stdout.splitlines()
    return {name for name, instance in (line.split(" ", 1) for line in unused) if not instance}


def is_there(image: str) -> bool:
    """Return True if the engine has an image."""
    return _docker("image", "inspect", image).returncode == 0


def _docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
