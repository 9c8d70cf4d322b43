"""What readers of the OpenAPI schema get in addition: for each call its group, samples, an example and error codes.

The reference in the documentation and Swagger UI show them. Samples have invented values of the types that the schema
gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.conf import settings

from leaderboard.core.refusal import Code

Json = Mapping[str, Any]
GROUPS = {
    "Tokens": r"/auth/",
    "Benchmarks and tasks": r"/tasks/|/benchmarks/$|/benchmarks/{slug}/$|/inputs\.jsonl$|/croissant\.json$",
    "Submissions": r"(?<!{id})/submissions/|^/api/v1/submissions/",
    "Leaderboards": r"/leaderboard",
    "Container images": r"{phase}/image|^/api/v1/image-uploads/",
    "Teams and systems": r"/teams/|/invitations/|/systems/",
    "Hosting a benchmark": r"/raw-|/scorers/|/exact-scores",
    "Other": r"",
}
"""Titles of groups of calls, each with a pattern of paths. The first that matches counts."""
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
    "Submissions": (
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
    "Leaderboards": (Code.NOT_READY,),
    "Container images": (
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
    "Teams and systems": (
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
    "Hosting a benchmark": (
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
STRUCTURED = ("application/json", "multipart/form-data")


def add_samples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add to each operation of an OpenAPI schema its tag, x-codeSamples, an example and error codes; return the schema.

    This is a postprocessing hook of drf-spectacular.
    """
    document = Document(result)
    for path, operations in result["paths"].items():
        group = next(title for title, pattern in GROUPS.items() if re.search(pattern, path))
        for method, operation in operations.items():
            operation["tags"] = [group]
            operation["x-codeSamples"] = [
                {"lang": "Shell", "label": "curl", "source": document.curl(path, method.upper(), operation)},
                {"lang": "Python", "label": "Python", "source": document.python(path, method, operation)},
            ]
            for status, response in operation["responses"].items():
                content = response.get("content", {}).get("application/json")
                if int(status) < HTTPStatus.BAD_REQUEST and content:
                    content["example"] = document.sample(content["schema"])
                elif codes := _codes(int(status), group):
                    response["description"] = f"Codes: {', '.join(f'`{code}`' for code in codes)}"
    return result


def _codes(status: int, group: str) -> list[str]:
    own = [code.text for code in GROUP_CODES.get(group, ()) if code.status == status]
    return list(dict.fromkeys([*own, *COMMON_CODES.get(status, ())]))


