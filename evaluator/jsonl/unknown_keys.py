"""Decoders that also accept keys that a format does not name (unknown keys).

Files with unknown keys mostly have the same keys on every line, with scalar values. A record type with these keys as
fields lets the reader count them at full speed instead of examining each line.
"""

from collections.abc import Collection, Sequence
from typing import Generic, TypeVar, cast

import msgspec

Record = TypeVar("Record", bound=msgspec.Struct)
Plain = str | int | float | bool | None | msgspec.UnsetType


class Widened(Generic[Record]):
    """A decoder for a record type with additional keys, whose values are ignored.

    Decoding fails on a line in which an additional key has an object or a list as its value.
    """

    def __init__(self, record: type[Record], keys: Collection[str]) -> None:
        """Build the decoder: for the record type `record`, with each of `keys` as an optional field.

        Raises ValueError for a key that cannot be a field's name, such as one that contains a quote.
        """
        fields = {f"ignored_{index}": key for index, key in enumerate(sorted(keys))}
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

    def positions(self, records: Sequence[Record]) -> dict[str, list[int]]:
        """Return additional key -> [index of the first record that has it, number of records that have it].

        records: as decoded. A key that no record has is left out.
        """
        result = {}
        for name, key in self._fields.items():
            indices = [index for index, record in enumerate(records) if getattr(record, name) is not msgspec.UNSET]
            if indices:
                result[key] = [indices[0], len(indices)]
        return result
