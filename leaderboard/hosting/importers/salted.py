"""Opaque ids: keyed digests of the published ones."""

from __future__ import annotations

import hashlib
import hmac
import secrets

import msgspec

from leaderboard.hosting.importers.published import PublishedFileError

DIGITS = 16


class Salt:
    """Map published to public ids; the same salt gives the same ids. The salt itself is never stored."""

    def __init__(self, secret: str = "") -> None:
        self._key = secret.encode() or secrets.token_bytes(32)
        self.ids: dict[str, str] = {}
        self._taken: set[str] = set()

    def id(self, published: str) -> str:
        """Return the public id: 16 hexadecimal digits of HMAC-SHA256; raises ImportFault on a collision."""
        known = self.ids.get(published)
        if known is None:
            known = self.ids[published] = self._digest(published)
            if known in self._taken:
                raise PublishedFileError(
                    f"id {published} has the same digest as another id; import again with another salt"
                )
            self._taken.add(known)
        return known

    def group(self, published: str) -> str:
        """Return the public name of a group, prefixed since a group has its original's id."""
        return self._digest(f"group {published}")

    def _digest(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:DIGITS]


class _Known(msgspec.Struct):
    id: int | str


def salted(line: bytes, salt: Salt) -> bytes:
    """Return a JSON line with a salted id as its first key; other values are unchanged."""
    published = msgspec.json.decode(line, type=_Known).id
    fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    return msgspec.json.encode({"id": salt.id(str(published)), **{k: v for k, v in fields.items() if k != "id"}})
