"""A division as a file: the groups of either half, the same bytes for the same halves."""

import msgspec

from evaluator.curation.splitting.halves import Halves
from evaluator.errors import SandboxError
from evaluator.jsonl.ids import Id


class _File(msgspec.Struct, forbid_unknown_fields=True):
    public: list[str | int]
    private: list[str | int]


def write_division(halves: Halves) -> bytes:
    """JSON, each half in order: integers first, then strings."""
    return msgspec.json.encode(_File(_ordered(halves.public), _ordered(halves.private)))


def read_division(content: bytes) -> Halves:
    """Raises SandboxError for what `write_division` cannot have written: the file is the site's own."""
    try:
        file = msgspec.json.decode(content, type=_File)
    except msgspec.MsgspecError as error:
        raise SandboxError(f"the division cannot be read: {error}") from None
    return Halves(frozenset(file.public), frozenset(file.private))


def _ordered(groups: frozenset[Id]) -> list[Id]:
    return sorted(groups, key=lambda group: (isinstance(group, str), group))
