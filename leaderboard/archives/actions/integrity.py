"""Whether the open part of an archive is what was written: each file of it, before anything is taken in."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from zipfile import BadZipFile, ZipFile

_CHUNK = 1 << 20


def faults(outer: ZipFile, readable: Mapping[str, str], *, beside: set[str]) -> list[str]:
    """What is missing, altered, or not named, a line each. readable: sha256 by name. beside: what has no digest there.

    Every file is read through: a changed byte of what is only handed on (inputs, downloads) is found as one of a board.
    """
    held = set(outer.namelist())
    found = [f"{name} is not in the archive" for name in sorted((readable.keys() | beside) - held)]
    found += [
        f"{name} is in the archive, and was not written into it" for name in sorted(held - readable.keys() - beside)
    ]
    found += [
        f"{name} was altered in the archive"
        for name in sorted(readable.keys() & held)
        if _is_altered(outer, name, readable[name])
    ]
    return found


def _is_altered(outer: ZipFile, name: str, expected: str) -> bool:
    digest = hashlib.sha256()
    try:
        with outer.open(name) as member:
            while chunk := member.read(_CHUNK):
                digest.update(chunk)
    except (BadZipFile, EOFError, NotImplementedError, zlib.error):
        return True
    return digest.hexdigest() != expected
