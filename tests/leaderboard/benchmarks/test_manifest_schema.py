"""JSON Schema of manifests: it refuses what the importer refuses, as far as a schema can know."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from jsonschema import Draft202012Validator, FormatChecker

from leaderboard.benchmarks.manifest import ManifestError, convert, json_schema
from tests.conftest import ROOT

SCHEMA = json_schema("https://holdout.example/schemas/benchmark.json")
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=FormatChecker())
MOMENT = "2030-01-01T00:00:00Z"
VALUE = {"measure": "accuracy", "value": 0.5, "shown": "50", "slice": {"origin": "x"}}
COMPLETE: dict[str, Any] = {
    "slug": "a",
    "title": "A",
    "task": "fact-checking",
    "summary": "A.",
    "rules": "None.",
    "splits": [{"name": "s", "kind": "test", "gold": "g.jsonl", "public_share": "0.5"}],
    "phases": [
        {"slug": "p", "title": "P", "split": "s", "takes_images": True, "tracks": [{"name": "t", "title": "T"}]},
        {"slug": "q", "title": "Q", "split": "s", "opens_at": MOMENT, "gpus": 1},
    ],
    "downloads": [{"name": "d", "file": "d.tsv", "title": "D"}],
    "systems": [{"name": "S", "team": "T", "phase": "p", "track": "t", "image": "i"}],
    "reported": [{"system": "R", "paper": "P", "split": "dev", "values": [VALUE]}],
    "facts": [{"name": "f", "title": "F", "kind": "text"}],
}
VALUES = [None, "", "x", "a b", "0.5", "full", MOMENT, "2030-01-01", -1, 0, 1, 17, 1.5, True, "y" * 400]
VALUES += [[], ["x"], [1], {}, {"x": "y"}, {"x": [1]}]
REFERENCES = {
    "SplitPart": {"name"},
    "PhasePart": {"slug", "split", "gpus", "gpu_memory_gb", "takes_images", "tracks"},
    "TrackPart": {"name"},
    "SystemPart": {"phase", "track"},
    "ReportedPart": {"track"},
    "Manifest": {"main_phase", "asks_agreement", "rules"},
}
"""Keys whose value must fit another key's, which a schema does not know."""


def accepts(document: dict[str, Any]) -> bool:
    try:
        convert(copy.deepcopy(document))
    except ManifestError:
        return False
    return True


def objects(document: Any, part: str = "Manifest") -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each object of a document with the name of its class."""
    yield document, part
    for name, rule in SCHEMA["$defs"][part]["properties"].items():
        ref = rule.get("items", {}).get("$ref", "").rpartition("/")[2]
        for item in document.get(name, ()) if ref else ():
            yield from objects(item, ref)


def test_the_schema_and_the_importer_agree_on_every_key() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert VALIDATOR.is_valid(COMPLETE) and accepts(COMPLETE)
    seen: dict[bool, int] = {True: 0, False: 0}
    for item, part in objects(COMPLETE):
        original = dict(item)
        for name in [*SCHEMA["$defs"][part]["properties"], "unknown"]:
            for value in [*VALUES, ...]:
                item[name] = value
                if value is ...:
                    del item[name]
                valid, accepted = VALIDATOR.is_valid(COMPLETE), accepts(COMPLETE)
                seen[valid] += 1
                if name not in REFERENCES.get(part, ()) or not valid:
                    assert valid == accepted, (part, name, value)
                item.clear()
                item.update(original)
    assert min(seen.values()) > 100


@pytest.mark.parametrize("name", sorted(path.parent.name for path in ROOT.glob("fixtures/*/benchmark.json")))
def test_fixtures_are_valid(name: str) -> None:
    document = json.loads((ROOT / "fixtures" / name / "benchmark.json").read_text())
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []
    assert accepts(document)


def test_the_site_serves_the_schema(client: Client, db: None) -> None:
    response = client.get("/schemas/benchmark.json")
    assert response["Content-Type"] == "application/schema+json" and "public" in response["Cache-Control"]
    address = f"{settings.BASE_URL}/schemas/benchmark.json"
    assert response.json() == json_schema(address)
    assert VALIDATOR.is_valid({**COMPLETE, "$schema": address}) and accepts({**COMPLETE, "$schema": address})
