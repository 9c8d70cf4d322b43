"""What a person typed into a row's fields, checked before it is stored."""

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
"""What forms call a field, where it is not its own name."""
_ONE_LINE = {"title", "summary", "contact", "licence", "source_url"}
LONGEST = 50_000
"""Characters of a text that a benchmark or a dataset tells of itself."""


def check(row: Model) -> None:
    """Raises Refused that names each field at fault: NAME_TAKEN where only a name is in the way, else INVALID_NAME."""
    try:
        row.full_clean()
    except ValidationError as error:
        faults = [(name, fault) for name, list_ in error.error_dict.items() for fault in list_]
        text = " ".join(_in_words(row, name, fault) for name, fault in faults)
        taken = all(fault.code in _TAKEN for _, fault in faults)
        raise Refused(Code.NAME_TAKEN if taken else Code.INVALID_NAME, text) from error


def check_texts(**given: str) -> None:
    """Raises Refused INVALID_NAME that names the first text of a page that is too long or holds signs of no text."""
    for name, text in given.items():
        what = name.replace("_", " ")
        check_signs(text, of=what, lines=name not in _ONE_LINE)
        if len(text) > LONGEST:
            raise Refused(Code.INVALID_NAME, f"The {what} has {len(text):,} characters; expected at most {LONGEST:,}.")


def check_moments(**given: datetime | None) -> None:
    """Raises Refused INVALID_NAME that names the first moment which is none that a person means."""
    for name, moment in given.items():
        try:
            if moment is not None:
                time_zones.check(moment)
        except ValueError as error:
            raise Refused(Code.INVALID_NAME, f"{_title(name)}{error}.") from error


def _in_words(row: Model, name: str, fault: ValidationError) -> str:
    told = _title(name) + " ".join(fault.messages)
    if fault.code not in _TAKEN:
        return told
    own = [one for one in (fault.params or {}).get("unique_check", ()) if not row._meta.get_field(one).is_relation]
    if len(own) != 1:
        return told
    what = _title(own[0]).removesuffix(": ")
    return f"A {row._meta.verbose_name} of the {what} {getattr(row, own[0])} already exists; expected another {what}."


def _title(name: str) -> str:
    return "" if name == "__all__" else f"{_CALLED.get(name, name.replace('_', ' '))}: "


def check_options(task: str, options: dict[str, str]) -> None:
    """Raises Refused for options that the task does not have, or values that they do not take."""
    try:
        TASKS[task].parse_options(options)
    except UsageError as error:
        raise Refused(Code.INVALID_NAME, f"The options do not fit: {error}.") from error


def check_task(name: str) -> None:
    """Raises Refused for a task that the referee does not know."""
    if name not in TASKS:
        raise Refused(Code.INVALID_NAME, f"The task is {name!r}; expected one of {', '.join(TASKS)}.")
