"""Parsed gold of fact-verification."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.tasks.fact_verification.layout import EXPECTED_LABEL, Claim, GoldSentence, Question, label_code
from evaluator.tasks.items.files import Fault, ItemGold

_CHUNK = 4096


class TextColumn(Sequence[str]):
    """Texts of a file, kept as UTF-8 in chunks, and decoded when they are read.

    Few are needed at a time: one string object for each text would take twice the memory.
    """

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


@dataclass
class Gold(ItemGold):
    """Parsed gold. The lists have one entry per claim, in the order of the file; `lines` is empty.

    labels: indices into LABELS. evidence: the claim's evidence sets, of which each is sufficient; None: the line has no
    key `evidence`.
    """

    claims: TextColumn = field(default_factory=TextColumn)
    labels: list[int] = field(default_factory=list)
    evidence: list[list[list[GoldSentence]] | None] = field(default_factory=list)
    evidence_texts: list[str | None] = field(default_factory=list)

    @property
    def has_evidence(self) -> bool:
        return any(sets is not None for sets in self.evidence)

    @property
    def needs_evidence(self) -> npt.NDArray[np.bool_]:
        """A mask over the claims: True if the prediction of a claim needs `predicted_evidence`."""
        return np.fromiter((sets is not None for sets in self.evidence), dtype=np.bool_, count=len(self.evidence))

    @property
    def declares_origin(self) -> bool:
        return any(slices and "origin" in slices for slices in self.slices)

    def problems(self, line: Claim) -> Iterable[Fault]:
        return (("unknown label", "another string", EXPECTED_LABEL),) if label_code(line.label) < 0 else ()

    def extend(self, lines: Sequence[Claim]) -> None:
        unset = msgspec.UNSET
        self.claims.extend(line.claim for line in lines)
        self.labels.extend(label_code(line.label) for line in lines)
        self.evidence.extend(None if line.evidence is unset else line.evidence for line in lines)
        self.evidence_texts.extend(None if line.evidence_text is unset else line.evidence_text for line in lines)

    def inputs(self, record: type[Question]) -> Iterable[Question]:
        return (
            record(value, claim, msgspec.UNSET if text is None else text)
            for value, claim, text in zip(self.ids, self.claims, self.evidence_texts, strict=True)
        )
