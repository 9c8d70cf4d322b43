"""Small files that together run every code path of the task.

The sandbox scores them once when it starts, so that everything is imported by then: its jobs cannot open files.
"""

_MANY = range(24)

SAMPLES = (
    (
        b'{"id": 1, "text": "a b", "label": "x", "group": "g", "slices": {"kind": 1}}\n'
        b'{"id": 2, "text": "a c", "label": "y", "group": "g"}\n{"id": 3, "text": "d", "label": "z"}\n',
        b'{"id": 1, "label": "x"}\n{"id": 2, "label": "x"}\n{"id": 3, "label": "z"}\n',
    ),
    (
        b"".join(b'{"id": "%d", "text": "a%d b", "label": "%s"}\n' % (n, n, b"xyz"[n % 3 :][:1]) for n in _MANY),
        b"".join(b'{"id": "%d", "label": "%s"}\n' % (n, b"xyz"[n % 2 :][:1]) for n in _MANY),
    ),
)
"""(gold, predictions) pairs."""
