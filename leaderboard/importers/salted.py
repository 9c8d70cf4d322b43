"""Ids that tell nothing: keyed digests of the published ones."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from leaderboard.importers.published import ImportFault

DIGITS = 16


class Salt:
    """Published id -> public id; the same salt gives the same ids. The salt itself is kept nowhere."""

    def __init__(self, secret: str = "") -> None:
        self._key = secret.encode() or secrets.token_bytes(32)
        self.ids: dict[str, str] = {}
        self._taken: set[str] = set()

    def id(self, published: str) -> str:
        """The public id: 16 hexadecimal digits of HMAC-SHA256; raises ImportFault should two ids meet."""
        known = self.ids.get(published)
        if known is None:
            known = self.ids[published] = self._digest(published)
            if known in self._taken:
                raise ImportFault(f"id {published} has the digest of another one; import again with another salt")
            self._taken.add(known)
        return known

    def group(self, published: str) -> str:
        """The public name of a group. A group bears its original's id, so it gets a digest of its own."""
        return self._digest(f"group {published}")

    def _digest(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:DIGITS]
