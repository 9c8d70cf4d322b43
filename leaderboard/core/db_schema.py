"""Whether this process's code fits the database's schema, and which migrations may be applied beside older code.

During an upgrade, hosts with older and with newer code use one database. Code fits a schema if each of its migrations
is applied, and if it knows every applied migration that is not safe beside older code. `manage.py migrate` records
which these are in Django's own table of migrations, since older code does not have their files (`require`).

A migration is safe beside older code if it only adds what that code can leave out (`obstacles`), or if its class says
so:

    class Migration(migrations.Migration):
        safe_with = "0071_stop_using_cost"  # code with this migration of the same app neither reads nor writes it

An empty text says that any older code works beside it.
"""

from __future__ import annotations

import functools
import math
import pkgutil
import time
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

import structlog
from django.apps import apps
from django.db import DatabaseError, InterfaceError, connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState
from django.db.models.fields import NOT_PROVIDED

log = structlog.get_logger(__name__)
Key = tuple[str, str]
"""(label of an app, name of one of its migrations)."""
REQUIRED = "code must know"
"""Value of `app` in the table of migrations, in rows whose `name` is the `APP.MIGRATION` that code has to know."""

FRESH_SECONDS = 5.0
"""How long `fits` returns the result of the last check."""

_found, _checked = "", -math.inf


@functools.cache
def known() -> frozenset[Key]:
    """Return the migrations of this code, by the names of their files.

    The files are listed once, when the process starts: an upgrade in place replaces them while it runs.
    """
    keys = set()
    for app in apps.get_app_configs():
        name, _ = MigrationLoader.migrations_module(app.label)
        try:
            module = import_module(name) if name else None
        except ModuleNotFoundError:
            continue
        for file in pkgutil.iter_modules(getattr(module, "__path__", ())):
            if not file.ispkg and file.name[0] not in "_~":
                keys.add((app.label, file.name))
    return frozenset(keys)


def newest() -> dict[str, str]:
    """Return label of an app -> name of the last of its migrations that this code has; they are numbered."""
    return dict(sorted(known()))


def knows(code: Mapping[str, str], key: Key) -> bool:
    """Return whether code has the migration `key`. code: what `newest` returns in a process with that code."""
    app, name = key
    return code.get(app, "") >= name


def check() -> str:
    """Compare this code with the database; return why they do not fit, in a sentence; empty if they do.

    Takes one query. Raises DatabaseError or InterfaceError if the database does not respond.
    """
    global _found, _checked
    found = _misfit(set(MigrationRecorder(connection).migration_qs.values_list("app", "name")))
    if found and found != _found:
        log.error("schema_differs", found=found)
    _found, _checked = found, time.monotonic()
    return found


def last_found() -> str:
    """Return the result of the last `check` in this process, without a query; empty before the first."""
    return _found


def fits() -> bool:
    """Return whether this code fits the database, by a check that is at most FRESH_SECONDS old.

    If the database does not respond, return the result of the last check.
    """
    try:
        return not (check() if time.monotonic() - _checked > FRESH_SECONDS else _found)
    except (DatabaseError, InterfaceError):
        return not _found


def _misfit(applied: set[Key]) -> str:
    absent = sorted(known() - applied)
    if absent:
        others = f" and {len(absent) - 1} more" if absent[1:] else ""
        return (
            f"The migration {'.'.join(absent[0])}{others} of this code is not applied to the database. "
            "Run manage.py migrate of this release."
        )
    required = {tuple(name.split(".", 1)) for app, name in applied if app == REQUIRED}
    unknown = (required & applied) - known()
    for app, name in sorted(unknown - _replaced() if unknown else ()):
        return (
            f"The database has the migration {app}.{name}, beside which this older code cannot work. "
            "Replace the code of this host by that of the release that was migrated to."
        )
    return ""


@functools.cache
def _replaced() -> frozenset[Key]:
    """Return the migrations that squashed migrations of this code replace; it knows them without their files."""
    loaded = MigrationLoader(None).disk_migrations.values()
    return frozenset((app, name) for migration in loaded for app, name in migration.replaces)


