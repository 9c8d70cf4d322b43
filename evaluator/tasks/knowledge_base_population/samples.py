"""Small knowledge-base-population files that exercise every path of the task."""

_FACT = (
    b'{"propertyId": "1", "subjectStart": 0, "subjectEnd": 2, "objectStart": 3, "objectEnd": %d, '
    b'"subjectUri": "a/Q1", "objectUri": "a/Q2/"}'
)
_DOCUMENT = (
    b'{"documentId": "%s", "documentText": "ab cd \xc3\xa9", "slices": {"kind": true}, "passages": [{"passageId": "p", '
    b'"passageStart": 0, "passageEnd": 7, "passageText": "ab cd \xc3\xa9", "exhaustivelyAnnotatedProperties": '
    b'[{"propertyId": "1", "propertyName": "KNOWS"}], "facts": [' + _FACT % 5 + b"]}]}\n"
)

SAMPLES = (
    (
        _DOCUMENT % b"d" + _DOCUMENT % b"e",
        b'{"documentId": "d", "passageId": "p", "facts": [' + _FACT % 4 + b", " + _FACT % 99 + b"]}\n",
    ),
)
"""(gold, predictions) pairs."""
