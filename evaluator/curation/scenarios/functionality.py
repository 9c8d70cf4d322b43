"""Functionality of a predicate: subjects and objects per fact (Huynh & Papotti 2019)."""

from __future__ import annotations

from collections.abc import Iterable


def functionality(pairs: Iterable[tuple[int, int] | tuple[str, str]]) -> dict[str, float | int | None]:
    """Return {"pairs": |pairs|, "subjects_per_pair": |subjects| / |pairs|, "objects_per_pair": |objects| / |pairs|}.

    Repeated (subject, object) pairs count once. A quotient is 1 if no subject (object) occurs twice, and None without
    pairs.
    """
    unique = set(pairs)
    n_subjects, n_objects = len({pair[0] for pair in unique}), len({pair[1] for pair in unique})
    return {
        "pairs": len(unique),
        "subjects_per_pair": n_subjects / len(unique) if unique else None,
        "objects_per_pair": n_objects / len(unique) if unique else None,
    }
