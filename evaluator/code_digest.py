"""Which code this is: the digest of the sources that validate, score and confine."""

from __future__ import annotations

import hashlib
from pathlib import Path

APART = ("cli", "curation", "sandbox/containers")
"""Folders that neither a score nor the process sandbox depends on."""


def digest(root: Path) -> str:
    """sha256, in hex, over names and contents of the Python files below `root`, in path order."""
    whole = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(tuple(f"{folder}/" for folder in APART)):
            whole.update(name.encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()


SHA256 = digest(Path(__file__).parent)
"""Taken when the process starts: of the code that it runs, whatever has been put in its place on the disk since."""
