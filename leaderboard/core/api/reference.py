"""The API reference: pages made from the OpenAPI schema, with examples for curl and Python.

A call is one HTTP method at one path. Examples have invented values of the types that the schema gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import conditional_page, require_safe
from drf_spectacular.generators import SchemaGenerator
from markdown_it import MarkdownIt

from leaderboard.core.api import problem_details
from leaderboard.core.refusal import Code

Json = Mapping[str, Any]
GROUPS = {
    "tokens": ("Tokens", r"/auth/"),
    "benchmarks": (
        "Benchmarks and tasks",
        r"/tasks/|/benchmarks/$|/benchmarks/{slug}/$|/inputs\.jsonl$|/croissant\.json$",
    ),
    "submissions": ("Submissions", r"(?<!{id})/submissions/|^/api/v1/submissions/"),
    "leaderboards": ("Leaderboards", r"/leaderboard"),
    "images": ("Container images", r"{phase}/image|^/api/v1/image-uploads/"),
    "teams": ("Teams and systems", r"/teams/|/invitations/|/systems/"),
    "organisers": ("Hosting a benchmark", r"/raw-|/scorers/|/exact-scores"),
    "other": ("Other", r""),
}
"""Groups of calls by the name of their page: the title, and a pattern of paths. The first that matches counts."""
TITLE = re.compile(r"(?:[^.;:,(\n]|\.(?=\d))*")
"""The part of a call's description that is its title."""
ENUMERATION = re.compile(r"(?:^|\n\n)\* `.*", re.DOTALL)
"""The list of an enumeration's values, which the generator appends to a description; it says nothing more."""
BLANK = "BlankEnum"
"""Name of the object with which the generator says that an enumeration may be empty."""
COMMON_CODES = {
    400: ("invalid", "parse_error"),
    401: ("not_authenticated", "authentication_failed"),
    403: ("permission_denied",),
    404: ("not_found",),
    410: ("upload_gone",),
    411: ("length_required",),
    412: ("unsupported_version",),
    413: ("too_large",),
    415: ("unsupported_media_type",),
    429: ("throttled",),
    460: ("checksum_mismatch",),
    503: ("busy", "store_unavailable"),
    507: ("disk_full",),
}
"""Error codes of any call by status, in addition to those of its group."""
GROUP_CODES: Mapping[str, Sequence[Code]] = {
    "submissions": (
        Code.NOT_A_MEMBER,
        Code.BARRED,
        Code.IDEMPOTENCY_KEY_REUSED,
        Code.INVALID_IDEMPOTENCY_KEY,
        Code.PHASE_CLOSED,
        Code.NOT_ACCEPTED,
        Code.OTHER_TEAM,
        Code.OTHER_TRACK,
        Code.NOT_READY,
        Code.CHANGED_MEANWHILE,
        Code.SCORER_FAILING,
        Code.INVALID_PREDICTIONS,
        Code.INVALID_NAME,
        Code.INVALID_FACT,
        Code.INVALID_TRACK,
        Code.QUOTA_EXCEEDED,
        Code.SANDBOX_UNAVAILABLE,
    ),
    "leaderboards": (Code.NOT_READY,),
    "images": (
        Code.NOT_A_MEMBER,
        Code.BARRED,
        Code.IDEMPOTENCY_KEY_REUSED,
        Code.INVALID_IDEMPOTENCY_KEY,
        Code.PHASE_CLOSED,
        Code.NOT_ACCEPTED,
        Code.OTHER_TEAM,
        Code.OTHER_TRACK,
        Code.WRONG_OFFSET,
        Code.UPLOAD_INCOMPLETE,
        Code.CHANGED_MEANWHILE,
        Code.SCORER_FAILING,
        Code.LIMIT_REACHED,
        Code.INVALID_REFERENCE,
        Code.INVALID_DIGEST,
        Code.DIGEST_MISMATCH,
        Code.INVALID_NAME,
        Code.INVALID_FACT,
        Code.INVALID_TRACK,
        Code.QUOTA_EXCEEDED,
        Code.ENGINE_UNAVAILABLE,
    ),
    "teams": (
        Code.NOT_A_MEMBER,
        Code.NOT_AN_OWNER,
        Code.NOT_INVITED,
        Code.LAST_OWNER,
        Code.INVITATION_GONE,
        Code.ALREADY_EXISTS,
        Code.LIMIT_REACHED,
        Code.NAME_TAKEN,
        Code.INVALID_NAME,
        Code.INVALID_VALUE,
    ),
    "organisers": (
        Code.NOT_AN_ORGANISER,
        Code.WRONG_OFFSET,
        Code.UPLOAD_INCOMPLETE,
        Code.LIMIT_REACHED,
        Code.INVALID_REFERENCE,
        Code.INVALID_REASON,
        Code.INVALID_DIGEST,
        Code.DIGEST_MISMATCH,
        Code.EMPTY_FILE,
        Code.INVALID_VALUE,
    ),
}
SAMPLES = {
    "Tus-Resumable": "1.0.0",
    "Upload-Length": 48000,
    "Upload-Offset": 0,
    "slug": "mirror-claims",
    "benchmark": "mirror-claims",
    "phase": "test",
    "split": "test",
    "task": "fact-verification",
    "title": "Mirror Claims",
    "system": "Pair features",
    "team": "Ada's group",
    "username": "ada",
    "measure": "accuracy",
    "primary": "accuracy",
    "licence": "CC0-1.0",
    "token": "0123abcd...",
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "reference": "ghcr.io/lab/system@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "bytes": 48000,
    "offset": 0,
    "state": "done",
    "is_over": True,
    "revealed": "scores",
    "answer": "accept",
}
"""Values of examples by the name of the field; other fields get a value of their type."""
STRINGS = {
    "uuid": "5f0c9d3e-7a41-4b8e-9d27-3c1f5a6b7e80",
    "date-time": "2026-01-31T12:00:00Z",
    "date": "2026-01-31",
    "email": "ada@lab.example",
}
MAX_DEPTH = 8
"""Depth of objects in examples; deeper ones are left empty, so that a recursive schema ends."""
_markdown = MarkdownIt("commonmark", {"html": False})