@dataclass(frozen=True)
class Document:
    """An OpenAPI schema from which samples are made."""

    schema: Json

    def _resolved(self, part: Json) -> Json:
        """Return the object to which a part of the OpenAPI schema refers by $ref; without a $ref, the part itself."""
        for choice in (part, *part.get("allOf", ()), *part.get("oneOf", ())):
            if "$ref" in choice:
                return dict(self.schema["components"]["schemas"][_name(choice)])
        return part

    def sample(self, part: Json, name: str = "", depth: int = 0) -> Any:
        """Return an invented value of the type that a part of the OpenAPI schema describes.

        name: of the field that has the value; some names have a value in SAMPLES. depth: number of objects and arrays
        around the value; from MAX_DEPTH on, objects and arrays are empty.
        """
        whole = self._resolved(part)
        if "enum" in whole:
            return (
                SAMPLES[name] if SAMPLES.get(name) in whole["enum"] else next(value for value in whole["enum"] if value)
            )
        kind = whole.get("type")
        if kind == "object":
            if depth >= MAX_DEPTH:
                return {}
            return {
                key: self.sample(field, key, depth + 1)
                for key, field in whole.get("properties", {}).items()
                if not field.get("deprecated")
            }
        if kind == "array":
            return [self.sample(whole["items"], name.removesuffix("s"), depth + 1)] if depth < MAX_DEPTH else []
        if kind in ("integer", "number", "boolean"):
            value = SAMPLES.get(name)
            return value if isinstance(value, int) else {"integer": 1, "number": 0.75, "boolean": False}[kind]
        if kind == "string":
            if whole.get("format") == "uri":
                return f"{_site()}/..."
            return STRINGS.get(whole.get("format", "")) or str(SAMPLES.get(name, "..."))
        return "..." if kind is None else None

    def _sample_body(self, operation: Json, body_type: str) -> dict[str, Any]:
        """Return the required fields of a call's request body: name -> sample value."""
        part = self._resolved(operation["requestBody"]["content"][body_type]["schema"])
        return {name: self.sample(part["properties"][name], name) for name in part.get("required", ())}

    def _query(self, operation: Json) -> dict[str, Any]:
        """Return the required query parameters of a call: name -> sample value."""
        return {
            part["name"]: self.sample(part["schema"], part["name"])
            for part in operation.get("parameters", ())
            if part["in"] == "query" and part.get("required")
        }

    def _headers(self, operation: Json) -> dict[str, str]:
        """Return the required headers of a call, without Authorization and Content-Type: name -> sample value."""
        return {
            part["name"]: str(self.sample(part["schema"], part["name"]))
            for part in operation.get("parameters", ())
            if part["in"] == "header" and part.get("required")
        }

    def curl(self, path: str, method: str, operation: Json) -> str:
        media = body_type(operation)
        query = "&".join(f"{name}={value}" for name, value in self._query(operation).items())
        parts = [f'curl "{_site()}{_example_path(path)}{"?" + query if query else ""}"']
        if _needs_token(operation):
            parts.append('-H "Authorization: Token $HOLDOUT_TOKEN"')
        if method in ("DELETE", "PATCH") or (method == "POST" and not media):
            parts.append(f"-X {method}")
        parts += [f'-H "{name}: {value}"' for name, value in self._headers(operation).items()]
        if media == "application/json":
            body = json.dumps(self._sample_body(operation, media), ensure_ascii=False).replace("'", "'\\''")
            parts.append(f"-H 'Content-Type: application/json' -d '{body}'")
        elif media == "multipart/form-data":
            parts += [
                f"-F {name}=@predictions.jsonl" if value is None or name == "file" else f'-F {name}="{value}"'
                for name, value in self._sample_body(operation, media).items()
            ]
        elif media:
            parts.append(f"-H 'Content-Type: {media}' --data-binary @chunk")
        if _is_download(operation):
            parts.append("-O")
        return " \\\n  ".join(parts)

    def python(self, path: str, method: str, operation: Json) -> str:
        media = body_type(operation)
        imports, arguments = ["import requests"], [f'"{_site()}{_example_path(path)}"']
        headers = [f'"{name}": "{value}"' for name, value in self._headers(operation).items()]
        if _needs_token(operation):
            imports.insert(0, "import os\n")
            headers.insert(0, '"Authorization": f"Token {os.environ[\'HOLDOUT_TOKEN\']}"')
        if headers and media and media not in STRUCTURED:
            headers.append(f'"Content-Type": "{media}"')
        if headers:
            arguments.append(f"headers={{{', '.join(headers)}}}")
        if query := self._query(operation):
            arguments.append(f"params={query!r}")
        if media == "application/json":
            arguments.append(f"json={self._sample_body(operation, media)!r}")
        elif media == "multipart/form-data":
            body = self._sample_body(operation, media)
            body.pop("file", None)
            arguments += ['files={"file": open("predictions.jsonl", "rb")}', f"data={body!r}"]
        elif media:
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


def _name(part: Json) -> str:
    return str(part["$ref"]).rpartition("/")[2]


def body_type(operation: Json) -> str:
    """Return the media type of the request body in a call's samples; empty if the call takes no body."""
    content = operation.get("requestBody", {}).get("content", {})
    return next((name for name in (*STRUCTURED, *content) if name in content), "")


def _json_schema(answer: Json) -> Json | None:
    part: Json | None = answer.get("content", {}).get("application/json", {}).get("schema")
    return part


def _example_path(path: str) -> str:
    """Return a path of the schema with its parameters as words in capitals: SLUG for `{slug}`."""
    return re.sub(r"\{(\w+)\}", lambda match: match[1].upper(), path)


def _needs_token(operation: Json) -> bool:
    return operation.get("security") is not None and {} not in operation["security"]


def _is_download(operation: Json) -> bool:
    content = operation["responses"].get("200", {}).get("content", {})
    return bool(content) and "application/json" not in content


def _site() -> str:
    return str(settings.BASE_URL).rstrip("/")
