"""Checks of an archive's rows, one by one: an archive may come from anybody, so each must pass what the forms check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from django.core.exceptions import ValidationError
from django.db.models import Field, Model, UUIDField
from django.utils import timezone

from leaderboard.archives.actions import json_values
from leaderboard.archives.actions.errors import ArchiveError
from leaderboard.archives.actions.rows import OF_A_PERSON
from leaderboard.boards.queries import facts, tracks
from leaderboard.core import time_zones, validation
from leaderboard.core.names import names
from leaderboard.core.refusal import Refused
from leaderboard.core.text import mail_text
from leaderboard.evaluation.container_limits import with_changes
from leaderboard.models import (
    Benchmark,
    ChangedItem,
    Correction,
    Extension,
    Phase,
    Prediction,
    RawFile,
    ReleaseSlice,
    ReportedResult,
    Run,
    Score,
    Submission,
    System,
    Team,
    User,
    reported_numbers,
)

Values = dict[str, Any]
"""Field name -> value of a row: a Python value of the field's type, but for a relation the key in the archive."""

AS_SENT: dict[type[Model], frozenset[str]] = {
    System: frozenset({"description", "bibtex"}),
    Submission: frozenset({"note"}),
    Prediction: frozenset({"name", "log"}),
    Correction: frozenset({"name"}),
    RawFile: frozenset({"name"}),
    ChangedItem: frozenset({"item"}),
    Run: frozenset({"detail"}),
    Score: frozenset({"slice_key"}),
    ReleaseSlice: frozenset({"slice_key", "dimensions"}),
}
"""Model -> fields that store what somebody sent, or what data contain, as it is. Pages make it harmless."""

MAY_BE_LATER: dict[type[Model], frozenset[str]] = {
    Phase: frozenset({"opens_at", "closes_at", "sealed_until"}),
    Extension: frozenset({"before", "closes_at"}),
    Correction: frozenset({"expires_at"}),
    System: frozenset({"anonymous_until"}),
}
"""Model -> fields with times that may lie in the future. In all others they say what has happened."""
ANY_MODEL_MAY_BE_LATER = frozenset({"lease_until"})
CLOCKS = timedelta(minutes=5)
"""By how much the clock of the server that wrote the archive may be ahead of this server's."""

_KINDS: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
_JSON_TYPES: dict[str, type] = {
    "BooleanField": bool,
    "FloatField": float,
    **dict.fromkeys(
        (
            "IntegerField",
            "PositiveIntegerField",
            "PositiveSmallIntegerField",
            "PositiveBigIntegerField",
            "BigIntegerField",
            "SmallIntegerField",
        ),
        int,
    ),
}
"""Internal type of a field -> type of its values in JSON; str for all others but JSONField."""


class Place(NamedTuple):
    """A line of an archived table, for messages."""

    table: str
    line: int

    def __str__(self) -> str:
        return f"tables/{self.table}.jsonl, line {self.line}"


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    model: str
    pk: Any
    fields: dict[str, Any]


_decode = msgspec.json.Decoder(_Row).decode


def parse(model: type[Model], line: bytes, place: Place) -> tuple[int, Values]:
    """Return the key (`key_number`) and the values of an archived row. Raises ArchiveError if any is not valid.

    The row must be of the model, have exactly the fields that an export writes, and each value the field's type.
    """
    try:
        row = _decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ArchiveError(f"{place}: this is not a row in JSON: {error}") from error
    label = model._meta.label_lower
    if row.model != label:
        raise ArchiveError(f"{place}: the row is of the model {row.model!r}; expected {label!r}")
    fields = _fields(model)
    if row.fields.keys() != fields.keys():
        unknown, missing = sorted(row.fields.keys() - fields.keys()), sorted(fields.keys() - row.fields.keys())
        problem = f"has the unknown fields {', '.join(unknown)}" if unknown else f"lacks {', '.join(missing)}"
        raise ArchiveError(f"{place}: the row {problem}; expected only {', '.join(fields)}")
    key = key_number(model, row.pk)
    if key is None:
        raise ArchiveError(f"{place}: the key {shown(row.pk)} is not valid; expected {_kind_of_key(model)}")
    now = timezone.now() + CLOCKS
    values = {name: _value(model, field, row.fields[name], place, now) for name, field in fields.items()}
    _check_form(model, values, place)
    return key, values


def key_number(model: type[Model], key: Any) -> int | None:
    """Return an archived key as a number, by which keys of a model are ordered; None if it is no key of the model.

    A key is a whole number from 1, or a UUID as text.
    """
    if isinstance(model._meta.pk, UUIDField):
        try:
            number = UUID(key).int if type(key) is str else None
        except ValueError:
            return None
        return number if number is not None and str(UUID(int=number)) == key else None
    return key if type(key) is int and 1 <= key < 1 << 63 else None


def m2m_fields(model: type[Model]) -> list[Any]:
    """Return the many-to-many fields that an export writes with the row."""
    if model is User:
        return []
    fields: list[Any] = list(model._meta.many_to_many)
    return [field for field in fields if field.serialize and field.remote_field.through._meta.auto_created]


@cache
def _fields(model: type[Model]) -> dict[str, Any]:
    """Return the fields that an export writes for a model, by name."""
    if model is User:
        return {name: User._meta.get_field(name) for name in OF_A_PERSON}
    local: list[Any] = list(model._meta.local_fields)
    concrete = {field.name: field for field in local if field.serialize}
    return concrete | {field.name: field for field in m2m_fields(model)}


