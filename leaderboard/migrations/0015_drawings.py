"""What releases told to be drawn, never edited, as they are not (0002)."""

import django.db.models.deletion
from django.db import migrations, models

TABLE = "leaderboard_drawing"


def forbid_updates(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(
            f"CREATE TRIGGER {TABLE}_immutable BEFORE UPDATE ON {TABLE} "
            f"BEGIN SELECT RAISE(ABORT, 'rows of {TABLE} are immutable'); END"
        )
    elif schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            f"CREATE TRIGGER {TABLE}_immutable BEFORE UPDATE ON {TABLE} "
            "FOR EACH ROW EXECUTE FUNCTION holdout_refuse_update()"
        )


def allow_updates(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {TABLE}_immutable")
    elif schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {TABLE}_immutable ON {TABLE}")


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0014_boards_in_rows")]
    operations = [
        migrations.CreateModel(
            name="Drawing",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "content",
                    models.JSONField(help_text="what evaluator.plots.summary made of the run's outcomes"),
                ),
                ("made_at", models.DateTimeField()),
                (
                    "release",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="drawing",
                        to="leaderboard.release",
                    ),
                ),
            ],
            options={"ordering": ["release"]},
        ),
        migrations.RunPython(forbid_updates, allow_updates),
    ]
