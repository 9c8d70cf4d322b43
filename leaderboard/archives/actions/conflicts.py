"""Comparison of an archive's rows with this server's: which are the same, and which conflict with another row.

A row conflicts if it is new but has a name, number or mail address that must be unique and that another row has. No
row is the same as one of this server because of a name or a digest alone: whoever writes an archive could then claim
what is not theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import Model

from leaderboard.archives.actions import people
from leaderboard.archives.actions.row_checks import Values
from leaderboard.core.names.names import Looks
from leaderboard.models import Benchmark, Dataset, Image, System, Team, User

Existing = Callable[[type[Model], Any], Any]
"""A function: model, key in the archive -> primary key of the same row on this server; None if the row is new."""


class Comparison:
    """Compares archived rows with this server's, model by model in the order of the archive's tables."""

    def __init__(self, existing: Existing) -> None:
        self._existing = existing
        self._team_names: Looks | None = None

    def same(self, model: type[Model], values: Values) -> Any:
        """Return the primary key of the row on this server that is the same as an archived one; None if there is none.

        Of an image, the archive must also have the file: its digest is known to more people.
        """
        find = _SAME.get(model)
        row = find(self, values) if find is not None else None
        return None if row is None else row.pk

    def conflict(self, model: type[Model], values: Values) -> str:
        """Return why an archived row that this server does not have conflicts with another row; empty if it does not.

        The text is one line for the curator.
        """
        describe = _CONFLICTS.get(model)
        return "" if describe is None else describe(self, values)

    def _user(self, values: Values) -> User | None:
        return people.find_user(values)

    def _team(self, values: Values) -> Team | None:
        # A name is no proof of identity: another team here with this name would receive the submissions.
        return Team.objects.filter(name=values["name"], created_at=values["created_at"]).first()

    def _system(self, values: Values) -> System | None:
        team = self._existing(Team, values["team"])
        if team is None:
            return None
        return System.objects.filter(team=team, name=values["name"], created_at=values["created_at"]).first()

    def _image(self, values: Values) -> Image | None:
        key = "archive_sha256" if values["archive_sha256"] else "reference"
        return Image.objects.filter(**{key: values[key]}).first()

    def _address(self, values: Values) -> str:
        return people.address_conflict(values)

    def _team_name(self, values: Values) -> str:
        if self._team_names is None:
            self._team_names = Looks(Team.objects.values_list("name", flat=True).iterator())
        other = self._team_names.like(values["name"])
        return f"the team {values['name']}: another team on this server has this name, {other}" if other else ""

    def _number(self, values: Values) -> str:
        number = values["anonymous_number"]
        if number is None or not System.objects.filter(anonymous_number=number).exists():
            return ""
        return f"the system Anonymous {number}: another system on this server has this number"

    def _dataset(self, values: Values) -> str:
        exists = Dataset.objects.filter(slug=values["slug"]).exists()
        return f"the dataset {values['slug']} already exists on this server" if exists else ""

    def _benchmark(self, values: Values) -> str:
        if Benchmark.objects.filter(slug=values["slug"]).exists():
            return f"the benchmark {values['slug']} already exists on this server"
        team = values["baselines_team"]
        if team is not None and self._existing(Team, team) is not None:
            # Organisers join this team when they submit a baseline, and would get its other systems.
            return "the baselines' team of the benchmark already exists on this server"
        return ""


_SAME: Mapping[type[Model], Callable[[Comparison, Values], Any]] = {
    User: Comparison._user,
    Team: Comparison._team,
    System: Comparison._system,
    Image: Comparison._image,
}
_CONFLICTS: Mapping[type[Model], Callable[[Comparison, Values], str]] = {
    User: Comparison._address,
    Team: Comparison._team_name,
    System: Comparison._number,
    Dataset: Comparison._dataset,
    Benchmark: Comparison._benchmark,
}
