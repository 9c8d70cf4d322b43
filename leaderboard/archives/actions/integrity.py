"""Integrity check of an archive's readable part: each file is compared with its digest before anything is imported."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from zipfile import BadZipFile, ZipFile

_CHUNK = 1 << 20


def find_problems(outer: ZipFile, readable: Mapping[str, str], *, allowed: set[str]) -> list[str]:
    """Return one sentence for each file of the archive that is missing, altered or not expected; [] if there is none.

    outer: the open archive. readable: expected SHA-256 by name of file. allowed: names of files that are expected
    without a digest. Every file in `readable` is read completely.
    """
    names = set(outer.namelist())
    problems = [
        f"{name} is not in the archive, but the export wrote it" for name in sorted((readable.keys() | allowed) - names)
    ]
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
