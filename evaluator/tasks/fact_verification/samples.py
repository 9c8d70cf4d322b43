"""Small fact-verification files that exercise every path of the task."""

_CLAIM = (
    b'{"id": %d, "claim": "c", "label": "%s", "evidence": [[[1, 1, "P", 0]]], "group": "g", '
    b'"slices": {"origin": "%s"}}\n'
)

SAMPLES = (
    (
        _CLAIM % (1, b"SUPPORTS", b"original") + _CLAIM % (2, b"REFUTES", b"generated"),
        b'{"id": 1, "predicted_label": "refutes", "predicted_evidence": [["P", 0]]}\n'
        b'{"id": 2, "predicted_label": "REFUTES", "predicted_evidence": []}\n',
    ),
)
"""(gold, predictions) pairs."""