@dataclass(frozen=True)
class Field:
    """A parameter of a call, or a field of an object. text: its description as HTML. note: such as "required".

    link: name of the schema's object that is the type, or of which the type is a list; empty if there is none.
    """

    name: str
    type: str
    link: str
    note: str
    text: SafeString


@dataclass(frozen=True)
class Call:
    """One HTTP method at one path, as the reference describes it.

    results: (HTTP status, type of the content, True if the type is the name of an object of the schema) of each
    successful response. errors: (HTTP status, its name, error codes) of each failed one. example: of a result, as JSON.
    """

    id: str
    method: str
    path: str
    title: str
    text: SafeString
    access: str
    parameters: Sequence[Field]
    body: Sequence[Field]
    body_type: str
    results: Sequence[tuple[str, str, bool]]
    errors: Sequence[tuple[int, str, Sequence[str]]]
    curl: str
    python: str
    example: str

    @property
    def breakable_path(self) -> SafeString:
        """The path with optional line breaks after its slashes."""
        return format_html_join(SafeString("/<wbr>"), "{}", ((part,) for part in self.path.split("/")))


@dataclass(frozen=True)
class Object:
    name: str
    text: SafeString
    fields: Sequence[Field]
    values: Sequence[str]

    @property
    def title(self) -> str:
        return _title(self.name)


@dataclass(frozen=True)
class Group:
    """A page of the reference: calls, and the objects of the schema that these take or return."""

    name: str
    title: str
    calls: Sequence[Call]
    objects: Sequence[Object]


@require_safe
@conditional_page
def reference(request: HttpRequest, name: str = "") -> HttpResponseBase:
    """Show the API calls of the group `name`, one of GROUPS; if `name` is empty, a list of all calls."""
    groups = call_groups()
    if name and name not in groups:
        raise Http404("no such page")
    context = {"groups": groups.values(), "group": groups.get(name), "site": site()}
    if name:
        context["content"] = _content(name)
    return render(request, "core/api_reference.html", context)


@lru_cache
def _content(name: str) -> SafeString:
    return render_to_string("core/api_reference_group.html", {"group": call_groups()[name]})


