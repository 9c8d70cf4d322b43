"""Verify each file in an archive's readable part against its digest, before anything is imported."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from zipfile import BadZipFile, ZipFile

_CHUNK = 1 << 20


def find_problems(outer: ZipFile, readable: Mapping[str, str], *, allowed: set[str]) -> list[str]:
    """List files that are missing, altered or unlisted. readable: SHA-256 by name. beside: names without a digest.

    Every file is read completely, also those that are only passed on (inputs, downloads).
    """
    names = set(outer.namelist())
    problems = [f"{name} is not in the archive" for name in sorted((readable.keys() | allowed) - names)]
    problems += [
        f"{name} is in the archive, but the export did not write it"
        for name in sorted(names - readable.keys() - allowed)
    ]
    problems += [
        f"{name} was altered after the export"
        for name in sorted(readable.keys() & names)
        if _is_altered(outer, name, readable[name])
    ]
    return problems


def _is_altered(outer: ZipFile, name: str, expected: str) -> bool:
    digest = hashlib.sha256()
    try:
        with outer.open(name) as member:
            while chunk := member.read(_CHUNK):
                digest.update(chunk)
    except (BadZipFile, EOFError, NotImplementedError, zlib.error):
        return True
    return digest.hexdigest() != expected
