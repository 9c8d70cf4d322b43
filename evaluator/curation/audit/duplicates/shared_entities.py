"""Findings on ids, groups and evidence that a training file shares with a split."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from evaluator.tasks.audit.findings import Finding, Severity, percent
from evaluator.tasks.audit.split import Split, as_words

_NAMED = 10


def shared_names(split: Split, train: Split) -> Iterator[Finding]:
    """Yield findings on ids, groups and evidence sentences that are in the split and in the training file.

    A group whose name is the id of its own line is left out, since ids are compared already. The string "1" and the
    integer 1 are different.
    """
    own_ids = split.has_ids and train.has_ids
    if own_ids:
        means = "an id names one item, so one of the two files is wrong"
        yield from _shared(split, train, "ids", values=split.ids, known=train.ids, meaning=means)
        groups: list[Hashable] = [
            None if group == name else group for group, name in zip(split.groups, split.ids, strict=True)
        ]
        known = [group for group, name in zip(train.groups, train.ids, strict=True) if group != name]
        means = "the lines of a group reveal each other's answers, so a group belongs to one of the two files only"
        yield from _shared(split, train, "groups", values=groups, known=known, meaning=means)
    if split.evidence:
        means = "a sentence in training, with its label, reveals something about the claims that share it"
        yield from _shared(split, train, "evidence", values=_evidence(split), known=_evidence(train), meaning=means)


def _evidence(split: Split) -> list[Hashable]:
    return [None if not text else as_words(text) for text in split.evidence]


def _shared(
    split: Split, train: Split, noun: str, *, values: Sequence[Hashable], known: Sequence[Hashable], meaning: str
) -> Iterator[Finding]:
    known_values = {(type(value), value) for value in known if value is not None}
    indices = [index for index, value in enumerate(values) if (type(value), value) in known_values]
    if indices:
        yield Finding(
            Severity.WARNING,
            f"{noun}-in-training",
            f"{len(indices)} of {len(split)} lines ({percent(len(indices) / len(split))}) have {noun} that also occur "
            f"in {train.name}, the first on line {split.line(indices[0])}",
            meaning,
            "remove these lines from one of the two files, or rename them",
            split.file,
            split.line(indices[0]),
            {"train": train.name, "count": len(indices), "lines": [split.line(index) for index in indices[:_NAMED]]},
        )
