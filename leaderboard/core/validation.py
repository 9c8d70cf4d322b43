"""Validation of user input before it is stored."""

from __future__ import annotations

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db.models import Model

from evaluator.errors import UsageError
from evaluator.tasks.registry import TASKS
from leaderboard.core import time_zones
from leaderboard.core.names.names import check_signs
from leaderboard.core.refusal import Code, Refused

_TAKEN = {"unique", "unique_together"}
_CALLED = {"slug": "short name"}
"""Field -> label, for fields that forms show under another name."""
_ONE_LINE = {"title", "summary", "contact", "licence", "source_url", "questions_url", "paper_url", "main_phase"}
LONGEST = 50_000
"""Maximum number of characters of one text of a benchmark or dataset."""


def check(row: Model) -> None:
    """Validate a model instance with Django's `full_clean`.

    Raises Refused if it is invalid: NAME_TAKEN if every error is a violated unique constraint, else INVALID_VALUE.
    """
    try:
        row.full_clean()
    except ValidationError as error:
        errors = [(name, item) for name, list_ in error.error_dict.items() for item in list_]
        text = " ".join(_in_words(row, name, item) for name, item in errors)
        taken = all(item.code in _TAKEN for _, item in errors)
        fields = {field for name, item in errors for field in _own_fields(row, name, item)}
        field_name = fields.pop() if len(fields) == 1 else ""
        raise Refused(Code.NAME_TAKEN if taken else Code.INVALID_VALUE, text, field_name=field_name) from error


def check_texts(**texts: str) -> None:
    """Raise Refused INVALID_VALUE for the first text over LONGEST characters or with control characters.

    texts: field name -> text. Line ends and tabs are allowed, except in the fields _ONE_LINE, such as titles.
    """
    for name, text in texts.items():
        what = name.replace("_", " ")
        check_signs(text, of=what, lines=name not in _ONE_LINE)
        if len(text) > LONGEST:
            raise Refused(Code.INVALID_VALUE, f"The {what} has {len(text):,} characters; expected at most {LONGEST:,}.")


def check_moments(**moments: datetime | None) -> None:
    """Raise Refused INVALID_VALUE for the first datetime outside the range that `time_zones.check` allows.

    moments: field name -> datetime, or None for an empty field, which is allowed.
    """
    for name, moment in moments.items():
        try:
            if moment is not None:
                time_zones.check(moment)
        except ValueError as error:
            raise Refused(Code.INVALID_VALUE, f"{_title(name)}{error}.") from error


def _in_words(row: Model, name: str, error: ValidationError) -> str:
    message = _title(name) + " ".join(error.messages)
    if error.code not in _TAKEN:
        return message
    own = _own_fields(row, name, error)
    if len(own) != 1:
        return message
    what = _title(own[0]).removesuffix(": ")
    return f"A {row._meta.verbose_name} with the {what} {getattr(row, own[0])} already exists; expected another {what}."


def _own_fields(row: Model, name: str, error: ValidationError) -> list[str]:
    """Return the names of the fields that an error concerns, without foreign keys.

    A violated unique constraint concerns all its fields; any other error concerns the field `name`, or none if that is
    "__all__".
    """
    fields = (error.params or {}).get("unique_check", ()) if error.code in _TAKEN else (name,)
    return [field for field in fields if field != "__all__" and not row._meta.get_field(field).is_relation]


def _title(name: str) -> str:
    return "" if name == "__all__" else f"{_CALLED.get(name, name.replace('_', ' '))}: "


def check_options(task: str, options: dict[str, str]) -> None:
    """Raise Refused INVALID_VALUE for options that the task `task` does not have, and for invalid values of options."""
    try:
        TASKS[task].parse_options(options)
    except UsageError as error:
        raise Refused(Code.INVALID_VALUE, f"Invalid options: {error}.") from error


def check_task(name: str) -> None:
    """Raise Refused INVALID_VALUE unless `name` is the name of an installed task."""
    if name not in TASKS:
        raise Refused(Code.INVALID_VALUE, f"The task is {name!r}; expected one of {', '.join(TASKS)}.")
