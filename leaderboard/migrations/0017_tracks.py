"""Tracks of a phase, and the one that a submission declares: for good, whoever holds the database's password.

On SQLite a later migration that copies the table of submissions has to lay the trigger again.
"""

from django.db import migrations, models

TABLE = "leaderboard_submission"


def forbid_changes(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    if vendor == "sqlite":
        schema_editor.execute(
            f"CREATE TRIGGER {TABLE}_track BEFORE UPDATE OF track ON {TABLE} WHEN NEW.track <> OLD.track "
            "BEGIN SELECT RAISE(ABORT, 'the track of a submission is immutable'); END"
        )
    elif vendor == "postgresql":
        # The function is that of 0002.
        schema_editor.execute(
            f"CREATE TRIGGER {TABLE}_track BEFORE UPDATE OF track ON {TABLE} FOR EACH ROW "
            "WHEN (NEW.track IS DISTINCT FROM OLD.track) EXECUTE FUNCTION holdout_refuse_update()"
        )


def allow_changes(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    if vendor == "sqlite":
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {TABLE}_track")
    elif vendor == "postgresql":
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {TABLE}_track ON {TABLE}")


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0016_life_of_a_split")]
    operations = [
        migrations.AddField(
            model_name="phase",
            name="tracks",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text=(
                    'what a submission declares one of, in order: [{"name", "title", "description"}]; empty: nothing'
                ),
            ),
        ),
        migrations.AddField(
            model_name="reportedresult",
            name="track",
            field=models.CharField(
                blank=True, help_text="the phases' track that it belongs to, by name", max_length=80
            ),
        ),
        migrations.AddField(
            model_name="submission",
            name="track",
            field=models.CharField(
                blank=True,
                editable=False,
                help_text="the phase's track that it declares; empty: it has none",
                max_length=80,
            ),
        ),
        migrations.RunPython(forbid_changes, allow_changes),
    ]
