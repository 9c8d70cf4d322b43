"""Audit of knowledge-base-population gold: its columns, and checks of its facts and passages.

The checks find faulty offsets and spans of text, faulty properties, dates and links, and repeated facts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from evaluator.errors import shown
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.grouped_findings import GroupedFinding, GroupedFindings
from evaluator.tasks.audit.split import AnswerKind, AuditColumns, Secret, Split, TaskAudit, rarest
from evaluator.tasks.knowledge_base_population.gold import Gold
from evaluator.tasks.knowledge_base_population.layout import DATE_PROPERTIES

_DATED = re.compile(r"[0-9]|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")
_BOUNDS = re.compile(r":([0-9]+):([0-9]+)$")
_WHO = (("subject", "subjectStart", "subjectEnd", "subjectText"), ("object", "objectStart", "objectEnd", "objectText"))


def _columns(gold: Gold) -> AuditColumns:
    facts = [[fact for passage in line.passages for fact in passage.facts] for line in gold.lines]
    texts = [line.documentText for line in gold.lines]
    return AuditColumns(
        ids=list(gold.documents),
        groups=gold.groups,
        slices=gold.slices,
        questions=texts,
        answers=[
            frozenset(
                (fact.propertyId, fact.subjectStart, fact.subjectEnd, fact.objectStart, fact.objectEnd)
                for fact in document_facts
            )
            for document_facts in facts
        ],
        answer_kind=AnswerKind.SET,
        secrets=[
            Secret("number of facts", [float(len(document_facts)) for document_facts in facts]),
            Secret("property", rarest([[fact.propertyId for fact in document_facts] for document_facts in facts])),
        ],
        texts=texts,
        triples=[
            [(fact.subjectUri, fact.propertyId, fact.objectUri) for fact in document_facts if fact.objectUri]
            for document_facts in facts
        ],
    )


def _check(split: Split) -> Iterator[Finding]:
    check = _Documents(split)
    for index, line in enumerate(split.gold.lines):
        check.document(index, line)
    return check.grouped_findings.findings()


class _Documents:
    def __init__(self, split: Split) -> None:
        self.grouped_findings = GroupedFindings(split)
        error, warning, note = Severity
        kind = self.grouped_findings.kind
        wrong = "no prediction can match it in the text"
        advice = "correct the offsets: half-open, in code points of documentText"
        self.outside = kind(error, "offsets-outside-text", "are outside the text", wrong, advice, one_of="spans")
        self.inverted = kind(
            error, "offsets-inverted", "are empty or end before they begin", wrong, advice, one_of="spans"
        )
        self.blank = kind(
            error, "offsets-on-blank", "have only white space at their offsets", wrong, advice, one_of="spans"
        )
        self.other_text = kind(
            error,
            "text-at-offsets",
            "have a text at their offsets that differs from the annotated text",
            wrong,
            advice,
            one_of="spans",
        )
        self.cut = kind(
            note,
            "offsets-cut-words",
            "begin or end inside a word",
            "the offsets may be wrong by some characters, or may be intended",
            "check the first of them",
            one_of="spans",
        )
        self.elsewhere = kind(
            warning,
            "offsets-outside-passage",
            "are outside their passage",
            "participants may see only the passage",
            "move the fact to the passage that states it",
            one_of="spans",
        )
        self.passages = kind(
            error,
            "passage-text",
            "differ from the document's text at their offsets",
            "offsets refer to the document's text, but participants may read the passage's",
            "correct passageStart, passageEnd or passageText",
            one_of="passages",
        )
        self.unannotated = kind(
            warning,
            "unknown-property",
            "have a property for which their passage is not annotated",
            "predictions of this property in the passage never count as wrong, but its gold facts count",
            "add the property to exhaustivelyAnnotatedProperties, or drop the fact",
            one_of="facts",
        )
        self.nameless = kind(
            warning,
            "nameless-property",
            "have a property that no passage names",
            "boards show the property's id",
            "add its name in exhaustivelyAnnotatedProperties",
            one_of="facts",
        )
        self.undated = kind(
            warning,
            "date-without-date",
            "of a date property have an object without a digit or a month",
            "the type of the object does not fit the property",
            "correct the property or the object",
            one_of="facts",
        )
        self.repeated = kind(
            note,
            "repeated-fact",
            "occur twice in their passage, with the same spans",
            "one prediction matches both",
            "drop one of them",
            one_of="facts",
        )
        self.misnamed = kind(
            warning,
            "passage-id",
            "have an id with offsets that differ from the passage's",
            "participants who use the offsets in the id read another text",
            "write the id as document:start:end, with passageStart and passageEnd",
            one_of="passages",
        )
        self.overlapping = kind(
            warning,
            "passages-overlap",
            "begin before the previous passage ends",
            "facts in the overlap are asked twice and count twice",
            "separate the passages",
            one_of="passages",
        )
        self.untrimmed = kind(
            warning,
            "offsets-untrimmed",
            "begin or end with white space",
            "an exact match must include the white space",
            "move the offsets to the first and after the last character",
            one_of="spans",
        )
        self.no_uri = kind(
            warning,
            "uri-form",
            "contain white space",
            "links are compared character by character, after the last /",
            "correct the URI, or leave it empty",
            one_of="URIs",
        )
        self._names = split.gold.names

    def document(self, index: int, line: Any) -> None:
        for passage in line.passages:
            self.passage(index, line, passage)
        in_order = sorted(line.passages, key=lambda passage: (passage.passageStart, passage.passageEnd))
        end = 0
        for passage in in_order:
            if passage.passageStart < end:
                self.overlapping.add(index, f"passage {shown(passage.passageId)}")
            end = max(end, passage.passageEnd)

    def passage(self, index: int, line: Any, passage: Any) -> None:
        text = line.documentText
        if not 0 <= passage.passageStart <= passage.passageEnd <= len(text) or (
            text[passage.passageStart : passage.passageEnd] != passage.passageText
        ):
            self.passages.add(index, f"passage {shown(passage.passageId)}")
        bounds = _BOUNDS.search(str(passage.passageId))
        if bounds and (int(bounds[1]), int(bounds[2])) != (passage.passageStart, passage.passageEnd):
            self.misnamed.add(index, f"passage {shown(passage.passageId)}")
        annotated = {prop.propertyId for prop in passage.exhaustivelyAnnotatedProperties}
        counts = Counter(
            (fact.propertyId, fact.subjectStart, fact.subjectEnd, fact.objectStart, fact.objectEnd)
            for fact in passage.facts
        )
        for _ in range(counts.total() - len(counts)):
            self.repeated.add(index, f"passage {shown(passage.passageId)}")
        for fact in passage.facts:
            if fact.propertyId not in annotated:
                (self.unannotated if fact.propertyId in self._names else self.nameless).add(
                    index, f"property {shown(fact.propertyId)}"
                )
            for who, start, end, text_field in _WHO:
                location = f"{who} of property {shown(fact.propertyId)} at {getattr(fact, start)}:{getattr(fact, end)}"
                finding = self._span(text, passage, getattr(fact, start), getattr(fact, end), getattr(fact, text_field))
                if finding is not None:
                    finding.add(index, location)
            for uri in (fact.subjectUri, fact.objectUri):
                if any(character.isspace() for character in uri):
                    self.no_uri.add(index, shown(uri))
            if fact.propertyId in DATE_PROPERTIES and not _DATED.search(_object_text(text, fact)):
                self.undated.add(index, shown(_object_text(text, fact)))

    def _span(self, text: str, passage: Any, start: int, end: int, said: Any) -> GroupedFinding | None:
        """Return the kind of the most severe fault of a fact's span of text; None if it has none.

        text: the document's text. start, end: the offsets of the span in it. said: the text that the gold gives for the
        span, if any.
        """
        if start >= end:
            return self.inverted
        if start < 0 or end > len(text):
            return self.outside
        span_text = text[start:end]
        if not span_text.strip():
            return self.blank
        if isinstance(said, str) and said != span_text:
            return self.other_text
        if start < passage.passageStart or end > passage.passageEnd:
            return self.elsewhere
        if span_text != span_text.strip():
            return self.untrimmed
        cuts_word = (start > 0 and text[start - 1].isalnum() and span_text[0].isalnum()) or (
            end < len(text) and text[end].isalnum() and span_text[-1].isalnum()
        )
        return self.cut if cuts_word else None


def _object_text(text: str, fact: Any) -> str:
    return str(text[max(fact.objectStart, 0) : max(fact.objectEnd, 0)]) or "-"


AUDIT = TaskAudit(_columns, _check)
