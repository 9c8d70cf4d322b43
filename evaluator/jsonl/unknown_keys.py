"""Decoders that also read keys which a format does not name.

Files that bring such keys mostly bring the same ones on every line, with plain values. A record type that has them as
fields lets the reader count them at the speed of the rest, instead of looking at each line by itself.
"""

from collections.abc import Collection, Sequence
from typing import Generic, TypeVar, cast

import msgspec

Record = TypeVar("Record", bound=msgspec.Struct)
Plain = str | int | float | bool | None | msgspec.UnsetType


class Widened(Generic[Record]):
    """Records with some keys more. A line on which one of those is an object or a list is refused, not decoded."""

    def __init__(self, record: type[Record], keys: Collection[str]) -> None:
        """Raises ValueError for a key that cannot be a field's name, such as one with a quote in it."""
        fields = {f"ignored_{place}": key for place, key in enumerate(sorted(keys))}
        wide = msgspec.defstruct(
            f"Wide{record.__name__}",
            [(name, Plain, msgspec.UNSET) for name in fields],
            bases=(record,),
            rename=fields,
            kw_only=True,
            gc=False,
        )
        self.decode = msgspec.json.Decoder(cast(type[Record], wide)).decode
        self._fields = fields

    def found(self, records: Sequence[Record]) -> dict[str, list[int]]:
        """For each key that some record has: [place of the first, how many have it]."""
        result = {}
        for name, key in self._fields.items():
            having = [place for place, record in enumerate(records) if getattr(record, name) is not msgspec.UNSET]
            if having:
                result[key] = [having[0], len(having)]
        return result
