"""Salted ids, which reveal nothing about the published ids: they are keyed digests (HMAC) of them."""

from __future__ import annotations

import hashlib
import hmac
import secrets

import msgspec

from leaderboard.hosting.importers.published import PublishedFileError

DIGITS = 16


class Salt:
    """Map from published ids to salted ids. Equal secrets give equal salted ids.

    secret: empty for a random one; it is never stored. The attribute `ids` has the ids mapped so far: published id ->
    salted id.
    """

    def __init__(self, secret: str = "") -> None:
        self._key = secret.encode() or secrets.token_bytes(32)
        self.ids: dict[str, str] = {}
        self._taken: set[str] = set()

    def id(self, published: str) -> str:
        """Return the salted id of a published id: 16 hexadecimal digits of its HMAC-SHA256. Record it in `ids`.

        Raises PublishedFileError if another published id has the same salted id.
        """
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
        """Return the salted name of a group, which differs from the salted id of an item with the same published id."""
        return self._digest(f"group {published}")

    def _digest(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:DIGITS]


class _Known(msgspec.Struct):
    id: int | str


def salted(line: bytes, salt: Salt) -> bytes:
    """Return a JSON line with its `id` replaced by the salted id and moved to the front; other values do not change."""
    published = msgspec.json.decode(line, type=_Known).id
    fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    return msgspec.json.encode({"id": salt.id(str(published)), **{k: v for k, v in fields.items() if k != "id"}})
