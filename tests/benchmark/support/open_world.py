"""Generated open triples of OLPBENCH's size: many mentions of few entities, words by Zipf's law.

The paper reports 30 million training triples, 2.5 million mentions, 961,000 relations and 10,000 evaluation triples.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

TOKENS = 200_000
MENTIONS = 2_500_000
RELATIONS = 960_000
OTHERS = 5
"""Maximum number of an entity's mentions besides its first."""

FLAT = 50
"""Flatness of the frequencies of mentions: as with names, the most frequent ones are not much more so than the next."""

_BLOCK = 500_000


class OpenWorld:
    """Texts consist of numbered tokens, which need little memory: `t17 t4 t90`."""

    def __init__(self, seed: int = 1) -> None:
        self.random = np.random.default_rng(seed)
        self.mentions = self._texts(MENTIONS, 1, 5)
        self.relations = self._texts(RELATIONS, 1, 8)

    def write(self, folder: Path, n_training: int, n_evaluated: int) -> tuple[Path, Path]:
        """Write the training file, in which every 50th triple is about an evaluated one, and the evaluation file."""
        folder.mkdir(parents=True, exist_ok=True)
        evaluated = [self._evaluated() for _ in range(n_evaluated)]
        evaluation, training = folder / "evaluation.tsv", folder / "training.tsv"
        lines = ("\t".join([*cells, "|||".join(a), "|||".join(b)]) for *cells, a, b in evaluated)
        evaluation.write_text("".join(f"{line}\n" for line in lines))
        with training.open("w") as file:
            for begin in range(0, n_training, _BLOCK):
                n = min(_BLOCK, n_training - begin)
                parts = ((self.mentions, FLAT), (self.relations, 1), (self.mentions, FLAT))
                columns = [_select(texts, self._draw(len(texts), n, flat)) for texts, flat in parts]
                rows = ["\t".join(cells) + "\n" for cells in zip(*columns, strict=True)]
                picks = self.random.integers(n_evaluated, size=len(rows[::50]))
                rows[::50] = [self._leaking_line(*evaluated[pick], number) for number, pick in enumerate(picks)]
                file.writelines(rows)
        return training, evaluation

    def _texts(self, n: int, least: int, most: int) -> list[str]:
        widths = self.random.integers(least, most, size=n)
        tokens = iter(self._draw(TOKENS, int(widths.sum())).tolist())
        return [" ".join([f"t{next(tokens)}" for _ in range(width)]) for width in widths.tolist()]

    def _draw(self, n_texts: int, n: int, flat: int = 1) -> np.ndarray:
        """Sample text numbers; x has a probability proportional to 1 / (x + flat), the law of Zipf and Mandelbrot."""
        numbers = flat * (1 + n_texts / flat) ** self.random.random(n) - flat
        return np.minimum(numbers, n_texts - 1).astype(np.int64)

    def _evaluated(self) -> tuple[str, str, str, list[str], list[str]]:
        subject, object_ = self._entity(), self._entity()
        while len((relation := _select(self.relations, self._draw(RELATIONS, 1))[0]).split()) < 3:
            pass
        return subject[0], relation, object_[0], subject, object_

    def _entity(self) -> list[str]:
        """Return an entity's mentions: a sampled one, its last word alone, and rare ones."""
        common = self.mentions[self._draw(MENTIONS, 1, FLAT)[0]]
        return [common, common.split()[-1], *_select(self.mentions, self.random.integers(MENTIONS, size=OTHERS - 1))]

    def _leaking_line(self, subject: str, relation: str, object_: str, a: list[str], b: list[str], variant: int) -> str:
        i, j = a[variant % len(a)], b[variant % len(b)]
        triples: Iterator[tuple[str, str, str]] = iter(
            [
                (subject, relation, object_),
                (j, relation, i),
                (i, "t7 t8", j),
                (i, f"{relation} {j} t5", "t3"),
                (f"{i} {relation} {j}", "t1 t2", "t3"),
                (i, relation, "t3 t9999"),
            ][variant % 6 :]
        )
        return "\t".join(next(triples)) + "\n"


def _select(texts: list[str], places: np.ndarray) -> list[str]:
    return [texts[place] for place in places.tolist()]