@lru_cache
def schema() -> Json:
    """Return the OpenAPI schema of all API calls, including those that need special rights, as JSON values."""
    return dict(json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True), default=str)))


def site() -> str:
    return str(settings.BASE_URL).rstrip("/")


@lru_cache
def call_groups() -> Mapping[str, Group]:
    calls: dict[str, list[Call]] = {name: [] for name in GROUPS}
    used: dict[str, dict[str, None]] = {name: {} for name in GROUPS}
    for path, methods in schema()["paths"].items():
        group = next(name for name, (_, pattern) in GROUPS.items() if re.search(pattern, path))
        for method, operation in methods.items():
            if not operation.get("deprecated"):
                calls[group].append(_call(path, method.upper(), operation, group))
                _collect(operation, used[group])
    return {
        name: Group(name, title, calls[name], [_object(used_name) for used_name in sorted(used[name])])
        for name, (title, _) in GROUPS.items()
        if calls[name]
    }


def _collect(part: Any, names: dict[str, None]) -> None:
    """Add the names of all objects to which a part of the OpenAPI schema refers, also through other objects.

    names: the keys are the names, in the order in which they were found; the values are None.
    """
    if isinstance(part, dict):
        if "$ref" in part and (name := _name(part)) not in (*names, BLANK):
            names[name] = None
            _collect(schema()["components"]["schemas"][name], names)
        if not part.get("deprecated"):
            for value in part.values():
                _collect(value, names)
    elif isinstance(part, list):
        for value in part:
            _collect(value, names)


def _object(name: str) -> Object:
    part = schema()["components"]["schemas"][name]
    values = [str(value) for value in part.get("enum", ()) if value != ""]
    return Object(name, _text(part.get("description", "")), _fields(part), values)


def _call(path: str, method: str, operation: Json, group: str) -> Call:
    text = str(operation.get("description") or operation["operationId"])
    title = TITLE.match(text)[0].strip().replace("`", "")  # type: ignore[index]  # it matches any text
    body = operation.get("requestBody", {}).get("content", {})
    security = operation.get("security")
    successes = {status: answer for status, answer in operation["responses"].items() if status < "400"}
    results = [(status, *_answer_type(answer)) for status, answer in successes.items()]
    returned = next((_json_schema(answer) for answer in successes.values() if _json_schema(answer)), None)
    parameters = [part for part in operation.get("parameters", ()) if not part.get("deprecated")]
    parameters.sort(key=lambda part: (part["in"] != "path", not part.get("required")))
    body_type = _preferred(body)
    return Call(
        id=operation["operationId"],
        method=method,
        path=path,
        title=title,
        text=_text(text.removeprefix(f"{title}.").strip()),
        access="no token needed" if security is None else "token optional" if {} in security else "token needed",
        parameters=[
            _field(
                part["name"],
                part["schema"],
                part.get("description", ""),
                note="in the path" if part["in"] == "path" else "required" if part.get("required") else "",
            )
            for part in parameters
        ],
        body=_body_fields(body[body_type]["schema"]) if body_type in STRUCTURED else [],
        body_type=body_type,
        results=results,
        errors=list(_errors(operation, group)),
        curl=_curl(path, method, operation, body_type),
        python=_python(path, method, operation, body_type),
        example=json.dumps(sample(returned), indent=2, ensure_ascii=False) if returned else "",
    )


STRUCTURED = ("application/json", "multipart/form-data")


def _preferred(content: Json) -> str:
    """Return the media type of the request body in a call's examples; empty if the call takes no body.

    content: media type -> schema of the body.
    """
    return next((name for name in (*STRUCTURED, *content) if name in content), "")


def _answer_type(answer: Json) -> tuple[str, bool]:
    """Return (type of a response's content, True if the type is the name of an object of the schema).

    answer: a response in the OpenAPI schema. The type is a media type if the content is not JSON, and "no content" if
    there is none.
    """
    content = answer.get("content", {})
    part = _json_schema(answer)
    if part is None:
        return next(iter(content), "no content"), False
    field = _field("", part, "")
    return (field.link, True) if field.link and "list" not in field.type else (field.type, False)


def _json_schema(answer: Json) -> Json | None:
    part: Json | None = answer.get("content", {}).get("application/json", {}).get("schema")
    return part


