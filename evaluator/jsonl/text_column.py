"""A column of texts, of which few are needed at a time: one string object for each text would take twice the memory."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

_CHUNK = 4096


class TextColumn(Sequence[str]):
    """Texts of a file, kept as UTF-8 in chunks, and decoded when they are read."""

    def __init__(self) -> None:
        self._chunks: list[bytes | list[str]] = []
        self._recent: list[str] = []  # those of the last chunk, which is not complete

    def extend(self, texts: Iterable[str]) -> None:
        self._recent.extend(texts)
        while len(self._recent) >= _CHUNK:
            chunk, self._recent = self._recent[:_CHUNK], self._recent[_CHUNK:]
            joined = "\0".join(chunk)
            # Readers refuse NUL in a text.
            self._chunks.append(joined.encode() if joined.count("\0") == _CHUNK - 1 else chunk)

    def append(self, text: str) -> None:
        self.extend((text,))

    def __len__(self) -> int:
        return len(self._chunks) * _CHUNK + len(self._recent)

    def __iter__(self) -> Iterator[str]:
        for number in range(len(self._chunks)):
            yield from self._chunk(number)
        yield from self._recent

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(self)[index]
        number, offset = divmod(range(len(self))[index], _CHUNK)
        return self._chunk(number)[offset]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def _chunk(self, number: int) -> list[str]:
        if number == len(self._chunks):
            return self._recent
        chunk = self._chunks[number]
        return chunk if isinstance(chunk, list) else chunk.decode().split("\0")
