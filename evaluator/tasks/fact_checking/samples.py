"""Small fact-checking files that exercise every path of the task."""

_MANY = range(20)
"""Enough lines for permutation tests to run."""
_SCORES = b"".join(b'{"id": %d, "score": %d}\n' % (i, i // 2) for i in _MANY)
_TRIPLES = b"".join(
    b'{"id": %d, "subject": "a", "relation": "r", "object": "b", "label": %s}\n' % (i, (b"true", b"false")[i % 2])
    for i in _MANY
)

SAMPLES = (
    (
        b'{"id": 1, "subject": "a", "relation": "r", "object": "b", "label": true, "slices": {"kind": 1}}\n'
        b'{"id": 2, "subject": "a", "relation": "s", "object": "c", "label": false, "group": "g"}\n'
        b'{"id": 3, "subject": "b", "relation": "r", "object": "c", "label": false}\n',
        b'{"id": 1, "score": 0.5}\n{"id": 2, "score": -0.0}\n{"id": 3, "score": 0}\n',
    ),
    (
        b'{"id": 1, "subject": "a", "relation": "r", "object": "b", "label": true, "slices": {"relation": "q"}}\n',
        b'{"id": 1, "score": 1e308}\n',
    ),
    (_TRIPLES, _SCORES),
)
"""(gold, predictions) pairs."""
