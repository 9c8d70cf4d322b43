"""PostgreSQL finds words in names of systems and teams by an index; SQLite reads all names, which are short."""

from django.db import migrations

INDEXES = {"system_name_trigrams": "leaderboard_system", "team_name_trigrams": "leaderboard_team"}
# As Django writes the lookup `icontains`.
CREATE = "CREATE INDEX {name} ON {table} USING gin (UPPER(name::text) gin_trgm_ops)"


def create(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        for name, table in INDEXES.items():
            schema_editor.execute(CREATE.format(name=name, table=table))


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for name in INDEXES:
            schema_editor.execute(f"DROP INDEX {name}")


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0064_standing_received_at")]

    operations = [migrations.RunPython(create, drop)]
