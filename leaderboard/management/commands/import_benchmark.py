"""`manage.py import_benchmark NAME PATH`: host a benchmark from its published files."""

from __future__ import annotations

import json
import os
import tempfile
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from django.conf import settings
from django.core.management.base import CommandError

from leaderboard.core import validation
from leaderboard.core.refusal import Code, Refused
from leaderboard.hosting import host as hosting
from leaderboard.hosting.importers import IMPORTERS, Choices, Imported, PublishedFileError
from leaderboard.management.base import BaseCommand
from leaderboard.models import User
from leaderboard.operations import embedded


class Command(BaseCommand):
    help = (
        "Host a benchmark from its published files, or your own from a folder with benchmark.json. "
        "The sandbox server must be running: it checks the gold."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", choices=IMPORTERS, metavar="NAME", help=f"kind of files: {', '.join(IMPORTERS)}")
        parser.add_argument("path", type=Path, help="folder with the files; if NAME is a task, also a single gold file")
        parser.add_argument("--by", help="username of the curator who hosts it (default: the only curator)")
        parser.add_argument("--slug", default="", help="the benchmark's name in URLs")
        parser.add_argument("--title", default="")
        parser.add_argument("--public", action=BooleanOptionalAction, default=True, help="--no-public: keep it a draft")
        parser.add_argument(
            "--public-gold",
            action="append",
            default=[],
            metavar="SPLIT",
            help="make this split's gold public; may be repeated",
        )
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a task option, for each phase; may be repeated",
        )
        parser.add_argument(
            "--reported",
            action=BooleanOptionalAction,
            default=True,
            help="--no-reported: leave out results from papers",
        )
        parser.add_argument(
            "--hidden-fold", type=int, default=4, help="knowledgenet: the hidden fold (default %(default)s)"
        )
        parser.add_argument("--salt-ids", action="store_true", help="fever, frank: use salted ids (others always do)")
        parser.add_argument("--salt", default="", help="salt of the ids; default: random and not stored")
        parser.add_argument(
            "--id-map", type=Path, metavar="FILE", help="write a private map from published ids to public ids"
        )
        parser.add_argument(
            "--predictions",
            type=Path,
            metavar="FOLDER",
            help="frank: write the published metrics' scores as predictions",
        )
        parser.add_argument(
            "--quota-per-day", type=int, default=50, help="submissions per team per day (default %(default)s)"
        )
        parser.add_argument(
            "--quota-total", type=int, default=1000, help="submissions per team in total (default %(default)s)"
        )

    def handle(self, *, name: str, path: Path, by: str | None, id_map: Path | None, **options: Any) -> None:
        curator = self.curator(by)
        if options["predictions"] and name != "frank":
            raise CommandError(f"--predictions cannot be used with {name}: only frank has published metrics' scores")
        names = ("slug", "title", "public", "hidden_fold", "salt", "quota_per_day", "quota_total", "reported")
        choices = Choices(
            options=self.options(options["option"], name),
            predictions=options["predictions"],
            **{name: options[name] for name in names},
            public_gold=frozenset(options["public_gold"]),
            salt_ids=bool(options["salt_ids"] or options["salt"] or id_map),
            say=self.say,
        )
        with tempfile.TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
            try:
                imported = IMPORTERS[name](path, Path(folder), choices)
            except PublishedFileError as error:
                raise CommandError(str(error)) from error
            imported = chosen(imported, choices)
            self.check_named(imported, choices)
            self.check_options(imported)
            if choices.salt_ids and not imported.id_map:
                raise CommandError(
                    f"--salt, --salt-ids and --id-map cannot be used with {name}: it keeps its published ids"
                )
            with id_map_file(id_map, imported):
                self.host(imported, imported.folder or Path(folder), curator)

    def host(self, imported: Imported, folder: Path, curator: User) -> None:
        try:
            hosted = hosting.host(manifest=imported.manifest, folder=folder, by=curator, say=self.say)
        except Refused as refused:
            raise CommandError(explained(refused, imported)) from refused
        except hosting.ManifestError as error:
            raise CommandError(str(error)) from error
        self.say(f"{embedded.address(settings.DATA)}{hosted.benchmark.get_absolute_url()}")

    def options(self, texts: list[str], name: str) -> dict[str, str]:
        if texts and name == "own":
            raise CommandError(
                "--option cannot be used with NAME own: benchmark.json sets the task options of each phase"
            )
        pairs = [text.partition("=") for text in texts]
        wrong = next((text for text, (key, equals, _) in zip(texts, pairs, strict=True) if not (key and equals)), None)
        if wrong is not None:
            raise CommandError(f"--option is {wrong}, expected NAME=VALUE")
        return {key: value for key, _, value in pairs}

    def check_options(self, imported: Imported) -> None:
        """Raise CommandError unless the task options of all phases are valid. Called before anything is stored."""
        manifest = imported.manifest
        for phase in manifest.phases:
            try:
                validation.check_options(manifest.task, phase.options)
            except Refused as refused:
                raise CommandError(f"phase {phase.slug}: {refused}") from refused

    def check_named(self, imported: Imported, choices: Choices) -> None:
        """Raise CommandError if a value of --public-gold (`choices.public_gold`) is not the name of a split.

        If the name was misspelt, the split's gold would otherwise stay hidden unnoticed.
        """
        splits = [split.name for split in imported.manifest.splits]
        unknown = sorted(choices.public_gold - set(splits))
        if unknown:
            raise CommandError(f"--public-gold is {unknown[0]}, expected one of {', '.join(splits)}")

    def curator(self, username: str | None) -> User:
        if username:
            user = User.objects.filter(username=username, is_curator=True).first()
            if user is None:
                raise CommandError(f"--by is {username}, expected the username of a curator")
            return user
        curators = list(User.objects.filter(is_curator=True, is_active=True)[:2])
        if not curators:
            raise CommandError("there is no curator yet; make a user a curator: manage.py make_curator USERNAME")
        if len(curators) > 1:
            raise CommandError("there is more than one curator: choose one with --by USERNAME")
        return curators[0]

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def chosen(imported: Imported, choices: Choices) -> Imported:
    """Return `imported`, without the results that papers report if the curator chose --no-reported."""
    if choices.reported:
        return imported
    return replace(imported, manifest=msgspec.structs.replace(imported.manifest, reported=[]))


@contextmanager
def id_map_file(path: Path | None, imported: Imported) -> Iterator[None]:
    """Write `imported.id_map`, published id -> salted id, to a JSON file that only its owner can read.

    The `with` block hosts the benchmark; if it raises an exception, the file is deleted. path: of the file; None: write
    none. Raises CommandError if the file exists or cannot be written.
    """
    if path is None:
        yield
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(imported.id_map, file, indent=0)
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def explained(refused: Refused, imported: Imported) -> str:
    """Return the message of a refusal, then each problem with its line in the published file, then a remedy if any."""
    lines = [str(refused)]
    for problem in refused.problems:
        location = imported.origins.of(problem["file"], problem["line"])
        found = f", found {problem['found']}" if problem["found"] else ""
        expected = f", expected {problem['expected']}" if problem["expected"] else ""
        lines.append(f"{location}: {problem['what']}{found}{expected}")
    if refused.more:
        lines.append(f"and {refused.more} more")
    if refused.code is Code.SANDBOX_UNAVAILABLE:
        lines.append("Start the site (bin/serve), or its sandbox alone (manage.py serve sandbox), and import again.")
    if refused.code is Code.NAME_TAKEN and imported.id_map:
        lines.append("Ids are salted at random: use the same --salt to get the same content again.")
    return "\n".join(lines)
