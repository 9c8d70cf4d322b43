"""fact-checking: a constant, a drawn score, how often entities stand there, and one part of a claim alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

from evaluator.baselines.base import Asked, Baseline, Line

_PARTS = ("subject", "relation", "object")


def _constant(asked: Asked) -> Iterable[Line]:
    return _lines(asked, lambda line: 0.5)


def _random(asked: Asked) -> Iterable[Line]:
    rng = asked.draws("random")
    return _lines(asked, lambda line: rng.random())


def _degree(asked: Asked) -> Iterable[Line]:
    seen = Counter(line[name] for line in asked.inputs for name in ("subject", "object"))
    return _lines(asked, lambda line: seen[line["subject"]] + seen[line["object"]])


def _recurrence(asked: Asked) -> Iterable[Line]:
    seen = Counter((line["subject"], line["object"]) for line in asked.inputs)
    return _lines(asked, lambda line: seen[line["subject"], line["object"]])


def _one_part(asked: Asked, *, part: str) -> Iterable[Line] | None:
    place = _PARTS.index(part)
    known = [
        (some[0][place], bool(label))
        for train in asked.trains
        for some, label in zip(train.triples, train.answers, strict=True)
    ]
    if not known:
        return None
    true, every = Counter(name for name, label in known if label), Counter(name for name, _ in known)
    share = sum(true.values()) / len(known)
    return _lines(asked, lambda line: (true[line[part]] + share) / (every[line[part]] + 1))


def _lines(asked: Asked, score: Callable[[Line], float]) -> Iterable[Line]:
    for line in asked.inputs:
        yield {"id": line["id"], "score": float(score(line))}


BASELINES = (
    Baseline("constant", "the same score for every claim", _constant, "auroc", 0.5),
    Baseline("random", "a score drawn for each claim", _random, "auroc", 0.5),
    Baseline("degree", "how often the inputs ask about subject and object", _degree, "auroc", 0.5),
    Baseline("recurrence", "how often the inputs ask about the pair", _recurrence, "auroc", 0.5),
    *(
        Baseline(
            f"{part}-only",
            f"the share of true claims with the same {part} in public gold",
            partial(_one_part, part=part),
            "auroc",
            0.5,
            needs="public gold to count in",
        )
        for part in _PARTS
    ),
)
