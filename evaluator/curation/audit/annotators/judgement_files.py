"""Reader of files of annotators' judgements, in our layout or in one of three published layouts.

Our layout is JSON Lines with `id`, `annotator` and either `label` or, for numbers, `score`. The others are lists of
ratings, the annotator labels of SNLI, and the annotated sentences of FRANK (Pagnoni et al. 2021). Their annotators have
no names: two values at the same position of their lists may be from different people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import msgspec

from evaluator.curation.audit.reading import peek
from evaluator.curation.io.lines import RawLine, identifier, read_lines, value_text
from evaluator.errors import GoldError, ProblemList, shown
from evaluator.jsonl.decompress import ReadLimits, chunks
from evaluator.jsonl.ids import Id
from evaluator.jsonl.strict_json import LineError, Schema, unknown_keys

RATINGS, ANNOTATOR_LABELS, PAIR_ID = "ratings", "annotator_labels", "pairID"
NO_ERROR = "NoE"
_LISTS: dict[str, tuple[Any, str]] = {
    RATINGS: (list[float], "a list of numbers"),
    ANNOTATOR_LABELS: (list[str], "a list of strings"),
}
"""The type of a list by its key, and its description."""


@dataclass(frozen=True)
class Judgements:
    """Annotators' judgements of items, read from a file.

    rows: (item id, annotator, value); an unnamed annotator is None. scores: True if values are numbers, False if they
    are labels.
    """

    rows: list[tuple[Id, Id | None, Any]]
    scores: bool

    @property
    def units(self) -> dict[Id, list[Any]]:
        """Item id -> the values that annotators gave to the item. Items and values are in the order of the file."""
        units: dict[Id, list[Any]] = defaultdict(list)
        for name, _, value in self.rows:
            units[name].append(value)
        return units

    @property
    def named(self) -> list[tuple[Id, Id, Any]]:
        """Judgements (item id, annotator, value) whose annotator has a name."""
        return [(name, annotator, value) for name, annotator, value in self.rows if annotator is not None]


def read_judgements(stream: BinaryIO, file: str) -> Judgements:
    """Read judgements. file: the file's name, for error messages.

    The first line determines the layout and the kind of value, labels or scores, of all lines. Raises GoldError for a
    line of another layout or kind, if an annotator judges an item twice, or if two lines list the values of the same
    item.
    """
    stream, head = peek(stream, file)
    if head.lstrip(b" \t\r\n").startswith(b"["):
        return _frank(stream, file)
    lines, problems = read_lines(stream, file)
    first = lines[0].value if lines else {}
    if RATINGS in first:
        return _lists(lines, problems, "id", RATINGS)
    if ANNOTATOR_LABELS in first:
        key = PAIR_ID if PAIR_ID in first else "id"
        return _lists(lines, problems, key, ANNOTATOR_LABELS)
    return _one_per_line(lines, problems)


def _one_per_line(lines: list[RawLine], problems: ProblemList) -> Judgements:
    kind = "score" if lines and "score" in lines[0].value else "label"
    rows: dict[tuple[Id, Id], Any] = {}
    for line in lines:
        name, annotator = identifier(line, "id", problems), identifier(line, "annotator", problems)
        value = _value(line, kind, problems)
        if name is None or annotator is None or value is None:
            continue
        if (name, annotator) in rows:
            problems.add(
                line.number,
                "an annotator judges an item twice",
                f"item {shown(name)} again by {shown(annotator)}",
                "one judgement of each item by each annotator",
            )
        rows[name, annotator] = value
    problems.raise_if_any()
    return Judgements([(*key, value) for key, value in rows.items()], kind == "score")


def _value(line: RawLine, kind: str, problems: ProblemList) -> Any:
    value = line.value.get(kind)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number if kind == "score" else isinstance(value, str | bool):
        return value
    expected = "a number" if kind == "score" else "a string, true or false"
    problems.add(line.number, f"{kind} is not valid", shown(value) if kind in line.value else "no such key", expected)
    return None


def _lists(lines: list[RawLine], problems: ProblemList, id_key: str, key: str) -> Judgements:
    """Return the judgements of lines that each list all values of an item. Empty labels, as in SNLI, are left out.

    id_key: the JSON key of the item's id. key: the JSON key of the list, RATINGS or ANNOTATOR_LABELS. Raises the error
    class of `problems` for an invalid line or a repeated id.
    """
    kind, expected = _LISTS[key]
    values: dict[Id, list[Any]] = {}
    for line in lines:
        name = identifier(line, id_key, problems)
        try:
            listed = msgspec.convert(line.value.get(key), kind)
        except msgspec.ValidationError:
            problems.add(line.number, f"{key} is not valid", value_text(line.value, key), expected)
            continue
        if name in values:
            problems.add(line.number, f"duplicate {id_key}", shown(name), f"each {id_key} once")
        if name is not None:
            values[name] = [value for value in listed if value != ""]
    problems.raise_if_any()
    return Judgements([(name, None, value) for name, listed in values.items() for value in listed], key == RATINGS)


class _Summary(msgspec.Struct):
    """An entry of FRANK's human_annotations_sentence.json: for each sentence, each annotator's categories of errors."""

    hash: str | int
    model_name: str
    summary_sentences_annotations: list[dict[str, list[str]]]


def _frank(stream: BinaryIO, file: str) -> Judgements:
    """Read FRANK's file. An annotator's score of a summary is the share of its sentences marked as without error.

    Ids are `hash:model`, as in the gold that is imported from FRANK.
    """
    problems = ProblemList(file, GoldError)
    body = b"".join(chunks(stream, ReadLimits(), problems))
    try:
        unknown_keys(body, Schema(frozenset(), free=True), ReadLimits().depth)
        summaries = msgspec.json.decode(body, type=list[_Summary])
    except (msgspec.MsgspecError, LineError, UnicodeDecodeError, RecursionError) as error:
        problems.stop(None, "not the file of FRANK's annotated sentences", str(error), "a list, or JSON Lines")
    rows: list[tuple[Id, Id | None, Any]] = []
    for summary in summaries:
        name = f"{summary.hash}:{summary.model_name}"
        rows += ((name, None, score) for score in _shares(summary.summary_sentences_annotations))
    return Judgements(rows, scores=True)


def _shares(sentences: list[dict[str, list[str]]]) -> Iterator[float]:
    for annotator in dict.fromkeys(name for sentence in sentences for name in sentence):
        judged = [sentence[annotator] for sentence in sentences if annotator in sentence]
        yield sum(errors == [NO_ERROR] for errors in judged) / len(judged)
