"""Small link-prediction files that exercise every path of the task."""

SAMPLES = (
    (
        b'{"id": 1, "question": ["a", "r", "?"], "answers": ["b", "c"], "filtered": ["d"], "slices": {"kind": 1}}\n'
        b'{"id": 2, "question": ["?", "r", "b"], "answers": ["a"], "filtered": [], "group": "g"}\n'
        b'{"id": 3, "question": ["e", "r", "?"], "answers": [], "filtered": []}\n',
        b'{"id": 1, "ranking": ["x", "d", "x", "c", "b"]}\n{"id": 2, "ranking": []}\n',
    ),
)
"""(gold, predictions) pairs."""
