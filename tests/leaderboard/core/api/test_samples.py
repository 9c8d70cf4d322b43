"""What the schema has for readers: groups, samples that a shell and Python can read, examples, error codes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft4Validator

from leaderboard.core.api import samples
from leaderboard.core.api.schema import schema

Call = tuple[str, dict[str, Any]]


def calls() -> Iterator[Call]:
    for path, methods in schema()["paths"].items():
        for method, call in methods.items():
            if not call.get("deprecated"):
                yield f"{method.upper()} {path}", call


def test_each_call_is_in_a_group() -> None:
    assert {name for _, call in calls() for name in call["tags"]} == samples.GROUPS.keys() - {"Other"}


def test_samples_are_valid_shell_and_python() -> None:
    scripts = []
    for name, call in calls():
        curl, python = call["x-codeSamples"]
        compile(python["source"], name, "exec")
        scripts.append(curl["source"])
    checked = subprocess.run(["bash", "-n"], input="\n".join(scripts), text=True, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_call_has_samples_an_example_and_error_codes() -> None:
    call = dict(calls())["POST /api/v1/benchmarks/{slug}/phases/{phase}/submissions/"]
    curl, python = (sample["source"] for sample in call["x-codeSamples"])
    assert "-F file=@predictions.jsonl" in curl and "$HOLDOUT_TOKEN" in curl and "import requests" in python
    assert "`invalid_predictions`" in call["responses"]["422"]["description"]
    example = call["responses"]["201"]["content"]["application/json"]["example"]
    assert "queue_position" in example and "place_in_queue" not in example, "deprecated fields are left out"


def test_examples_and_bodies_fit_the_schema() -> None:
    document = deepcopy(schema())
    for part in document["components"]["schemas"].values():  # examples leave deprecated fields out
        fields = part.get("properties", {})
        part["required"] = [name for name in part.get("required", ()) if not fields[name].get("deprecated")]
    source = samples.Document(document)
    for _, call in calls():
        for answer in (call.get("requestBody", {}), *call["responses"].values()):
            if content := answer.get("content", {}).get("application/json"):
                part = {**content["schema"], "components": document["components"]}
                Draft4Validator(part).validate(content.get("example", source.sample(content["schema"])))


@pytest.mark.parametrize("group", samples.GROUP_CODES)
def test_every_status_of_a_groups_codes_is_one_of_its_calls(group: str) -> None:
    """A code whose status none of the group's calls declares would never be shown."""
    declared = {int(status) for _, call in calls() if call["tags"] == [group] for status in call["responses"]}
    assert {code.status for code in samples.GROUP_CODES[group]} <= declared


def test_swagger_tries_the_calls() -> None:
    assert 'id="swagger-ui"' in Client().get("/api/v1/docs/").content.decode()
