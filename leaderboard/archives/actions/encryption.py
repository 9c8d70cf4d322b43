"""Encryption of an archive's closed part to a curator's key, in the age format (age-encryption.org/v1).

Its plaintext is never written to disk during an export.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import IO

import pyrage
from django.conf import settings
from pyrage import x25519


class InvalidKeyError(Exception):
    """A key is invalid or does not open the archive; the message names the problem, never the key."""


def generate_key() -> tuple[str, str]:
    """Generate a key pair: (secret key, public key that archives are encrypted to)."""
    identity = x25519.Identity.generate()
    return str(identity), str(identity.to_public())


def recipients(lines: Sequence[str]) -> list[x25519.Recipient]:
    """Parse public keys, one a line, ignoring blank lines and comments. Raises InvalidKeyError, also for no key."""
    keys = []
    for line in _keys(lines):
        try:
            keys.append(x25519.Recipient.from_str(line))
        except pyrage.RecipientError as error:
            expected = "a public key, which begins with age1"
            shown = "a secret key" if line.upper().startswith("AGE-SECRET-KEY") else repr(line[:12])
            raise InvalidKeyError(f"found {shown}, expected {expected}") from error
    return keys or _none("public key (age1...)")


def identities(lines: Sequence[str]) -> list[x25519.Identity]:
    """Parse secret keys, as written by `age-keygen`. Raises InvalidKeyError."""
    keys = []
    for line in _keys(lines):
        try:
            keys.append(x25519.Identity.from_str(line))
        except pyrage.IdentityError as error:
            raise InvalidKeyError("a line is not a secret key, expected AGE-SECRET-KEY-1...") from error
    return keys or _none("secret key (AGE-SECRET-KEY-1...)")


@contextmanager
def encrypted_writer(into: IO[bytes], to: Sequence[x25519.Recipient]) -> Iterator[IO[bytes]]:
    """Yield a stream; bytes written to it are encrypted into `into`."""
    source, sink = os.pipe()
    with ThreadPoolExecutor(max_workers=1) as pool:
        work = pool.submit(_encrypt, source, into, list(to))
        try:
            with os.fdopen(sink, "wb") as stream:
                yield stream
        except BrokenPipeError:
            work.result()  # encryption failed first: raise its error instead
            raise
        work.result()


@contextmanager
def decrypted_reader(source: IO[bytes], by: Sequence[x25519.Identity]) -> Iterator[IO[bytes]]:
    """Yield the decrypted content as an unnamed file. Raises InvalidKeyError if no key opens it or it was altered."""
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as clear:
        try:
            pyrage.decrypt_io(source, clear, list(by))
        except pyrage.DecryptError as error:
            raise InvalidKeyError(f"the encrypted part cannot be decrypted: {error}") from error
        clear.seek(0)
        yield clear


def _encrypt(source: int, into: IO[bytes], to: list[x25519.Recipient]) -> None:
    with os.fdopen(source, "rb") as stream:
        pyrage.encrypt_io(stream, into, to)


def _keys(lines: Sequence[str]) -> list[str]:
    stripped = (line.strip() for line in lines)
    return [line for line in stripped if line and not line.startswith("#")]


def _none(kind: str) -> list[object]:
    raise InvalidKeyError(f"no key was given, expected at least one {kind}")
