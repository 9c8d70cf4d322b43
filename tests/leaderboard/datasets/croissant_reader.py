"""Reading of a Croissant document with mlcroissant, MLCommons' own library, and comparison with the files' lines."""

from __future__ import annotations

import gzip
import json
import logging
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

Fetch = Callable[[str], bytes]


def check(document: dict[str, Any], fetch: Fetch, cache: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Assert that mlcroissant loads the document without error or warning, and reads every line of its record sets.

    fetch: returns the content at an address. cache: folder for mlcroissant's downloads. Returns the number of records.
    """
    import mlcroissant

    monkeypatch.setattr("mlcroissant._src.core.constants.DOWNLOAD_PATH", cache)
    said: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    logging.getLogger("absl").addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", append=True)
            dataset = mlcroissant.Dataset(jsonld=document)
            issues = dataset.metadata.issues
            assert (issues.errors, issues.warnings, said) == (set(), set(), [])
    finally:
        logging.getLogger().removeHandler(handler)
        logging.getLogger("absl").removeHandler(handler)
    contents = {item["@id"]: fetch(item["contentUrl"]) for item in document["distribution"]}
    n_records = 0
    for record_set in document["recordSet"]:
        (file,) = {source_of(field)["fileObject"]["@id"] for field in record_set["field"]}
        content = gzip.decompress(contents[file]) if file.endswith(".gz") else contents[file]
        lines = [json.loads(line) for line in content.splitlines()]
        records = [plain(record) for record in dataset.records(record_set["@id"])]
        expected = [expected_record(record_set, line) for line in lines]
        assert len(records) == len(lines)
        for record, wanted in zip(records, expected, strict=True):
            assert equal(record, wanted), (record, wanted)
        n_records += len(records)
    return n_records


def source_of(field: dict[str, Any]) -> dict[str, Any]:
    source: dict[str, Any] = field["subField"][0]["source"] if "subField" in field else field["source"]
    return source


def expected_record(record_set: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    """Return the record that a line must give, by the fields' ids."""
    record: dict[str, Any] = {}
    for field in record_set["field"]:
        value = line.get(unquote(field["@id"].split("/")[1]))
        parts = field.get("subField")
        if parts is None:
            record[field["@id"]] = value
        elif field.get("repeated"):
            # mlcroissant reads a list that a line lacks as one object without values.
            items = [None] if value is None else value
            record[field["@id"]] = [{part["@id"]: _at(item, part["@id"]) for part in parts} for item in items]
        else:
            record[field["@id"]] = {part["@id"]: _at(value or {}, part["@id"]) for part in parts}
    return record


def _at(value: Any, identity: str) -> Any:
    for key in identity.split("/")[2:]:
        value = (value or {}).get(unquote(key))
    return value


def plain(value: Any) -> Any:
    """Return a record with text in place of bytes, and lists in place of arrays."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return value.decode()
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [plain(item) for item in value] if isinstance(value, list) else value


def equal(value: Any, expected: Any) -> bool:
    """Return True for equal values. Numbers may differ in the last digits, and be text where types are mixed."""
    if isinstance(expected, dict):
        return value.keys() == expected.keys() and all(equal(value[key], item) for key, item in expected.items())
    if isinstance(expected, list):
        return len(value) == len(expected) and all(map(equal, value, expected))
    if isinstance(expected, float):
        return isinstance(value, float) and math.isclose(value, expected, rel_tol=1e-12)
    return bool(value == expected) or (
        isinstance(value, str) and not isinstance(expected, str) and value == str(expected)
    )
