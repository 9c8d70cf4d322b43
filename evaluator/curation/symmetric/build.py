"""Construction of a symmetric set: four members from each original pair and a written pair that says the contrary.

A pair is a claim c and an evidence sentence e, with a label l. (c, e, l) and (c', e', l) are the input; (c, e', not l)
and (c', e, not l) follow from them (Schuster et al. 2019, section 3).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from evaluator.errors import GoldError, Problem, ProblemList, UsageError, shown
from evaluator.jsonl.ids import Id
from evaluator.tasks.fact_verification.symmetric import symmetric_problems

CONTRARY = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}
MIN_SALT = 8
_DIGITS = 16


class Pair(NamedTuple):
    """A claim and its evidence sentence.

    line: the line number in the file, from 1. label: the label of an original pair; empty for a contrary pair.
    """

    line: int
    id: Id
    claim: str
    evidence: str
    label: str = ""


def quadruples(
    originals: Iterable[Pair], contraries: Iterable[Pair], *, salt: str, files: tuple[str, str]
) -> list[dict[str, Any]]:
    """Return gold lines of fact-verification, sorted by their salted ids.

    originals: human-written pairs, labelled SUPPORTS or REFUTES. contraries: the contrary pair that was written for
    each original, under the same id. salt: a secret of MIN_SALT characters or more: ids and groups made with it reveal
    neither which member a line is nor which original it comes from. files: the names of the files of originals and
    contraries.

    Raises GoldError with the line number for an invalid label, id or text, and for a set that fails the checks for
    publishing; UsageError for a short salt.
    """
    if len(salt) < MIN_SALT:
        raise UsageError(f"the salt has {len(salt)} characters, expected {MIN_SALT} or more")
    problems, contrary_problems = (ProblemList(file, GoldError) for file in files)
    written = _by_id(contraries, contrary_problems)
    sources: dict[str, Pair] = {}
    lines: list[dict[str, Any]] = []
    for original in _by_id(originals, problems).values():
        contrary = written.pop(original.id, None)
        if original.label not in CONTRARY:
            problems.add(original.line, "unknown label", shown(original.label), "SUPPORTS or REFUTES")
        if contrary is None:
            message = f"the original {shown(original.id)} has no contrary pair"
            problems.add(original.line, message, "none", "a contrary pair with the same id")
            continue
        for pair, file_problems in ((original, problems), (contrary, contrary_problems)):
            if not (pair.claim.strip() and pair.evidence.strip()):
                file_problems.add(pair.line, "a text is empty", "no words", "a claim and an evidence sentence")
        if not (problems or contrary_problems):
            group = _digest(salt, "group", original.id)
            sources[group] = original
            lines += _members(original, contrary, group, salt)
    for unmatched in written.values():
        contrary_problems.add(
            unmatched.line,
            f"the contrary pair {shown(unmatched.id)} has no original",
            "none",
            "an original with the same id",
        )
    if problems or contrary_problems:
        raise GoldError([*problems.problems, *contrary_problems.problems], problems.more + contrary_problems.more)
    if not lines:
        problems.stop(None, "there are no pairs", "0 pairs", "one or more")
    _check(lines, sources, files[0])
    return sorted(lines, key=lambda line: str(line["id"]))


def _by_id(pairs: Iterable[Pair], problems: ProblemList) -> dict[Id, Pair]:
    by_id: dict[Id, Pair] = {}
    for pair in pairs:
        if pair.id in by_id:
            problems.add(
                pair.line, "duplicate id", f"{shown(pair.id)} (first on line {by_id[pair.id].line})", "each id once"
            )
        by_id.setdefault(pair.id, pair)
    return by_id


def _members(original: Pair, contrary: Pair, group: str, salt: str) -> list[dict[str, Any]]:
    label, other = original.label, CONTRARY[original.label]
    members = (
        (original.claim, original.evidence, label),
        (original.claim, contrary.evidence, other),
        (contrary.claim, original.evidence, other),
        (contrary.claim, contrary.evidence, label),
    )
    return [
        {
            "id": _digest(salt, f"member {number}", original.id),
            "claim": claim,
            "evidence_text": evidence,
            "label": answer,
            "group": group,
            "slices": {"origin": "original" if number == 1 else "generated"},
        }
        for number, (claim, evidence, answer) in enumerate(members, 1)
    ]


def _check(lines: list[dict[str, Any]], sources: Mapping[str, Pair], file: str) -> None:
    """Raise GoldError if the set fails the checks for publishing, or has a claim and sentence with both labels.

    lines: the gold lines. sources: salted group -> its original pair. file: the name of the file of originals. Messages
    name groups by the originals' ids, not by the salted ones.
    """
    problems = ProblemList(file, GoldError)
    for index, problem in symmetric_problems(lines):
        source = sources[lines[index]["group"]] if index is not None else None
        problems.add(
            source.line if source else None,
            problem if source is None else f"the pairs of {shown(source.id)}: {problem}",
        )
    answers: dict[tuple[str, str], tuple[str, Pair]] = {}
    for line in lines:
        source = sources[line["group"]]
        label, first = answers.setdefault((line["claim"], line["evidence_text"]), (line["label"], source))
        if label != line["label"]:
            problems.add(
                source.line,
                f"the pairs of {shown(source.id)} and of {shown(first.id)} (line {first.line}) have the same claim "
                "and sentence with different labels",
                expected="one label for the same claim and sentence",
            )
    if len({line["id"] for line in lines}) < len(lines) or len(sources) * 4 < len(lines):
        problems.problems.append(Problem(file, None, "two salted ids are equal", expected="another salt"))
    problems.raise_if_any()


def _digest(salt: str, what: str, name: Id) -> str:
    kind = "string" if isinstance(name, str) else "integer"
    return hmac.new(salt.encode(), f"{what} of {kind} {name}".encode(), hashlib.sha256).hexdigest()[:_DIGITS]
