"""Facts of systems that organisers ask for, such as the number of parameters; their teams state them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from leaderboard.core.names import names
from leaderboard.core.refusal import Refused
from leaderboard.models import Benchmark

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
KINDS = {"text": "text", "number": "number", "yes-no": "yes or no"}
MOST, LONGEST_NAME, LONGEST_TITLE, LONGEST_TEXT = 20, 40, 60, 200
PREFIX = "fact:"
"""Begins the names of facts among the columns of a board, so that none is mistaken for a measure."""
Value = str | float | bool
Stored = list[dict[str, str]]


@dataclass(frozen=True)
class Fact:
    """A fact that a benchmark asks for. name: in the API, CSV and URLs; title: on pages; kind: a key of KINDS."""

    name: str
    title: str
    kind: str

    @property
    def column(self) -> str:
        return PREFIX + self.name

    @property
    def is_number(self) -> bool:
        return self.kind == "number"

    def value(self, stored: Mapping[str, Any]) -> Value | None:
        """Return the system's value of this fact; None if it has no value of the fact's kind.

        stored: the system's values by fact name (`System.facts`).
        """
        value = stored.get(self.name)
        return value if type(value) in _TYPES[self.kind] else None

    def parse(self, text: str) -> Value | None:
        """Parse a value of this fact as a user entered it; None for empty text.

        Raises ValueError for a value that is not of the fact's kind, or a text that is too long. The message says what
        is expected.
        """
        text = text.strip()
        if not text:
            return None
        if self.kind == "yes-no":
            if text not in ("yes", "no"):
                raise ValueError(f"{text!r} is not an answer, expected yes or no")
            return text == "yes"
        if self.kind == "text":
            if len(text) > LONGEST_TEXT:
                raise ValueError(f"the text has {len(text):,} characters, expected at most {LONGEST_TEXT}")
            return text
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not isfinite(number):
            raise ValueError(f"{text!r} is not a number, expected one such as 7e9")
        return number


_TYPES: dict[str, tuple[type, ...]] = {"text": (str,), "number": (int, float), "yes-no": (bool,)}


def of(benchmark: Benchmark) -> list[Fact]:
    """Return the facts that a benchmark asks for, in the organisers' order."""
    return [Fact(**row) for row in benchmark.facts]


def values(benchmark: Benchmark, stored: Mapping[str, Any]) -> dict[str, Value]:
    """Return, by name, a system's values of the facts that a benchmark asks for.

    stored: all facts that the system's team has stated (`System.facts`). Those of other benchmarks are left out.
    """
    known = ((fact.name, fact.value(stored)) for fact in of(benchmark))
    return {name: value for name, value in known if value is not None}


def parse_stated(benchmark: Benchmark, pairs: Iterable[str]) -> dict[str, Value | None]:
    """Parse `pairs`, facts of a system that were entered as NAME=VALUE, to values by name; an empty value is None.

    Raises ValueError for the first pair that is not NAME=VALUE, names a fact that the benchmark does not ask for or
    an earlier pair names too, or has a value that is not of the fact's kind.
    """
    asked = {fact.name: fact for fact in of(benchmark)}
    stated: dict[str, Value | None] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        fact = asked.get(name.strip())
        if not equals or fact is None:
            known = f", with one of the names {', '.join(asked)}" if asked else "; this benchmark asks for no facts"
            raise ValueError(f"the fact is {pair!r}, expected NAME=VALUE{known}")
        if fact.name in stated:
            raise ValueError(f"{fact.name} is given twice, expected once")
        try:
            stated[fact.name] = fact.parse(text)
        except ValueError as error:
            raise ValueError(f"{fact.name}: {error}") from error
    return stated


def validated(rows: Sequence[Mapping[str, str]]) -> Stored:
    """Validate facts for storage; raise ValueError that names the first problem.

    rows: dicts {"name", "title", "kind"}, one for each fact.
    """
    if len(rows) > MOST:
        raise ValueError(f"there are {len(rows)} facts, expected at most {MOST}")
    facts = [Fact(**row) for row in rows]
    for fact in facts:
        if not NAME.match(fact.name) or len(fact.name) > LONGEST_NAME:
            expected = f"up to {LONGEST_NAME} lower-case letters a-z, digits and underscores, with a letter first"
            raise ValueError(f"the name {fact.name!r} is not valid, expected {expected}")
        if not 0 < len(fact.title) <= LONGEST_TITLE:
            raise ValueError(
                f"the title of {fact.name} has {len(fact.title)} characters, expected 1 to {LONGEST_TITLE}"
            )
        _check_title(fact)
        if fact.kind not in KINDS:
            raise ValueError(f"the kind of {fact.name} is {fact.kind!r}, expected one of {', '.join(KINDS)}")
    all_names = [fact.name for fact in facts]
    if duplicates := sorted({name for name in all_names if all_names.count(name) > 1}):
        raise ValueError(f"the fact {duplicates[0]} is listed twice, expected each name once")
    first_with: dict[str, Fact] = {}
    for fact in facts:
        first = first_with.setdefault(names.key(fact.title), fact)
        if first is not fact:
            raise ValueError(
                f"the title of {fact.name} is {fact.title!r}, as that of {first.name}; expected each title once"
            )
    return [asdict(fact) for fact in facts]


def _check_title(fact: Fact) -> None:
    """Raise ValueError for a title that is invisible, or that would change the page around it."""
    try:
        names.check_signs(fact.title, of=f"title of {fact.name}")
    except Refused as refused:
        raise ValueError(refused.message.rstrip(".")) from refused
    if not names.key(fact.title):
        raise ValueError(f"the title of {fact.name} has no visible characters, expected text")


def shown(value: Value | None) -> str:
    """Format a value for a page: `yes`, `7,000,000,000`, `0.5`; empty without a value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,.15g}"
    return value or ""
