"""Columns get the field's terms; no value changes."""

from django.db import migrations, models

LEASED = (
    "archiveexport",
    "correction",
    "dryrun",
    "generation",
    "likeness",
    "prediction",
    "ranking",
    "run",
    "sidebyside",
    "splitaudit",
)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0025_hidden_submissions")]

    operations = [
        *[migrations.RenameField(model_name=name, old_name="rung_at", new_name="enqueued_at") for name in LEASED],
        *[
            migrations.AlterField(
                model_name=name,
                name="enqueued_at",
                field=models.DateTimeField(
                    help_text="when it was last enqueued for a worker",
                    **({"null": True, "blank": True} if name == "prediction" else {}),
                ),
            )
            for name in LEASED
        ],
        migrations.RenameField(model_name="correction", old_name="tells_count", new_name="publishes_count"),
        migrations.AlterField(
            model_name="correction",
            name="publishes_count",
            field=models.BooleanField(default=False, help_text="everybody sees how many items changed"),
        ),
        migrations.AlterField(
            model_name="dryrun",
            name="name",
            field=models.CharField(help_text="of a baseline of the task, or of an uploaded file", max_length=120),
        ),
    ]