def _errors(operation: Json, group: str) -> Iterator[tuple[int, str, Sequence[str]]]:
    for text in operation["responses"]:
        status = int(text)
        if status < 400 or status == HTTPStatus.METHOD_NOT_ALLOWED:
            continue
        own = [code.text for code in GROUP_CODES.get(group, ()) if code.status == status]
        codes = dict.fromkeys([*own, *COMMON_CODES.get(status, ())])
        yield status, problem_details.title(status), list(codes)


def _resolved(part: Json) -> Json:
    """Return the object to which a part of the OpenAPI schema refers by $ref; without a $ref, the part itself."""
    for choice in (part, *part.get("allOf", ()), *part.get("oneOf", ())):
        if "$ref" in choice:
            return dict(schema()["components"]["schemas"][_name(choice)])
    return part


def _name(part: Json) -> str:
    return str(part["$ref"]).rpartition("/")[2]


def _title(name: str) -> str:
    """Return the name of an object without the suffix that the generator appends to enumerations."""
    return name.removesuffix("Enum")


def _fields(part: Json) -> list[Field]:
    whole = _resolved(part)
    required = whole.get("required", ())
    return [
        _field(name, field, field.get("description", ""), note="required" if name in required else "")
        for name, field in whole.get("properties", {}).items()
        if not field.get("deprecated")
    ]


def _body_fields(part: Json) -> list[Field]:
    # The generator describes an uploaded file by the type of its address.
    return [replace(field, type="file") if field.type == "uri" else field for field in _fields(part)]


def _field(name: str, part: Json, text: str, *, note: str = "") -> Field:
    inner = part.get("items", part) if part.get("type") == "array" else part
    choices = (inner, *inner.get("allOf", ()), *inner.get("oneOf", ()))
    references = [_name(choice) for choice in choices if "$ref" in choice]
    reference = next((name for name in references if name != BLANK), "")
    kind = _title(reference) or (
        inner.get("type") if inner.get("type") in ("number", "object") else inner.get("format")
    )
    kind = kind or inner.get("type") or "any value"
    notes = [note] if note else []
    notes += ["or null"] if part.get("nullable") else []
    notes += ["or empty"] if BLANK in references else []
    notes += [f"one of {', '.join(str(value) for value in inner['enum'] if value != '')}"] if "enum" in inner else []
    notes += [f"default {part['default']}"] if part.get("default") not in (None, "") else []
    return Field(
        name=name,
        type=f"list of {kind}" if inner is not part else kind,
        link=reference,
        note=", ".join(notes),
        text=mark_safe(_markdown.renderInline(ENUMERATION.sub("", text))),  # noqa: S308  HTML in it is escaped
    )


def _text(text: str) -> SafeString:
    return mark_safe(_markdown.render(ENUMERATION.sub("", text)))  # noqa: S308  HTML in it is escaped


def sample(part: Json, name: str = "", depth: int = 0) -> Any:
    """Return an invented value of the type that a part of the OpenAPI schema describes.

    name: of the field that has the value; some names have a value in SAMPLES. depth: number of objects and arrays
    around the value; from MAX_DEPTH on, objects and arrays are empty.
    """
    whole = _resolved(part)
    if "enum" in whole:
        return SAMPLES[name] if SAMPLES.get(name) in whole["enum"] else next(value for value in whole["enum"] if value)
    kind = whole.get("type")
    if kind == "object":
        if depth >= MAX_DEPTH:
            return {}
        return {
            key: sample(field, key, depth + 1)
            for key, field in whole.get("properties", {}).items()
            if not field.get("deprecated")
        }
    if kind == "array":
        return [sample(whole["items"], name.removesuffix("s"), depth + 1)] if depth < MAX_DEPTH else []
    if kind in ("integer", "number", "boolean"):
        value = SAMPLES.get(name)
        return value if isinstance(value, int) else {"integer": 1, "number": 0.75, "boolean": False}[kind]
    if kind == "string":
        if whole.get("format") == "uri":
            return f"{site()}/..."
        return STRINGS.get(whole.get("format", "")) or str(SAMPLES.get(name, "..."))
    return "..." if kind is None else None


