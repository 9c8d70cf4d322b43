"""Comparison of an archive's rows with this server's: which exist already, and which conflict with another row.

A row conflicts if it is new but has a name, number or mail address that must be unique and that another row has.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import Model

from leaderboard.archives.actions import people, tables
from leaderboard.archives.actions.rows import Line, Renumbered
from leaderboard.models import AuditEntry, Benchmark, Dataset, Image, Membership, System, Team, User

ExistingRows = dict[Any, Any]
"""Primary key in the archive -> primary key on this server."""

ExistingKeys = dict[type[Model], set[Any]]
"""Model -> primary keys, in the archive, of the rows that exist on this server already."""


def existing_rows(model: type[Model], lines: list[Line], numbers: Renumbered) -> ExistingRows:
    """Return the archived rows of a model that this server has already: {archived primary key: primary key here}.

    lines: archived rows of the model. numbers: {model: {archived primary key: primary key here}} of the other models,
    as far as known.
    """
    find = SAME.get(model)
    if find is None:
        return {}
    rows = ((line["pk"], find(line["fields"], numbers)) for line in lines)
    return {key: row.pk for key, row in rows if row is not None}


def conflicts(model: type[Model], lines: list[Line], numbers: Renumbered) -> list[str]:
    """Return a line of text, for the curator, for each archived row of a model that conflicts with another row here.

    lines, numbers: as for `existing_rows`.
    """
    describe = CONFLICTS.get(model)
    if describe is None:
        return []
    return [text for line in lines if (text := describe(line["fields"], numbers))]


def rows_to_insert(model: type[Model], lines: list[Line], existing: ExistingKeys, decided_in: set[str]) -> list[Line]:
    """Return the lines of the rows that are to be inserted: those that do not exist on this server, with exceptions.

    A membership is left out if its team exists here already. An audit entry about a system is inserted only if it names
    a phase or submission of the archive, which shows that it concerns this benchmark. Any other audit entry is left out
    if its subject exists here already. existing: {model: archived primary keys of the rows that exist here}.
    decided_in: keys of the archive's phases and submissions.
    """
    new = [line for line in lines if line["pk"] not in existing[model]]
    if model is Membership:
        # A member who has left the team since the archive was written is not added again.
        new = [line for line in new if line["fields"]["team"] not in existing[Team]]
    if model is AuditEntry:
        named = {
            f"{other._meta.model_name}:{key}" for other, keys in existing.items() if other is not System for key in keys
        }
        new = [
            line
            for line in new
            if line["fields"]["subject"] not in named
            and (not _is_of_a_system(line) or tables.is_decided_in(line["fields"]["detail"], decided_in))
        ]
    return new


def new_acts(lines: list[Line]) -> list[Line]:
    """Return the audit entries that are not stored here yet. Those about systems may be, because of an earlier import.

    lines: audit entries whose subjects have this server's keys.
    """
    subjects = {line["fields"]["subject"] for line in lines if _is_of_a_system(line)}
    rows = AuditEntry.objects.filter(subject__in=subjects).values_list("subject", "action", "at")
    existing = {(subject, action, at) for subject, action, at in rows}
    return [line for line in lines if _act_key(line) not in existing]


def _act_key(line: Line) -> tuple[str, str, datetime]:
    fields = line["fields"]
    return fields["subject"], fields["action"], _moment(fields["at"])


def _is_of_a_system(line: Line) -> bool:
    return str(line["fields"]["subject"]).startswith("system:")


def _team(fields: Line, _: Renumbered) -> Team | None:
    # A name is no proof of identity: another team here with this name would receive the submissions.
    return Team.objects.filter(name=fields["name"], created_at=_moment(fields["created_at"])).first()


def _no_other_team(fields: Line, numbers: Renumbered) -> str:
    if _team(fields, numbers) or not Team.objects.filter(name__iexact=fields["name"]).exists():
        return ""
    return f"the team {fields['name']}: another team on this server has this name"


def _membership(fields: Line, numbers: Renumbered) -> Membership | None:
    team = numbers[Team].get(fields["team"], fields["team"])
    return Membership.objects.filter(team=team, user=numbers[User][fields["user"]]).first()


def _system(fields: Line, numbers: Renumbered) -> System | None:
    team = numbers[Team].get(fields["team"], fields["team"])
    return System.objects.filter(team=team, name=fields["name"], created_at=_moment(fields["created_at"])).first()


def _no_other_number(fields: Line, numbers: Renumbered) -> str:
    number = fields["anonymous_number"]
    if number is None or _system(fields, numbers) or not System.objects.filter(anonymous_number=number).exists():
        return ""
    return f"the system Anonymous {number}: another system on this server has this number"


def _image(fields: Line, _: Renumbered) -> Image | None:
    key = "archive_sha256" if fields["archive_sha256"] else "reference"
    return Image.objects.filter(**{key: fields[key]}).first()


def _no_benchmark(fields: Line, _: Renumbered) -> str:
    exists = Benchmark.objects.filter(slug=fields["slug"]).exists()
    return f"the benchmark {fields['slug']} already exists on this server" if exists else ""


def _no_dataset(fields: Line, _: Renumbered) -> str:
    exists = Dataset.objects.filter(slug=fields["slug"]).exists()
    return f"the dataset {fields['slug']} already exists on this server" if exists else ""


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


SAME: dict[type[Model], Callable[[Line, Renumbered], Any]] = {
    User: people.find_user,
    Team: _team,
    Membership: _membership,
    System: _system,
    Image: _image,
}
CONFLICTS: dict[type[Model], Callable[[Line, Renumbered], str]] = {
    User: people.address_conflict,
    Team: _no_other_team,
    System: _no_other_number,
    Dataset: _no_dataset,
    Benchmark: _no_benchmark,
}
