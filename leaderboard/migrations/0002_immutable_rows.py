"""Gold versions, releases and audit entries are never edited, whoever holds the database's password."""

from django.db import migrations

TABLES = ("leaderboard_goldversion", "leaderboard_release", "leaderboard_auditentry")


def forbid_updates(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    if vendor == "postgresql":
        schema_editor.execute(
            "CREATE OR REPLACE FUNCTION holdout_refuse_update() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'rows of % are immutable', TG_TABLE_NAME USING ERRCODE = '23000'; END $$",
            params=None,  # the % is PostgreSQL's, no placeholder of the driver's
        )
    for table in TABLES:
        if vendor == "sqlite":
            schema_editor.execute(
                f"CREATE TRIGGER {table}_immutable BEFORE UPDATE ON {table} "
                f"BEGIN SELECT RAISE(ABORT, 'rows of {table} are immutable'); END"
            )
        elif vendor == "postgresql":
            schema_editor.execute(
                f"CREATE TRIGGER {table}_immutable BEFORE UPDATE ON {table} "
                "FOR EACH ROW EXECUTE FUNCTION holdout_refuse_update()"
            )


def allow_updates(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    for table in TABLES:
        if vendor == "sqlite":
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_immutable")
        elif vendor == "postgresql":
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_immutable ON {table}")
    if vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION IF EXISTS holdout_refuse_update()")


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0001_initial")]
    operations = [migrations.RunPython(forbid_updates, allow_updates)]
