"""Warnings and hints about facts that are valid, but probably match nothing: offsets and links of another kind.

They depend on the predictions and the public inputs alone.
"""

from __future__ import annotations

import re

from evaluator.errors import shown
from evaluator.tasks.knowledge_base_population.facts import FactTable
from evaluator.tasks.knowledge_base_population.layout import DATE_PROPERTIES, Fact

_FEW = 20  # fewer facts do not show how a system counts
_CUTS = 0.2  # share of facts with a span that begins or ends inside a word; .003 in KnowledgeNet's gold
_ODD_URI = re.compile(r"[\s<>]|\A[^/:]+:[^/]*\Z|(?:\A|/)q[0-9]+/*\Z")


def is_within(fact: Fact, start: int, end: int) -> bool:
    """Return True if both spans of a fact are within the given offsets, and neither is inverted."""
    return start <= fact.subjectStart <= fact.subjectEnd <= end and start <= fact.objectStart <= fact.objectEnd <= end


def _is_inside_word(text: str, offset: int) -> bool:
    """Return True between letters that have case, or digits; other scripts may have no spaces between words."""
    return 0 < offset < len(text) and all(
        sign.isdigit() or sign.lower() != sign.upper() for sign in text[offset - 1 : offset + 1]
    )


class OffsetChecks:
    """Counts facts whose offsets, though inside the document, seem to be counted otherwise than gold's."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._outside = 0
        self._first_outside = 0  # its line
        self._relative = 0  # of those outside
        self._inside = 0
        self._cut = 0

    def add(self, fact: Fact, bounds: tuple[int, int], text: str, line: int) -> None:
        """Add a fact. bounds: start and end of its passage. text: the document's. line: the line's number."""
        start, end = bounds
        if is_within(fact, start, end):
            self._inside += 1
            offsets = (fact.subjectStart, fact.subjectEnd, fact.objectStart, fact.objectEnd)
            self._cut += any(_is_inside_word(text, offset) for offset in offsets)
            return
        self._outside += 1
        self._first_outside = self._first_outside or line
        self._relative += is_within(fact, 0, end - start)

    def warnings(self) -> list[str]:
        """Return a list with a warning about facts outside of their own passages, if there are any."""
        if not self._outside:
            return []
        fits = f"; {self._relative} of these facts fit if passageStart is added" if self._relative else ""
        return [
            f"{self._file}: {self._outside} facts have offsets outside their own passage (first on line "
            f"{self._first_outside}), though inside the document: offsets count from the start of documentText{fits}; "
            "they were compared unchanged"
        ]

    def hints(self) -> list[str]:
        """Return a list with a hint if many spans begin or end inside a word."""
        if self._inside < _FEW or self._cut <= _CUTS * self._inside:
            return []
        return [
            f"{self._file}: {self._cut} of {self._inside} facts have a span that begins or ends inside a word; "
            "offsets count code points of documentText, not bytes or UTF-16 units, from 0, and a span ends before its "
            "end offset"
        ]


def link_hints(facts: FactTable, property_ids: list[str], file: str) -> list[str]:
    """Return hints about links that are missing throughout, or that have another form than an address.

    property_ids: the id of each property, by index.
    """
    hints = []
    for uri in facts.uri_texts:
        if _ODD_URI.search(uri):
            segment = uri.rstrip("/").rpartition("/")[2]
            hints.append(
                f"{file}: links such as {shown(uri)} are compared by what follows the last slash, here "
                f"{shown(segment)}, character by character; gold's are usually addresses that end in an id, such as "
                "http://www.wikidata.org/entity/Q42"
            )
            break
    is_linked = [
        bool(facts.uri_texts[subject] and facts.uri_texts[object_])
        for (subject, object_), prop in zip(facts.uris.T.tolist(), facts.property.tolist(), strict=True)
        if property_ids[prop] not in DATE_PROPERTIES
    ]
    if len(is_linked) >= _FEW and not any(is_linked):
        hints.append(
            f"{file}: none of {len(is_linked)} facts has both a subjectUri and an objectUri; the measures link_* "
            "compare only facts with both"
        )
    return hints
