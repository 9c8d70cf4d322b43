"""Standings store when their submission was received, so that a board is ordered without joining all submissions."""

from typing import Any

from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def fill(apps: Any, schema_editor: Any) -> None:
    standings = apps.get_model("leaderboard", "Standing").objects.using(schema_editor.connection.alias)
    releases = apps.get_model("leaderboard", "Release").objects.filter(pk=OuterRef("release"))
    standings.update(received_at=Subquery(releases.values("submission__received_at")[:1]))


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0061_bars_and_gold_uploads")]

    operations = [
        migrations.AddField(
            model_name="standing",
            name="received_at",
            field=models.DateTimeField(
                help_text="when the release's submission was received; orders ties", null=True
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
