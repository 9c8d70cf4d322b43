"""A hash table of ids in NumPy columns, which looks up the ids of a whole block of lines at once.

A dict needs about 140 bytes for each id, and if ids are looked up in another order than they were added, every lookup
misses the processor's caches four times. Here an id is stored as words: 8 bytes for each 8 bytes of its text. The
processor overlaps the lookups of a block. Comparisons are exact: the words of an id are the id itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

Id = str | int
Indices = npt.NDArray[np.int64]
_Words = list[npt.NDArray[np.uint64]]

_MOST_WORDS = 32
"""Maximum number of columns: they hold ids of up to 256 bytes, and integers of 64 bits."""
_CHUNK = 1 << 14
_FEWEST = 1 << 10
_BITS = (1 << 64) - 1
_FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)
_SALT = hash("ids") & _BITS
"""A number that differs in each process, so that nobody can choose ids that all begin at one slot."""


class IdTable(Mapping[Id, int]):
    """The distinct ids of a file, each with its index in the order of the file.

    kind: the type of the first id, str or int, which all ids have; None before the first id.
    """

    def __init__(self) -> None:
        self.kind: type | None = None
        self._n = 0  # the number of ids in columns
        self._words: _Words = []
        self._slots = np.full(_FEWEST, -1, dtype=np.int32)
        self._others: dict[Id, int] = {}  # ids that were added one by one, or all ids if columns cannot hold one
        self._holds = True  # False if columns cannot hold an id

    def __len__(self) -> int:
        return self._n + len(self._others)

    def __iter__(self) -> Iterator[Id]:
        for begin in range(0, self._n, _CHUNK):
            yield from self._ids(begin, min(begin + _CHUNK, self._n))
        yield from self._others

    def __getitem__(self, value: object) -> int:
        index: int | None = self.get(value)
        if index is None:
            raise KeyError(value)
        return index

    def __contains__(self, value: object) -> bool:
        return self.get(value) is not None

    def get(self, value: object, default: Any = None) -> Any:
        """Return the index of an id, or `default` if the id is not in the table."""
        if type(value) is not self.kind or not isinstance(value, str | int):
            return default
        if not self._n:
            return self._others.get(value, default)
        words = _words_of_one(value)
        if words is None or len(words) > len(self._words):
            return self._others.get(value, default)
        words += [0] * (len(self._words) - len(words))
        slot = _hash_of_one(words) & (len(self._slots) - 1)
        while (index := self._slots.item(slot)) >= 0:
            if all(column.item(index) == word for column, word in zip(self._words, words, strict=True)):
                return index
            slot = (slot + 1) & (len(self._slots) - 1)
        return self._others.get(value, default)

    def sequence(self) -> Sequence[Id]:
        """Return the ids in the order of their indices."""
        self._fill_columns()
        return IdSequence(self) if self._holds else list(self._others)

    def at(self, index: int) -> Id:
        """Return the id with this index.

        Ids that were added one by one can be read only after `sequence` or `find`, which put them into columns. An
        index that is not in the columns gives a meaningless id or IndexError.
        """
        return self._ids(index, index + 1)[0]

    def find(self, ids: Sequence[Id]) -> Indices:
        """Return the index of each id in the table, -1 for an id that is not in the table."""
        self._fill_columns()
        words = self._words_of(ids)
        if words is None:
            return np.array([self.get(value, -1) for value in ids], dtype=np.int64)
        slots = self._first_slots(words)
        found = self._slots[slots].astype(np.int64)
        wrong = np.zeros(len(ids), dtype=np.bool_)
        for column, word in zip(self._words, words, strict=True):
            wrong |= column[found] != word
        pending = np.flatnonzero(wrong & (found >= 0))
        while len(pending):
            slots[pending] = (slots[pending] + 1) & (len(self._slots) - 1)
            found[pending] = entries = self._slots[slots[pending]]
            wrong[pending] = False
            for column, word in zip(self._words, words, strict=True):
                wrong[pending] |= column[entries] != word[pending]
            pending = pending[wrong[pending] & (entries >= 0)]
        return found

    def add(self, value: Id) -> bool:
        """Add an id, with the next index. Return False, without adding it, if it is a duplicate or has another type."""
        self.kind = self.kind or type(value)
        if type(value) is not self.kind or self.get(value) is not None:
            return False
        self._others[value] = len(self)
        return True

    def add_all(self, ids: Sequence[Id]) -> bool:
        """Add ids, with the next indices. Return False, and add none, if one is a duplicate or has another type."""
        self.kind = self.kind or (type(ids[0]) if ids else None)
        if len(set(ids)) < len(ids) or set(map(type, ids)) - {self.kind} or (self.find(ids) >= 0).any():
            return False
        if ids:
            self._append(ids)
        return True

    def _fill_columns(self) -> None:
        if self._holds and self._others:
            ids, self._others = list(self._others), {}
            self._append(ids)

    def _append(self, ids: Sequence[Id]) -> None:
        words = _words(ids, self.kind) if self._holds else None
        if words is None:
            if self._holds:
                self._others = {value: index for index, value in enumerate(self)}
                self._holds, self._n, self._words = False, 0, []
            self._others.update(zip(ids, range(len(self), len(self) + len(ids)), strict=True))
            return
        end = self._n + len(ids)
        wider = len(words) > len(self._words)
        for _ in range(len(self._words), len(words)):
            self._words.append(np.zeros(len(self._words[0]) if self._words else _FEWEST, dtype=np.uint64))
        capacity = len(self._words[0])
        if end > capacity:
            for k, column in enumerate(self._words):
                self._words[k] = np.zeros(max(2 * capacity, end), dtype=np.uint64)
                self._words[k][: self._n] = column[: self._n]
        for column, word in zip(self._words, words, strict=False):
            column[self._n : end] = word
        begin, self._n = self._n, end
        if wider or 2 * end > len(self._slots):
            self._slots = np.full(max(_FEWEST, 2 << (end - 1).bit_length()), -1, dtype=np.int32)
            begin = 0
        for start in range(begin, end, _CHUNK):
            self._insert(start, min(start + _CHUNK, end))

    def _insert(self, begin: int, end: int) -> None:
        """Put the ids with the indices from `begin` to `end` - 1 into slots.

        None of these ids may be in a slot yet. Each gets the first free slot, from the slot that its hash selects on.
        """
        indices = np.arange(begin, end)
        slots = self._first_slots([column[begin:end] for column in self._words])
        while len(indices):
            free = self._slots[slots] < 0
            self._slots[slots[free]] = indices[free]
            rest = self._slots[slots] != indices
            indices, slots = indices[rest], (slots[rest] + 1) & (len(self._slots) - 1)

    def _first_slots(self, words: _Words) -> Indices:
        hashes = np.full(len(words[0]), _SALT, dtype=np.uint64)
        for word in words:
            hashes ^= word
            for factor in _FACTORS:
                hashes *= np.uint64(factor)
                hashes ^= hashes >> np.uint64(32)
        return (hashes & np.uint64(len(self._slots) - 1)).astype(np.int64)

    def _words_of(self, ids: Sequence[Id]) -> _Words | None:
        """Return the words (8 bytes each) of ids, in as many columns as the table has.

        None if the table has no columns yet, or if an id has another type than the ids in the table, or more words than
        the table has columns.
        """
        if not self._n or set(map(type, ids)) != {self.kind}:
            return None
        words = _words(ids, self.kind)
        if words is None or len(words) > len(self._words):
            return None
        return words + [np.zeros(len(ids), dtype=np.uint64)] * (len(self._words) - len(words))

    def _ids(self, begin: int, end: int) -> list[Id]:
        if self.kind is int:
            return [*self._words[0][begin:end].view(np.int64).tolist()]
        rows = np.stack([column[begin:end] for column in self._words], axis=1)
        return [value.decode() for value in rows.view(f"S{rows.shape[1] * 8}").ravel().tolist()]


class IdSequence(Sequence[Id]):
    """The ids of a table, in the order of their indices.

    It also serves as the groups of gold that declares none: each line is then its own group, named by its id.
    """

    def __init__(self, table: IdTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[Id]:
        return iter(self._table)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._table.at(range(len(self))[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def _words(ids: Sequence[Id], kind: type | None) -> _Words | None:
    """Return the words (8 bytes each) of ids of one type, as columns.

    kind: the type, str or int. None if columns cannot hold an id: a text of over 8 * _MOST_WORDS bytes, with NUL or
    with half a surrogate pair, or an integer of over 64 bits.
    """
    if kind is int:
        try:
            return [np.array(ids, dtype=np.int64).view(np.uint64)]
        except OverflowError:
            return None
    try:
        texts = [*map(str.encode, cast(Sequence[str], ids))]
        longest = max(map(len, texts))
        # The words are padded with NUL. Readers refuse it in a text.
        if longest > 8 * _MOST_WORDS or b"\0" in b"".join(texts):
            return None
    except UnicodeEncodeError:  # half of a surrogate pair
        return None
    n_words = max(1, -(-longest // 8))
    rows = np.array(texts, dtype=f"S{8 * n_words}").view("<u8").reshape(len(texts), n_words)
    return list(rows.T)


def _words_of_one(value: Id) -> list[int] | None:
    if isinstance(value, int):
        return [value & _BITS] if -(1 << 63) <= value < 1 << 63 else None
    try:
        text = value.encode()
    except UnicodeEncodeError:
        return None
    if b"\0" in text:
        return None
    return [int.from_bytes(text[k : k + 8], "little") for k in range(0, max(len(text), 1), 8)]


def _hash_of_one(words: Sequence[int]) -> int:
    result = _SALT
    for word in words:
        result ^= word
        for factor in _FACTORS:
            result = result * factor & _BITS
            result ^= result >> 32
    return result