def require(keys: Iterable[Key]) -> None:
    """Record that code which does not know the migrations `keys` does not fit once they are applied."""
    recorder = MigrationRecorder(connection)
    recorder.ensure_schema()
    recorded = {name for app, name in recorder.migration_qs.filter(app=REQUIRED).values_list("app", "name")}
    for key in keys:
        if (name := ".".join(key)) not in recorded:
            recorder.record_applied(REQUIRED, name)


def required_code(migration: migrations.Migration, state: ProjectState) -> Key | None:
    """Return the migration that older code has to know to work beside this one; None if any code works beside it.

    state: the models before the migration, which is changed. The result may be the migration itself: no older code
    works beside it.
    """
    declared: str | None = getattr(migration, "safe_with", None)
    if declared is not None:
        return (migration.app_label, declared) if declared else None
    return (migration.app_label, migration.name) if next(obstacles(migration, state), "") else None


def obstacles(migration: migrations.Migration, state: ProjectState) -> Iterator[str]:
    """Yield why older code may not work beside the migration, a phrase for each of its operations; its `safe_with`
    does not count.

    Older code inserts rows without naming a new column, which therefore needs a default in the database or null. It
    reads and writes what a migration drops or renames, and does not know new constraints. Only its author can judge
    what a migration computes. state: the models before the migration, which is changed.
    """
    yield from _obstacles(migration.app_label, migration.operations, state, set())


def _obstacles(app: str, operations: Iterable[Operation], state: ProjectState, created: set[str]) -> Iterator[str]:
    """Yield the obstacles of some operations. created: lower-case names of the models that the migration creates."""
    for operation in operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from _obstacles(app, operation.database_operations, state.clone(), created)
        elif isinstance(operation, migrations.CreateModel):
            created.add(operation.name_lower)
        elif getattr(operation, "model_name_lower", getattr(operation, "name_lower", "")) not in created:
            phrase = _obstacle(app, operation, state)
            if phrase:
                yield phrase
        operation.state_forwards(app, state)


ADDED_OR_OF_NO_COLUMN = (
    migrations.AddIndex,
    migrations.RemoveIndex,
    migrations.RenameIndex,
    migrations.AlterModelOptions,
    migrations.AlterModelManagers,
    migrations.AlterModelTableComment,
)


def _obstacle(app: str, operation: Operation, state: ProjectState) -> str:
    match operation:
        case migrations.AddField(field=field) if not _may_be_left_out(field):
            return (
                f"adds the column {operation.model_name}.{operation.name}, which is NOT NULL and has no default in the "
                "database (db_default)"
            )
        case migrations.AddField():
            return ""
        case migrations.AlterField():
            before = state.models[app, operation.model_name_lower].get_field(operation.name)
            return (
                ""
                if _accepts_what(before, operation.field)
                else f"changes the column {operation.model_name}.{operation.name}"
            )
        case migrations.RunPython() | migrations.RunSQL():
            return "runs code of its own"
    return "" if isinstance(operation, ADDED_OR_OF_NO_COLUMN) else _described(operation)


def _described(operation: Operation) -> str:
    text = operation.describe()
    return text[:1].lower() + text[1:]


def _may_be_left_out(field: Any) -> bool:
    return bool(field.null or field.many_to_many or field.db_default is not NOT_PROVIDED or field.generated)


def _accepts_what(before: models.Field[Any, Any], after: models.Field[Any, Any]) -> bool:
    """Return whether the column of a changed field accepts what it did, and gives older code what it gave."""
    (_, path, args, options), (_, new_path, new_args, new_options) = before.deconstruct(), after.deconstruct()
    if (path, args) != (new_path, new_args):
        return False
    different = {name for name in {*options, *new_options} if options.get(name) != new_options.get(name)}
    different -= {*before.non_db_attrs, "default", "db_comment"} - {"db_column"}
    if after.null:
        different.discard("null")
    if "db_default" in new_options:
        different.discard("db_default")
    if (getattr(before, "max_length", None) or 0) < (getattr(after, "max_length", None) or 0):
        different.discard("max_length")
    return not different
