"""The API reference: every call of the schema, with examples that a shell and Python can read."""

from __future__ import annotations

import html
import re
import subprocess
from copy import deepcopy
from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft4Validator

from leaderboard.core.api import reference
from tests.support.strict_html import read

ADDRESS = "/api/v1/docs/"


def page(name: str = "") -> str:
    response = Client().get(ADDRESS + name)
    assert response.status_code == 200
    text = response.content.decode()
    assert read(text).faults == []
    return text


@pytest.fixture(scope="module")
def calls() -> list[reference.Call]:
    return [call for group in reference.call_groups().values() for call in group.calls]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: page(f"{name}/") for name in reference.call_groups()}


def test_the_list_leads_to_every_call_that_is_not_deprecated(pages: dict[str, str]) -> None:
    listed = re.findall(rf'href="{ADDRESS}(\w+)/#(\w+)"', page())
    operations = [call for methods in reference.schema()["paths"].values() for call in methods.values()]
    expected = {call["operationId"] for call in operations if not call.get("deprecated")}
    assert {id for _, id in listed} == expected
    assert "other" not in pages, "a call belongs to no group"
    assert all(f'<h2 id="{id}">' in pages[name] for name, id in listed)
    assert Client().get(f"{ADDRESS}nothing/").status_code == 404


def test_a_call_has_parameters_fields_errors_and_examples(pages: dict[str, str]) -> None:
    submissions = pages["submissions"]
    call = re.sub(r"<[^>]+>", "", html.unescape(submissions.partition('id="submit"')[2].partition("</article")[0]))
    parts = ("system", "predictions.jsonl", "$HOLDOUT_TOKEN", "import requests", "invalid_predictions", "201", "422")
    assert [part for part in parts if part not in call] == []
    assert "file file, required" in call
    assert '<a href="#object-Submission">' in submissions and '<h3 id="object-Submission">' in submissions


def test_an_enumeration_that_may_be_empty_is_described_as_one(pages: dict[str, str]) -> None:
    submissions = re.sub(r"<[^>]+>", "", html.unescape(pages["submissions"]))
    assert "hidden_by HiddenBy, required, or empty" in submissions
    assert not re.search(r"\w+Enum\b", submissions) and ", ," not in submissions


def test_links_to_objects_lead_to_objects_of_the_same_page(pages: dict[str, str]) -> None:
    for text in pages.values():
        links, ids = set(re.findall(r'href="#([\w-]+)"', text)), set(re.findall(r'id="([\w-]+)"', text))
        assert links - ids == set()


def test_examples_are_valid_shell_and_python(calls: list[reference.Call]) -> None:
    for call in calls:
        compile(call.python, call.id, "exec")
    script = "\n".join(call.curl for call in calls)
    checked = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_example_responses_and_bodies_fit_the_schema() -> None:
    document = deepcopy(reference.schema())
    for part in document["components"]["schemas"].values():  # examples leave deprecated fields out
        fields = part.get("properties", {})
        part["required"] = [name for name in part.get("required", ()) if not fields[name].get("deprecated")]

    def fits(part: Any) -> None:
        whole = {**part, "components": document["components"]}
        Draft4Validator(whole).validate(reference.sample(part))

    for methods in document["paths"].values():
        for operation in methods.values():
            for answer in (operation.get("requestBody", {}), *operation["responses"].values()):
                for kind, content in answer.get("content", {}).items():
                    if kind == "application/json":
                        fits(content["schema"])


def test_deprecated_fields_are_left_out(pages: dict[str, str]) -> None:
    assert "queue_position" in pages["submissions"] and "place_in_queue" not in pages["submissions"]


def test_no_script_is_needed_and_swagger_remains(pages: dict[str, str]) -> None:
    for text in pages.values():
        assert "<script" not in text.partition("<main")[2].partition("</main>")[0]
    assert 'id="swagger-ui"' in Client().get(f"{ADDRESS}try/").content.decode()


def test_the_schema_is_read_once_a_process(monkeypatch: pytest.MonkeyPatch, pages: dict[str, str]) -> None:
    monkeypatch.setattr(reference, "SchemaGenerator", None)
    monkeypatch.setattr(reference, "render_to_string", None)
    assert page("submissions/") == pages["submissions"]


def test_every_status_of_a_groups_codes_is_one_of_its_calls(calls: list[reference.Call]) -> None:
    """A code whose status none of the group's calls declares would never be shown."""
    for name, codes in reference.GROUP_CODES.items():
        declared = {status for call in reference.call_groups()[name].calls for status, *_ in call.errors}
        assert {code.status for code in codes} <= declared, name
