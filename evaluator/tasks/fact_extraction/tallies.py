"""Counts of a text's predicted facts by relation, compared with its gold facts."""

from collections.abc import Iterable, Mapping

from evaluator.tasks.fact_extraction.gold import Facts
from evaluator.tasks.fact_extraction.layout import Fact

OTHER = -1
"""The code of every relation that no gold fact has."""


Tally = tuple[int, int, int, int]
"""The code of a relation, then three counts of a text's distinct predicted facts with it: all, found, verifiable.

A fact is found if it is a gold fact of the text. It is verifiable if a gold fact of the text has its subject and
relation, so that gold can judge it.
"""


def tally(predicted: Iterable[Fact], gold: Facts, relations: Mapping[str, int]) -> list[Tally]:
    """Return the counts (`Tally`) of one text's predicted facts, one for each predicted relation, by ascending code.

    gold: the gold facts of the text. relations: relation -> code for each relation in the gold; all other relations
    together have one tally, with the code OTHER.
    """
    pairs = {fact[:2] for fact in gold}
    counts: dict[int, list[int]] = {}
    for fact in set(predicted):
        count = counts.setdefault(relations.get(fact[1], OTHER), [0, 0, 0])
        count[0] += 1
        if fact[:2] in pairs:
            count[1] += fact in gold
            count[2] += 1
    return [(code, n, found, verifiable) for code, (n, found, verifiable) in sorted(counts.items())]
