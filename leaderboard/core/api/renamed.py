"""Names in the API that this release has changed, so that clients of the previous release still work.

Responses have a renamed field under both names, a renamed address is served under both names, and errors with a renamed
code have the former code in `code` and the new code in `new_code`. The OpenAPI schema marks former names as deprecated,
and docs/api.md lists them. The next release drops the former names: FIELDS, CODES and ADDRESSES will then be empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.urls import URLPattern, path, reverse
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from leaderboard.core.api.base import View

FIELDS: dict[str, dict[str, str]] = {
    "ComparisonSerializer": {"n_permutations": "draws"},
    "GridSerializer": {"n_bins": "parts"},
    "PageOfPlots": {"is_revealed": "told"},
    "PhaseSerializer": {"gold_subset": "half"},
    "RawUploadSerializer": {"chunks": "pieces", "chunk_bytes": "piece_bytes"},
    "SubmissionSerializer": {"queue_position": "place_in_queue"},
    "SystemPlotsSerializer": {"has_plots": "drawn"},
    "ImageUploadSerializer": {"chunks": "pieces", "chunk_bytes": "piece_bytes"},
}
"""Renamed fields: serializer -> {present name: former name}. These serializers have the base class RenamedFields."""

CODES = {"engine_unavailable": "engine_away", "sandbox_unavailable": "referee_away"}
"""Renamed error codes: present code -> former code."""


class Address(NamedTuple):
    """A renamed API address: the ends of its URL under the present and the former name.

    operation: the (present, former) part of the OpenAPI operation ids, which differ only in it.
    """

    present: str
    former: str
    operation: tuple[str, str]


ADDRESSES = (
    Address("/leaderboard/plots/", "/leaderboard/drawings/", ("_plots", "_drawings")),
    Address("/chunks/", "/pieces/", ("_chunk", "_piece")),
)


DEPRECATED_AT = datetime(2026, 11, 23, tzinfo=UTC)
"""When the tus protocol replaced the former one."""


class FormerProtocolView(View):
    """Base class of the views of the former upload protocol, which `tus.py` replaces. The next release drops them."""

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add the header Deprecation (RFC 9745) and a link to the documentation."""
        response = super().finalize_response(request, response, *args, **kwargs)
        response["Deprecation"] = f"@{int(DEPRECATED_AT.timestamp())}"
        response["Link"] = f'<{reverse("docs_page", args=["api"])}>; rel="deprecation"; type="text/html"'
        return response


class RenamedFields(serializers.Serializer[Any]):
    """Base class of serializers with renamed fields. Views pass the present names; responses have both names."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        extend_schema_serializer(deprecate_fields=list(FIELDS[cls.__name__].values()))(cls)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        fields: dict[str, serializers.Field[Any, Any, Any, Any]] = {}
        former_names = FIELDS[type(self).__name__]
        for name, field in super().get_fields().items():
            if name in former_names:
                former = deepcopy(field)
                former.source, former.help_text = name, f"deprecated: the former name of `{name}`"
                fields[former_names[name]] = former
            fields[name] = field
        return fields


def code_fields(code: str) -> dict[str, str]:
    """Return the fields of an error response that hold its error code. code: the code under its current name.

    The only field is `code`, unless the code was renamed: then `code` has its former name, and `new_code` the current.
    """
    return {"code": CODES[code], "new_code": code} if code in CODES else {"code": code}


def former_routes(patterns: Iterable[URLPattern]) -> Iterator[URLPattern]:
    """Yield URL patterns that serve the views of `patterns` at their former addresses, without a redirect."""
    for pattern in patterns:
        route = str(pattern.pattern)
        for address in ADDRESSES:
            if route.endswith(address.present):
                callback: Any = pattern.callback
                former = route.removesuffix(address.present) + address.former
                # The schema has these as deprecated copies, see `deprecate_addresses`.
                yield path(former, callback.cls.as_view(schema=None), name=f"former_{pattern.name}")


def deprecate_addresses(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the former addresses to an OpenAPI schema, as deprecated copies of the present ones; return the schema.

    This is a postprocessing hook of drf-spectacular.
    """
    paths = result["paths"]
    for present, operations in list(paths.items()):
        for address in ADDRESSES:
            if present.endswith(address.present):
                former = present.removesuffix(address.present) + address.former
                paths[former] = {method: _deprecated(one, present, address) for method, one in operations.items()}
    return result


def _deprecated(operation: dict[str, Any], present: str, address: Address) -> dict[str, Any]:
    return {
        **deepcopy(operation),
        "operationId": operation["operationId"].replace(*address.operation),
        "deprecated": True,
        "description": f"Deprecated: the former address of {present}.",
    }
