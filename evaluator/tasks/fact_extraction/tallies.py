"""Counts of a text's predicted facts by relation, compared with its gold facts."""

from collections.abc import Iterable, Mapping

from evaluator.tasks.fact_extraction.gold import Facts
from evaluator.tasks.fact_extraction.layout import Fact

OTHER = -1
"""The code of every relation that no gold fact has."""


Tally = tuple[int, int, int, int]
"""A relation's code, and the numbers of distinct facts of it that are predicted, found and verifiable in one text.

Found: gold has them. Verifiable: some gold fact of the text has their subject and relation, so that gold can judge
them.
"""


def tally(predicted: Iterable[Fact], gold: Facts, relations: Mapping[str, int]) -> list[Tally]:
    """Return one tally per predicted relation, in the order of codes; relations outside gold share one."""
    pairs = {fact[:2] for fact in gold}
    counts: dict[int, list[int]] = {}
    for fact in set(predicted):
        count = counts.setdefault(relations.get(fact[1], OTHER), [0, 0, 0])
        count[0] += 1
        if fact[:2] in pairs:
            count[1] += fact in gold
            count[2] += 1
    return [(code, n, found, verifiable) for code, (n, found, verifiable) in sorted(counts.items())]
