"""Operations of the site's migrations that Django does not have.

The database refuses updates of rows that are immutable, whoever holds its password. On SQLite a migration that alters a
table copies it without its triggers: such a migration has to end with `refuse_updates` of that table, which creates what
is missing.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django.db.migrations import RunPython, SeparateDatabaseAndState
from django.db.migrations.operations.base import Operation


class CreateTables(SeparateDatabaseAndState):
    """Create the tables of all models of the app, as the operations make them, at once.

    One by one, Django would render all models that are related to the changed one for each operation: about 9,000 models,
    which takes 12 s.
    """

    reversible = False

    def __init__(self, operations: Sequence[Operation]) -> None:
        super().__init__(state_operations=operations)

    def state_forwards(self, app_label: str, state: Any) -> None:
        state.__dict__.pop("apps", None)  # rendered when it is next read
        super().state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for model in to_state.apps.get_app_config(app_label).get_models():
            schema_editor.create_model(model)


IMMUTABLE = (
    "leaderboard_auditentry",
    "leaderboard_goldversion",
    "leaderboard_publicprivatepartition",
    "leaderboard_release",
    "leaderboard_releaseplot",
    "leaderboard_scorer",
)
"""Tables whose rows are never updated."""

FUNCTION = {
    "postgresql": (
        "CREATE OR REPLACE FUNCTION holdout_refuse_update() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'rows of % are immutable', TG_TABLE_NAME USING ERRCODE = '23000'; END $$"
    )
}
IMMUTABLE_ROWS = {
    "postgresql": (
        "CREATE OR REPLACE TRIGGER {table}_immutable BEFORE UPDATE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION holdout_refuse_update()"
    ),
    "sqlite": (
        "CREATE TRIGGER IF NOT EXISTS {table}_immutable BEFORE UPDATE ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'rows of {table} are immutable'); END"
    ),
}
MUTABLE_ROWS = {
    "postgresql": "DROP TRIGGER IF EXISTS {table}_immutable ON {table}",
    "sqlite": "DROP TRIGGER IF EXISTS {table}_immutable",
}
IMMUTABLE_TRACK = {
    "postgresql": (
        "CREATE OR REPLACE TRIGGER {table}_track BEFORE UPDATE OF track ON {table} FOR EACH ROW "
        "WHEN (NEW.track IS DISTINCT FROM OLD.track) EXECUTE FUNCTION holdout_refuse_update()"
    ),
    "sqlite": (
        "CREATE TRIGGER IF NOT EXISTS {table}_track BEFORE UPDATE OF track ON {table} "
        "WHEN NEW.track <> OLD.track BEGIN SELECT RAISE(ABORT, 'the track of a submission is immutable'); END"
    ),
}
TRIGRAMS = {"postgresql": "CREATE EXTENSION IF NOT EXISTS pg_trgm"}
# As Django writes the lookup `icontains`. SQLite reads all names, which are short.
SEARCHED_NAMES = {
    "postgresql": "CREATE INDEX {table}_name_trigrams ON leaderboard_{table} USING gin (UPPER(name::text) gin_trgm_ops)"
}
# A page then has room for a second version of each of its rows. Such an update is a heap-only tuple (HOT): it touches no
# index, which costs a tenth, and the next ranking reuses the room.
ROOM_FOR_UPDATES = {"postgresql": "ALTER TABLE {table} SET (fillfactor = 45)"}


def refuse_updates(*tables: str) -> RunPython:
    """Make an operation after which the database refuses updates of the tables' rows."""
    return RunPython(_execute(IMMUTABLE_ROWS, *tables), RunPython.noop)


def allow_updates(*tables: str) -> RunPython:
    """Make an operation after which rows of immutable tables can be updated, until `refuse_updates`."""
    return RunPython(_execute(MUTABLE_ROWS, *tables), RunPython.noop)


def refuse_new_tracks() -> RunPython:
    """Make an operation after which the database refuses to change the track that a submission declares."""
    return RunPython(_execute(IMMUTABLE_TRACK, "leaderboard_submission"), RunPython.noop)


def _execute(statements: dict[str, str], *tables: str) -> Callable[[Any, Any], None]:
    """Return a function for RunPython that executes the statement of the database in use for each table."""

    def execute(apps: Any, schema_editor: Any) -> None:
        statement = statements.get(schema_editor.connection.vendor, "")
        for table in tables if statement else ():
            schema_editor.execute(statement.format(table=table), params=None)

    return execute


NOT_IN_MODELS = (
    RunPython(_execute(FUNCTION, "")),
    refuse_updates(*IMMUTABLE),
    refuse_new_tracks(),
    RunPython(_execute(TRIGRAMS, "")),
    RunPython(_execute(SEARCHED_NAMES, "system", "team")),
    RunPython(_execute(ROOM_FOR_UPDATES, "leaderboard_standing")),
)
"""What `0001_initial` creates besides the tables, constraints and indexes of the models."""
