"""A database that is migrated once and cloned for each test process, on SQLite and on PostgreSQL.

Its name contains a digest of everything that migrations depend on, so a changed migration or model creates a new one.
`python -m tests.support.schema_template` migrates the database that the environment names.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(tempfile.gettempdir()) / f"holdout-schema-{os.getuid()}"


def use(connection: Any) -> None:
    """Make pytest-django create this process's database from the template instead of by migrations."""
    name = _name()
    test = connection.settings_dict["TEST"]
    with _one_at_a_time(FOLDER / f"{name}.lock"):
        if connection.vendor == "postgresql":
            _prepare_postgresql(connection, name)
            test["TEMPLATE"] = name
        else:
            _fill_when_connected(_sqlite(name))
    # The migrations' tables are there: Django only looks for tables that are missing.
    test["MIGRATE"] = False


def copy_to(path: Path) -> None:
    """Create a migrated SQLite database without rows at this path, for a site in a separate process."""
    name = _name()
    with _one_at_a_time(FOLDER / f"{name}.lock"):
        shutil.copy(_sqlite(name), path)


def _name() -> str:
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    return f"holdout_schema_{_digest()[:16]}"


def _sqlite(name: str) -> Path:
    template = FOLDER / f"{name}.sqlite3"
    if not template.exists():
        unfinished = template.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        _migrate(f"sqlite:///{unfinished}")
        unfinished.rename(template)
    return template


def _digest() -> str:
    whole = hashlib.sha256(f"{version('django')} {sys.version}".encode())
    for folder in ("migrations", "models"):
        for path in sorted((ROOT / "leaderboard" / folder).glob("*.py")):
            whole.update(path.name.encode() + b"\0" + path.read_bytes())
    whole.update((ROOT / "leaderboard" / "settings.py").read_bytes() + (ROOT / "requirements.txt").read_bytes())
    return whole.hexdigest()


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _migrate(url: str) -> None:
    with tempfile.TemporaryDirectory() as data:
        of_its_own = {
            "HOLDOUT_DATABASE_URL": url,
            "HOLDOUT_DATA": data,
            "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
        }
        environment = {**os.environ, **of_its_own}
        subprocess.run([sys.executable, "-m", __name__], cwd=ROOT, env=environment, check=True)


def _prepare_postgresql(connection: Any, name: str) -> None:
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s AND datistemplate", [name])
        if cursor.fetchone():
            return
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}"')
        cursor.execute(f'CREATE DATABASE "{name}"')
    _migrate(f"{os.environ['HOLDOUT_DATABASE_URL'].rpartition('/')[0]}/{name}")
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'ALTER DATABASE "{name}" IS_TEMPLATE true')


def _fill_when_connected(template: Path) -> None:
    from django.db.backends.signals import connection_created

    def fill(*, connection: Any, **_: Any) -> None:
        named = connection.settings_dict
        if connection.vendor != "sqlite" or named["NAME"] != named["TEST"]["NAME"]:
            return
        if not connection.connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            with sqlite3.connect(template) as source:
                source.backup(connection.connection)

    connection_created.connect(fill, weak=False, dispatch_uid="schema template")


def main() -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)


if __name__ == "__main__":
    main()
