"""File format of a public/private split: JSON with the groups of each subset, sorted so that equal splits give equal
bytes.
"""

import msgspec

from evaluator.curation.splitting.public_private import PublicPrivateSplit
from evaluator.errors import SandboxError
from evaluator.jsonl.ids import Id


class _File(msgspec.Struct, forbid_unknown_fields=True):
    public: list[str | int]
    private: list[str | int]


def write_public_private(split: PublicPrivateSplit) -> bytes:
    """Return the public/private split as JSON, each subset of groups sorted: integers first, then strings."""
    return msgspec.json.encode(_File(_ordered(split.public), _ordered(split.private)))


def read_public_private(content: bytes) -> PublicPrivateSplit:
    """Return the public/private split from the bytes that `write_public_private` returned.

    Raises SandboxError for any other bytes: the site wrote this file, so another content is an internal error.
    """
    try:
        file = msgspec.json.decode(content, type=_File)
    except msgspec.MsgspecError as error:
        raise SandboxError(f"the public/private split cannot be read: {error}") from None
    return PublicPrivateSplit(frozenset(file.public), frozenset(file.private))


def _ordered(groups: frozenset[Id]) -> list[Id]:
    return sorted(groups, key=lambda group: (isinstance(group, str), group))
