"""Small metric-correlation files that exercise every path of the task."""

_MANY = range(20)
"""Enough lines for permutation tests to run."""
_SCORES = b"".join(b'{"id": %d, "score": %d}\n' % (i, i // 2) for i in _MANY)
_RATED = b"".join(b'{"id": %d, "human": %d}\n' % (i, i % 7) for i in _MANY)

SAMPLES = (
    (
        b'{"id": 1, "human": 0.5, "system": "a", "generated": "t", "slices": {"kind": 1}}\n'
        b'{"id": 2, "human": 1, "system": "a", "reference": "t", "group": "g"}\n'
        b'{"id": 3, "human": 1, "system": "b"}\n{"id": 4, "human": 0, "system": "b"}\n',
        b'{"id": 1, "score": 0.5}\n{"id": 2, "score": -0.0}\n{"id": 3, "score": 0}\n{"id": 4, "score": 1e308}\n',
    ),
    (b'{"id": 1, "human": 0.5, "system": "a"}\n{"id": 2, "human": 0.5}\n', b'{"id": 1, "score": 1e308}\n'),
    (_RATED, _SCORES),
)
"""(gold, predictions) pairs."""