def _sample_body(operation: Json, body_type: str) -> dict[str, Any]:
    """Return the required fields of a call's request body: name -> sample value."""
    part = _resolved(operation["requestBody"]["content"][body_type]["schema"])
    return {name: sample(part["properties"][name], name) for name in part.get("required", ())}


def _query(operation: Json) -> dict[str, Any]:
    """Return the required query parameters of a call: name -> sample value."""
    return {
        part["name"]: sample(part["schema"], part["name"])
        for part in operation.get("parameters", ())
        if part["in"] == "query" and part.get("required")
    }


def _headers(operation: Json) -> dict[str, str]:
    """Return the required headers of a call, without Authorization and Content-Type: name -> sample value."""
    return {
        part["name"]: str(sample(part["schema"], part["name"]))
        for part in operation.get("parameters", ())
        if part["in"] == "header" and part.get("required")
    }


def _example_path(path: str) -> str:
    """Return a path of the schema with its parameters as words in capitals: SLUG for `{slug}`."""
    return re.sub(r"\{(\w+)\}", lambda match: match[1].upper(), path)


def _needs_token(operation: Json) -> bool:
    return operation.get("security") is not None and {} not in operation["security"]


def _curl(path: str, method: str, operation: Json, body_type: str) -> str:
    query = "&".join(f"{name}={value}" for name, value in _query(operation).items())
    parts = [f'curl "{site()}{_example_path(path)}{"?" + query if query else ""}"']
    if _needs_token(operation):
        parts.append('-H "Authorization: Token $HOLDOUT_TOKEN"')
    if method in ("DELETE", "PATCH") or (method == "POST" and not body_type):
        parts.append(f"-X {method}")
    parts += [f'-H "{name}: {value}"' for name, value in _headers(operation).items()]
    if body_type == "application/json":
        body = json.dumps(_sample_body(operation, body_type), ensure_ascii=False).replace("'", "'\\''")
        parts.append(f"-H 'Content-Type: application/json' -d '{body}'")
    elif body_type == "multipart/form-data":
        parts += [
            f"-F {name}=@predictions.jsonl" if value is None or name == "file" else f'-F {name}="{value}"'
            for name, value in _sample_body(operation, body_type).items()
        ]
    elif body_type:
        parts.append(f"-H 'Content-Type: {body_type}' --data-binary @chunk")
    if _is_download(operation):
        parts.append("-O")
    return " \\\n  ".join(parts)


def _python(path: str, method: str, operation: Json, body_type: str) -> str:
    imports, arguments = ["import requests"], [f'"{site()}{_example_path(path)}"']
    headers = [f'"{name}": "{value}"' for name, value in _headers(operation).items()]
    if _needs_token(operation):
        imports.insert(0, "import os\n")
        headers.insert(0, '"Authorization": f"Token {os.environ[\'HOLDOUT_TOKEN\']}"')
    if headers and body_type and body_type not in STRUCTURED:
        headers.append(f'"Content-Type": "{body_type}"')
    if headers:
        arguments.append(f"headers={{{', '.join(headers)}}}")
    if query := _query(operation):
        arguments.append(f"params={query!r}")
    if body_type == "application/json":
        arguments.append(f"json={_sample_body(operation, body_type)!r}")
    elif body_type == "multipart/form-data":
        body = _sample_body(operation, body_type)
        body.pop("file", None)
        arguments += ['files={"file": open("predictions.jsonl", "rb")}', f"data={body!r}"]
    elif body_type:
        arguments.append('data=open("chunk", "rb")')
    arguments.append("timeout=60")
    lines = [*imports, "", f"response = requests.{method.lower()}("]
    lines += [f"    {argument}," for argument in arguments]
    lines += [")", "response.raise_for_status()"]
    if _is_download(operation):
        lines.append(f'open("{path.rstrip("/").rpartition("/")[2].strip("{}")}", "wb").write(response.content)')
    elif any(_json_schema(answer) for status, answer in operation["responses"].items() if status < "300"):
        lines.append("print(response.json())")
    return "\n".join(lines)


def _is_download(operation: Json) -> bool:
    content = operation["responses"].get("200", {}).get("content", {})
    return bool(content) and "application/json" not in content
