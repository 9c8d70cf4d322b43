"""Encryption of an archive's closed part to curators' public keys, in the age format (age-encryption.org/v1).

During an export the part's plaintext is never written to disk.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import IO, NoReturn
from zipfile import BadZipFile

import pyrage
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from pyrage import x25519

from leaderboard.archives.actions.errors import ArchiveError

MOST_WORK = 20
"""Maximum work factor of a passphrase. Each step doubles time and memory: 20 takes some 10 s and 1 GiB."""
MOST_KEYS = 100
"""Maximum number of public keys to which an archive is encrypted: each takes 2 ms to try."""
_LONGEST_HEADER = 1 << 16
_SCRYPT = re.compile(rb"age-encryption\.org/v1\n-> scrypt [A-Za-z0-9+/]+ ([0-9]{1,2})\n")


class InvalidKeyError(Exception):
    """Error: a key is invalid or does not decrypt the archive. The message names the problem, never a secret key."""


def sealed(secret: str) -> bytes:
    """Encrypt a secret with the server's SECRET_KEY, to be stored until a worker uses it (`unsealed`)."""
    return _server_key().encrypt(secret.encode())


def unsealed(token: bytes) -> str:
    """Return the secret that `sealed` encrypted. Raises InvalidKeyError if SECRET_KEY has changed since."""
    try:
        return _server_key().decrypt(token).decode()
    except InvalidToken as error:
        raise InvalidKeyError("the server's own key has changed since it was entered; enter it again") from error


def _server_key() -> Fernet:
    digest = hashlib.sha256(b"archives:" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))


def generate_key() -> tuple[str, str]:
    """Generate a key pair. Return (secret key, public key); archives are encrypted to the public key."""
    identity = x25519.Identity.generate()
    return str(identity), str(identity.to_public())


def generate_protected_key(passphrase: str) -> tuple[bytes, str]:
    """Generate a key pair. Return (secret key encrypted with the passphrase, as an age file; public key).

    The passphrase itself need not be stored until the archive is written. Takes a second: age's scrypt is slow by
    design.
    """
    secret, public = generate_key()
    return pyrage.passphrase.encrypt(secret.encode(), passphrase), public


def unprotected(protected_key: bytes, passphrase: str) -> list[x25519.Identity]:
    """Decrypt the secret key from `generate_protected_key`. Return it as a list with one item.

    Raises InvalidKeyError for a wrong passphrase, and for a key that would take too long to decrypt.
    """
    header = _SCRYPT.match(protected_key)
    if header is None or int(header[1]) > MOST_WORK:
        raise InvalidKeyError(
            f"the encrypted key in the archive needs more work than this server does, 2^{MOST_WORK} steps of scrypt; "
            "decrypt it with age yourself, and enter the secret key that it contains"
        )
    try:
        secret = pyrage.passphrase.decrypt(protected_key, passphrase)
    except pyrage.DecryptError as error:
        raise InvalidKeyError(f"this is not the archive's passphrase ({error})") from error
    return identities(secret.decode(errors="replace").splitlines())


def recipients(lines: Sequence[str]) -> list[x25519.Recipient]:
    """Parse public keys, one per line, ignoring blank lines and comments.

    Raises InvalidKeyError for an invalid key, if there is no key, and if there are more than MOST_KEYS.
    """
    keys: list[x25519.Recipient] = []
    for n, line in _keys(lines):
        if len(keys) == MOST_KEYS:
            raise InvalidKeyError(f"line {n} is one key too many, expected at most {MOST_KEYS}")
        try:
            keys.append(x25519.Recipient.from_str(line))
        except pyrage.RecipientError as error:
            expected = "a public key, which begins with age1"
            shown = "a secret key" if line.upper().startswith("AGE-SECRET-KEY") else repr(line[:12])
            raise InvalidKeyError(f"line {n} is {shown}, expected {expected}") from error
    return keys or _none("public key (age1...)")


def identities(lines: Sequence[str]) -> list[x25519.Identity]:
    """Parse secret keys, one per line, as in a file that `age-keygen` wrote.

    Raises InvalidKeyError for an invalid key, and if there is no key.
    """
    keys = []
    for n, line in _keys(lines):
        try:
            keys.append(x25519.Identity.from_str(line))
        except pyrage.IdentityError as error:
            raise InvalidKeyError(f"line {n} is not a secret key, expected AGE-SECRET-KEY-1...") from error
    return keys or _none("secret key (AGE-SECRET-KEY-1...)")


@contextmanager
def encrypted_writer(into: IO[bytes], to: Sequence[x25519.Recipient]) -> Iterator[IO[bytes]]:
    """Yield a stream. What is written to it is encrypted to the public keys `to` and written to the file `into`."""
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
    """Yield the decrypted content of `source` as a temporary file without a name.

    by: secret keys, of which one must decrypt it. Raises InvalidKeyError if none does, and ArchiveError if the content
    is damaged.
    """
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as clear:
        try:
            _check_header(source)
            pyrage.decrypt_io(source, clear, list(by))
        except pyrage.DecryptError as error:
            raise InvalidKeyError(f"the encrypted part cannot be decrypted: {error}") from error
        except OSError as error:
            if error.errno is not None:  # of the machine, such as a full disk
                raise
            raise ArchiveError("the encrypted part is cut off, or was altered after the export") from error
        except (BadZipFile, EOFError, zlib.error) as error:
            raise ArchiveError(f"the encrypted part is damaged or was altered after the export: {error}") from error
        clear.seek(0)
        yield clear


def _check_header(source: IO[bytes]) -> None:
    """Raise ArchiveError if the header of an age file has more than MOST_KEYS keys. `source` is left at its start."""
    start = source.read(_LONGEST_HEADER)
    source.seek(0)
    header, end, _ = start.partition(b"\n--- ")
    if start.startswith(b"age-encryption.org/") and (not end or header.count(b"\n-> ") > MOST_KEYS):
        raise ArchiveError(f"the encrypted part has a header for more than {MOST_KEYS} keys, or it is damaged")


def _encrypt(source: int, into: IO[bytes], to: list[x25519.Recipient]) -> None:
    with os.fdopen(source, "rb") as stream:
        pyrage.encrypt_io(stream, into, to)


def _keys(lines: Sequence[str]) -> list[tuple[int, str]]:
    stripped = ((n, line.strip()) for n, line in enumerate(lines, 1))
    return [(n, line) for n, line in stripped if line and not line.startswith("#")]


def _none(kind: str) -> NoReturn:
    raise InvalidKeyError(f"no key was given, expected at least one {kind}")
