"""Compares a text's predicted facts with its gold facts, relation by relation."""

from collections.abc import Iterable, Mapping

from evaluator.tasks.fact_extraction.gold import Facts
from evaluator.tasks.fact_extraction.layout import Fact

OTHER = -1
"""The code of every relation that no gold fact has."""


Tally = tuple[int, int, int, int]
"""A relation's code, and how many distinct facts of it were predicted, found and verifiable in one text.

Found: gold has them. Verifiable: their subject and relation stand together in some gold fact of the text, so that gold
can tell whether they are right.
"""


def tally(predicted: Iterable[Fact], gold: Facts, relations: Mapping[str, int]) -> list[Tally]:
    """One tally for each relation that was predicted, those outside gold's together, in the order of their codes."""
    pairs = {fact[:2] for fact in gold}
    counts: dict[int, list[int]] = {}
    for fact in set(predicted):
        count = counts.setdefault(relations.get(fact[1], OTHER), [0, 0, 0])
        count[0] += 1
        if fact[:2] in pairs:
            count[1] += fact in gold
            count[2] += 1
    return [(code, n, found, verifiable) for code, (n, found, verifiable) in sorted(counts.items())]
