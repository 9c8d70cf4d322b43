"""The demonstration's people: who they are, and passwords that only the owner of the data folder can read."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from leaderboard.models import AuditEntry, User


@dataclass(frozen=True)
class Person:
    username: str
    does: str
    is_curator: bool = False
    team: str = ""


PEOPLE = (
    Person("curator", "creates benchmarks and manages all of them", is_curator=True),
    Person("ada", "researcher, in Ada's group", team="Ada's group"),
    Person("emil", "researcher, in Emil's group", team="Emil's group"),
)


def logins() -> Path:
    """Where the passwords are: a line each, username, password, what they may do."""
    path: Path = settings.DATA / "demo-logins"
    return path


def login_lines() -> list[str]:
    """What to tell whoever started the site; nothing where the demonstration was never made."""
    path = logins()
    return [f"log in as {line}" for line in path.read_text().splitlines()] if path.exists() else []


def people() -> dict[str, User]:
    """The demonstration's people by username, made where they are missing.

    An account that is there keeps its password, so a second start changes nothing.
    """
    found = {user.username: user for user in User.objects.filter(username__in=[person.username for person in PEOPLE])}
    for person in PEOPLE:
        if person.username not in found:
            found[person.username] = _make(person)
    return found


def _make(person: Person) -> User:
    password = secrets.token_urlsafe(12)
    user = User(username=person.username, email=f"{person.username}@demo.invalid", is_curator=person.is_curator)
    user.set_password(password)
    # Written first: a password that nobody knows would make an account that nobody can use.
    _note(f"{person.username}  {password}  ({person.does})", replaces=person.username)
    user.save(force_insert=True)
    AuditEntry.record("user.demonstration", user)
    return user


def _note(line: str, *, replaces: str) -> None:
    path = logins()
    kept = path.read_text().splitlines() if path.exists() else []
    kept = [old for old in kept if old.split()[:1] != [replaces]]
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write("\n".join([*kept, line]) + "\n")