def _value(model: type[Model], field: Any, value: Any, place: Place, latest: datetime) -> Any:
    if field.many_to_many:
        if type(value) is not list or any(key_number(field.related_model, key) is None for key in value):
            raise ArchiveError(f"{place}: {field.name} is {shown(value)}; expected a list of keys")
        return value
    if value is None:
        if not field.null:
            raise ArchiveError(f"{place}: {field.name} is null; expected a value")
        return None
    if field.is_relation:
        if key_number(field.related_model, value) is None:
            expected = _kind_of_key(field.related_model)
            raise ArchiveError(f"{place}: {field.name} is {shown(value)}; expected {expected}")
        return value
    kind = field.get_internal_type()
    if kind == "JSONField":
        if field.default in (dict, list) and type(value) is not field.default:
            expected = "an object" if field.default is dict else "a list"
            raise ArchiveError(f"{place}: {field.name} is {shown(value)}; expected {expected}")
        try:
            json_values.check(model, field.name, value)
        except ValueError as error:
            raise ArchiveError(f"{place}: {field.name} is {shown(value)}: {error}") from error
        return value
    expected_type = _JSON_TYPES.get(kind, str)
    if type(value) is not expected_type:
        raise ArchiveError(f"{place}: {field.name} is {shown(value)}; expected {_KINDS[expected_type]}")
    try:
        return _converted(model, field, value, latest)
    except (ValidationError, Refused, ValueError, InvalidOperation) as error:
        text = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
        raise ArchiveError(f"{place}: {field.name} is {shown(value)}: {text}") from error


def _converted(model: type[Model], field: Field[Any, Any], value: Any, latest: datetime) -> Any:
    """Return a value as the field's Python type. Raises ValidationError, Refused or ValueError if it is not valid."""
    kind = field.get_internal_type()
    if kind == "DateTimeField":
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError("it has no time zone")
        time_zones.check(moment)
        is_past = moment <= latest or field.name in MAY_BE_LATER.get(model, ()) or field.name in ANY_MODEL_MAY_BE_LATER
        if not is_past:
            raise ValueError("expected a time that has passed")
        return moment
    if kind == "DecimalField":
        value = Decimal(value)
    try:
        converted = field.clean(value, None)
    except ValidationError as error:
        if {item.code for item in error.error_list} != {"blank"}:
            raise
        return value  # many a row has an empty text in a field that only its form requires
    if isinstance(converted, str):
        if "\0" in converted:
            raise ValueError("it contains the character U+0000")
        if field.name not in AS_SENT.get(model, ()):
            names.check_signs(converted, of=field.name, lines=True)
    return converted


def _user(values: Values) -> None:
    names.checked(values["username"], of="user", longest=150)
    mail_text.check_address(values["email"])


def _team(values: Values) -> None:
    _check_name(values["name"], of="team", longest=100)
    _check_former(values, of="team", longest=100)


def _system(values: Values) -> None:
    _check_name(values["name"], of="system", longest=200)
    _check_former(values, of="system", longest=200)
    if any(type(stated) not in (str, int, float, bool) for stated in values["facts"].values()):
        raise ValueError("facts are not texts, numbers, or true or false")


def _check_former(values: Values, **limits: Any) -> None:
    for former in values["former_names"]:
        if former.keys() != {"name", "until"}:
            raise ValueError("former_names are not objects with name and until")
        names.checked(former["name"], **limits)
        date.fromisoformat(former["until"])


def _check_name(name: str, **limits: Any) -> None:
    if names.checked(name, **limits) != name:
        raise ValueError(f"the name {name!r} has superfluous spaces")


def _benchmark(values: Values) -> None:
    facts.validated(values["facts"])
    validation.check_task(values["task"])


def _phase(values: Values) -> None:
    with_changes(values["limits"])
    tracks.validated(values["tracks"])
    if values["time_zone"] not in time_zones.names():
        raise ValueError(f"the time zone {values['time_zone']!r} is not known")


def _reported(values: Values) -> None:
    reported_numbers.check(values["values"], task=None)


FORMS: Mapping[type[Model], Callable[[Values], None]] = {
    User: _user,
    Team: _team,
    System: _system,
    Benchmark: _benchmark,
    Phase: _phase,
    ReportedResult: _reported,
}
"""Model -> function that raises an exception for values that the model's forms refuse, and its fields allow."""


def _check_form(model: type[Model], values: Values, place: Place) -> None:
    check = FORMS.get(model)
    if check is None:
        return
    try:
        check(values)
    except (Refused, ValidationError, ValueError) as error:
        raise ArchiveError(f"{place}: {error}") from error
    except (TypeError, KeyError, AttributeError) as error:  # values in JSON of another shape
        raise ArchiveError(f"{place}: a value in JSON does not have the expected form") from error


def _kind_of_key(model: type[Model]) -> str:
    return "a UUID" if isinstance(model._meta.pk, UUIDField) else "a whole number from 1"


def shown(value: Any) -> str:
    """Return a value of a row as JSON, shortened, for messages."""
    text = msgspec.json.encode(value).decode(errors="replace")
    return text if len(text) <= 60 else f"{text[:60]}..."
