"""Small fact-extraction files that exercise every path of the task."""

SAMPLES = (
    (
        b'{"id": 1, "facts": [["a", "r", "b"], ["a", "s", "b"]], "text": "t", "slices": {"kind": 1}}\n'
        b'{"id": 2, "facts": [], "subject": "b", "group": "g"}\n'
        b'{"id": 3, "facts": [["c", "r", "b"]], "slices": {"relation": "mine"}}\n',
        b'{"id": 1, "facts": [["a", "r", "b"], ["a", "s", "c"], ["a", "q", "b"]]}\n{"id": 2, "facts": []}\n',
    ),
    (b'{"id": 1, "facts": [["a", "r", "b"]]}\n{"id": 2, "facts": []}\n', b'{"id": 1, "facts": []}\n'),
)
"""(gold, predictions) pairs."""
