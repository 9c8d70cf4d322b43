"""Names of the previous release in the API: fields, addresses and error codes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client, RequestFactory
from django.urls import URLPattern, resolve

from leaderboard.api_urls import PRESENT
from leaderboard.core.api import renamed
from leaderboard.core.api.errors import handler
from leaderboard.core.refusal import Code, Refused
from tests.conftest import ROOT
from tests.support.api_calls import error_of
from tests.upgrade.compare_commits import differences

SERIALIZERS = {serializer.__name__: serializer for serializer in renamed.RenamedFields.__subclasses__()}
RENAMED = [(name, *pair) for name, fields in renamed.FIELDS.items() for pair in fields.items()]
EXAMPLES: dict[str, Any] = {
    "BooleanField": True,
    "CharField": "public",
    "IntegerField": 7,
    "URLField": "http://testserver/api/v1/chunks/",
}
PARAMETER = re.compile(r"<(\w+):\w+>")
KEYS = {"slug": "name", "uuid": "0b6c0000-0000-4000-8000-000000000000"}
FORMER = list(renamed.former_routes(PRESENT))


@pytest.fixture(scope="module")
def schema(django_db_setup: None, django_db_blocker: Any) -> dict[str, Any]:
    with django_db_blocker.unblock():
        content: dict[str, Any] = Client().get("/api/v1/schema/").json()
    return content


def test_the_table_names_the_serializers_that_use_it() -> None:
    assert SERIALIZERS.keys() == renamed.FIELDS.keys()
    # The schema would describe a serializer without a docstring by the one of its base.
    assert all("__doc__" in vars(serializer) and serializer.__doc__ for serializer in SERIALIZERS.values())


@pytest.mark.parametrize(("name", "present", "former"), RENAMED)
def test_a_renamed_field_is_returned_under_both_names(name: str, present: str, former: str) -> None:
    fields = SERIALIZERS[name]().fields
    value = EXAMPLES[type(fields[present]).__name__]
    for key in (present, former):
        assert fields[key].to_representation(fields[key].get_attribute({present: value})) == value


@pytest.mark.parametrize(("name", "present", "former"), RENAMED)
def test_the_schema_marks_the_former_name(schema: dict[str, Any], name: str, present: str, former: str) -> None:
    properties = schema["components"]["schemas"][name.removesuffix("Serializer")]["properties"]
    assert properties[former]["deprecated"] and f"`{present}`" in properties[former]["description"]
    assert "deprecated" not in properties[present] and properties[present]["type"] == properties[former]["type"]


@pytest.mark.parametrize("former", FORMER, ids=lambda pattern: pattern.name)
def test_a_former_address_serves_the_same_view(schema: dict[str, Any], former: URLPattern) -> None:
    (present,) = (pattern for pattern in PRESENT if f"former_{pattern.name}" == former.name)
    resolved = resolve("/api/v1/" + PARAMETER.sub(lambda match: KEYS[match[1]], str(former.pattern)))
    assert (resolved.url_name, resolved.func.cls) == (former.name, present.callback.cls)
    operations = {re.sub(r"{\w+}", "", path): operations for path, operations in schema["paths"].items()}
    then, now = (operations["/api/v1/" + PARAMETER.sub("", str(pattern.pattern))] for pattern in (former, present))
    for method, operation in then.items():
        # The protocol with chunks/ is itself deprecated: tus has replaced it.
        is_former = str(present.pattern).endswith("/chunks/")
        assert operation["deprecated"] and now[method].get("deprecated", False) == is_former
        assert operation["responses"] == now[method]["responses"]
        assert operation["operationId"] != now[method]["operationId"]


def test_each_renamed_address_is_served() -> None:
    former_endings = {address.former for address in renamed.ADDRESSES}
    assert {end for end in former_endings for pattern in FORMER if str(pattern.pattern).endswith(end)} == former_endings


@pytest.mark.parametrize("code", list(Code))
def test_a_renamed_code_is_returned_with_the_former_one(code: Code) -> None:
    response = handler(Refused(code, "No."), {"request": RequestFactory().get("/")})
    assert response is not None and response.status_code == code.status
    former = renamed.CODES.get(code.text)
    expected = {"code": former, "new_code": code.text} if former else {"code": code.text}
    assert error_of(response) == {**expected, "message": "No."}


def test_each_renamed_code_exists() -> None:
    assert renamed.CODES.keys() <= {code.text for code in Code}


def test_the_documentation_lists_every_name() -> None:
    table = (ROOT / "docs" / "api.md").read_text().partition("## Renamed in this version")[2]
    names = {name for _, *pair in RENAMED for name in pair} | {*renamed.CODES, *renamed.CODES.values()}
    assert [name for name in sorted(names) if f"`{name}`" not in table] == []
    for address in renamed.ADDRESSES:
        assert f"{address.present[1:]}`" in table and f"{address.former[1:]}`" in table


@pytest.mark.parametrize(
    ("after", "differs"),
    [
        ('{"half":"public","gold_subset":"public","a":[{"parts":3,"n_bins":{"b":3}}],"b":1}', False),
        ('{"half":"public","a":[{"parts":4}],"b":1}', True),
        ('{"half":"public","a":[{"n_bins":3}],"b":1}', True),
        ('{"half":"public","a":[{"parts":3},{"parts":3}],"b":1}', True),
        ('{"half":"public","a":[],"b":1}', True),
    ],
)
def test_comparing_two_releases_ignores_new_fields_only(after: str, differs: bool) -> None:
    before = '{"half":"public","a":[{"parts":3}],"b":1}'
    documents = [{"/board/": f"200 application/json\n{text}"} for text in (before, after)]
    assert bool(differences(*documents)) == differs
