"""Leakage removal: training triples that paraphrase an evaluation triple (Broscheit et al. 2020, section 4).

Let (i, k, j) be an evaluation triple, a any mention of i's entity (also i itself) and b any mention of j's entity (also
j itself). Training triples are removed at three levels:

- SIMPLE: (i, k, j), exactly.
- BASIC: also (a, k, b) and (b, k, a).
- THOROUGH: also triples that link a and b by any relation, in either order; triples with the subject a and a relation
  that contains the words of k and b, or with the object b and a relation that contains the words of k and a; and
  triples whose subject or object contains the words of a, k and b.

BASIC and THOROUGH compare texts as sets of words, see `token_sets`. Other senses of leakage are listed in
`evaluator.curation.audit.leaks`.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from evaluator.curation.open_triples.leakage_index import EvaluationIndex, Mention, joined
from evaluator.curation.open_triples.token_sets import Normaliser, TokenCounts
from evaluator.curation.open_triples.triples import OpenTriple

Triple = Sequence[str]
"""Subject, relation, object; further columns are ignored."""
MOST_CACHED = 1 << 22
"""Maximum number of cached texts, about half a gigabyte of mentions. A full cache is cleared, which only costs time."""
Value = TypeVar("Value")


class Rule(enum.IntEnum):
    """The first rule by which a training triple leaks an evaluation triple.

    ANY_RELATION, IN_RELATION and IN_MENTION are the three parts of THOROUGH, in the order of the module's docstring.
    """

    SIMPLE = 1
    BASIC = 2
    ANY_RELATION = 3
    IN_RELATION = 4
    IN_MENTION = 5


class Level(enum.IntEnum):
    """Level of leakage removal: simple, basic or thorough. Its value is the last `Rule` that it applies."""

    SIMPLE = Rule.SIMPLE
    BASIC = Rule.BASIC
    THOROUGH = Rule.IN_MENTION


class Memo(dict[str, Value], Generic[Value]):
    """Cache of a function of one text: memo[text] is work(text).

    most: the maximum number of cached texts; when it is reached, the cache is emptied.
    """

    def __init__(self, work: Callable[[str], Value], most: int = MOST_CACHED) -> None:
        super().__init__()
        self._work = work
        self._most = most

    def __missing__(self, text: str) -> Value:
        if len(self) >= self._most:
            self.clear()
        value = self[text] = self._work(text)
        return value


class Leakage:
    """Classifier of training triples by the rule by which they leak an evaluation triple.

    It takes about a microsecond per triple.
    """

    def __init__(self, evaluated: Iterable[OpenTriple], words: Normaliser) -> None:
        evaluated = list(evaluated)
        self._exact = {triple[:3] for triple in evaluated}
        self._forbidden = EvaluationIndex(evaluated, words)
        self._mentions = Memo(self._forbidden.mention)
        self._relations = Memo(self._forbidden.relation)

    def rules(self, rows: Iterable[Triple], level: Level = Level.THOROUGH) -> list[int]:
        """Return for each training triple the `Rule` by which it leaks; 0 if no rule up to `level` matches.

        rows: the training triples as texts (subject, relation, object).
        """
        if level is Level.SIMPLE:
            return [int(Rule.SIMPLE) if tuple(row[:3]) in self._exact else 0 for row in rows]
        mentions, find = self._mentions, self._basic if level is Level.BASIC else self._thorough
        rules = []
        for row in rows:
            subject, object_ = mentions[row[0]], mentions[row[2]]
            # Most mentions are unrelated to the evaluation triples.
            rules.append(0 if subject is None and object_ is None else find(row, subject, object_))
        return rules

    def _basic(self, row: Triple, subject: Mention | None, object_: Mention | None) -> int:
        if subject is None or object_ is None:
            return 0
        relation = self._relations[row[1]]
        if relation is None or not self._forbidden.says(subject, relation, object_):
            return 0
        return Rule.SIMPLE if tuple(row[:3]) in self._exact else Rule.BASIC

    def _thorough(self, row: Triple, subject: Mention | None, object_: Mention | None) -> int:
        if subject is not None and object_ is not None and joined(subject, object_):
            return self._basic(row, subject, object_) or Rule.ANY_RELATION
        relation = self._relations[row[1]]
        if relation is not None:
            if subject is not None and not relation.heads.isdisjoint(subject.ends):
                return Rule.IN_RELATION
            if object_ is not None and not relation.tails.isdisjoint(object_.ends):
                return Rule.IN_RELATION
        if (subject is not None and subject.whole) or (object_ is not None and object_.whole):
            return Rule.IN_MENTION
        return 0


def remove_leakage(
    train: Iterable[Triple],
    evaluated: Iterable[OpenTriple],
    level: Level = Level.THOROUGH,
    stops: Iterable[str] | None = None,
) -> tuple[list[Triple], Counter[Rule]]:
    """Return the training triples that do not leak, in their order, and the number removed by each rule.

    evaluated: the evaluation triples. level: the level of leakage removal (see the module's docstring). stops: stop
    words; None: the most frequent tokens of the training triples (`TokenCounts.stop_words`).
    """
    train = list(train)
    if stops is None:
        counts = TokenCounts()
        counts.add(train)
        stops = counts.stop_words().all
    rules = Leakage(evaluated, Normaliser(frozenset(stops))).rules(train, level)
    clean = [triple for triple, rule in zip(train, rules, strict=True) if not rule]
    return clean, Counter(Rule(rule) for rule in rules if rule)
