"""Whether a predicate gives a subject one object, or an object one subject (Huynh & Papotti 2019)."""

from __future__ import annotations

from collections.abc import Iterable


def functionality(pairs: Iterable[tuple[int, int] | tuple[str, str]]) -> dict[str, float | int | None]:
    """|subjects| / |pairs| and |objects| / |pairs|: 1 where no subject (no object) has two. No pair: null."""
    unique = set(pairs)
    n_subjects, n_objects = len({pair[0] for pair in unique}), len({pair[1] for pair in unique})
    return {
        "pairs": len(unique),
        "subjects_per_pair": n_subjects / len(unique) if unique else None,
        "objects_per_pair": n_objects / len(unique) if unique else None,
    }
