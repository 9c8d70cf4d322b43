"""Makes a symmetric set: of each original pair and a written one that says the contrary, four members.

(c, e, l) and (c', e', l) are given; (c, e', not l) and (c', e, not l) follow (Schuster et al. 2019, section 3).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from evaluator.errors import GoldError, Problem, ProblemList, UsageError, shown
from evaluator.jsonl.ids import Id
from evaluator.tasks.fact_verification.symmetric import symmetric_faults

CONTRARY = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}
MIN_SALT = 8
_DIGITS = 16


class Pair(NamedTuple):
    """A claim and a sentence to judge it by. line: where it stands, from 1. label: the original's; both have it."""

    line: int
    id: Id
    claim: str
    evidence: str
    label: str = ""


def quadruples(
    originals: Iterable[Pair], contraries: Iterable[Pair], *, salt: str, files: tuple[str, str]
) -> list[dict[str, Any]]:
    """Gold lines of fact-verification, ordered by their ids, which are salted and so is the order.

    originals: the human's pairs, labelled SUPPORTS or REFUTES. contraries: for each the written pair, under the
    original's id. salt: MIN_SALT characters or more, a secret: it makes ids and groups that tell neither members apart
    nor which original they come from. files: the names of both, for errors.

    Raises GoldError with the line for a label, an id or a text that does not fit, and for a set that fails the checks
    on publishing; UsageError for a short salt.
    """
    if len(salt) < MIN_SALT:
        raise UsageError(f"the salt has {len(salt)} characters, expected {MIN_SALT} or more")
    problems, theirs = (ProblemList(file, GoldError) for file in files)
    written = _by_id(contraries, theirs)
    sources: dict[str, Pair] = {}
    lines: list[dict[str, Any]] = []
    for original in _by_id(originals, problems).values():
        contrary = written.pop(original.id, None)
        if original.label not in CONTRARY:
            problems.add(original.line, "unknown label", shown(original.label), "SUPPORTS or REFUTES")
        if contrary is None:
            problems.add(original.line, f"the original {shown(original.id)} has no contrary pair", "none", "one")
            continue
        for pair, where in ((original, problems), (contrary, theirs)):
            if not (pair.claim.strip() and pair.evidence.strip()):
                where.add(pair.line, "a text is empty", "no words", "a claim and a sentence")
        if not (problems or theirs):
            group = _digest(salt, "group", original.id)
            sources[group] = original
            lines += _members(original, contrary, group, salt)
    for stray in written.values():
        theirs.add(stray.line, f"the contrary pair {shown(stray.id)} has no original", "none", "one of its id")
    if problems or theirs:
        raise GoldError([*problems.problems, *theirs.problems], problems.more + theirs.more)
    if not lines:
        problems.stop(None, "there are no pairs", "0", "one or more")
    _check(lines, sources, files[0])
    return sorted(lines, key=lambda line: str(line["id"]))


def _by_id(pairs: Iterable[Pair], problems: ProblemList) -> dict[Id, Pair]:
    found: dict[Id, Pair] = {}
    for pair in pairs:
        if pair.id in found:
            problems.add(
                pair.line, "duplicate id", f"{shown(pair.id)} (first on line {found[pair.id].line})", "each once"
            )
        found.setdefault(pair.id, pair)
    return found


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
    """The checks on publishing, with groups named as the curator knows them; and no two answers to one question."""
    problems = ProblemList(file, GoldError)
    for place, fault in symmetric_faults(lines):
        source = sources[lines[place]["group"]] if place is not None else None
        problems.add(
            source.line if source else None, fault if source is None else f"the pairs of {shown(source.id)}: {fault}"
        )
    answers: dict[tuple[str, str], tuple[str, Pair]] = {}
    for line in lines:
        source = sources[line["group"]]
        label, first = answers.setdefault((line["claim"], line["evidence_text"]), (line["label"], source))
        if label != line["label"]:
            problems.add(
                source.line,
                f"the pairs of {shown(source.id)} and of {shown(first.id)} (line {first.line}) share a claim and a "
                "sentence under different labels",
                expected="one answer to one question",
            )
    if len({line["id"] for line in lines}) < len(lines) or len(sources) * 4 < len(lines):
        problems.problems.append(Problem(file, None, "two salted ids meet", expected="another salt"))
    problems.raise_if_any()


def _digest(salt: str, what: str, name: Id) -> str:
    kind = "string" if isinstance(name, str) else "integer"
    return hmac.new(salt.encode(), f"{what} of {kind} {name}".encode(), hashlib.sha256).hexdigest()[:_DIGITS]
