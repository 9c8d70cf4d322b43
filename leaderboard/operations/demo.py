"""Users of the demonstration site, with random passwords in a file that only the data folder's owner can read."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from allauth.account.models import EmailAddress
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
    """Return the path of the file with the demo users' passwords. Each line has username, password and (role)."""
    path: Path = settings.DATA / "demo-logins"
    return path


def login_lines() -> list[str]:
    """Return the lines to print at startup, with username and password of each demo user; empty without demo users."""
    path = logins()
    return [f"log in as {line}" for line in path.read_text().splitlines()] if path.exists() else []


def people() -> dict[str, User]:
    """Create the demo users that do not exist; return username -> user for all of them.

    An existing account is not changed and keeps its password.
    """
    users = {user.username: user for user in User.objects.filter(username__in=[person.username for person in PEOPLE])}
    for person in PEOPLE:
        if person.username not in users:
            users[person.username] = _make(person)
    return users


def _make(person: Person) -> User:
    password = secrets.token_urlsafe(12)
    user = User(username=person.username, email=f"{person.username}@demo.invalid", is_curator=person.is_curator)
    user.set_password(password)
    # The password is written to the file before the row is saved: without its password nobody could use the account.
    _note(f"{person.username}  {password}  ({person.does})", replaces=person.username)
    user.save(force_insert=True)
    # No mail arrives at this address, and without a verified one nobody could log in where mail is configured.
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    AuditEntry.record("user.demonstration", user)
    return user


def _note(line: str, *, replaces: str) -> None:
    path = logins()
    lines = path.read_text().splitlines() if path.exists() else []
    lines = [other for other in lines if other.split()[:1] != [replaces]]
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write("\n".join([*lines, line]) + "\n")
