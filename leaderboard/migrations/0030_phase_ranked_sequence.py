"""Up to which release the boards of a phase are complete: releases are stored first, and ranked in batches."""

from django.db import migrations, models
from django.db.models import Max


def all_are_ranked(apps, schema_editor):
    releases = apps.get_model("leaderboard", "Release").objects
    phases = apps.get_model("leaderboard", "Phase").objects
    for phase, last in releases.order_by().values_list("phase").annotate(last=Max("sequence")):
        phases.filter(pk=phase).update(ranked_sequence=last)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0029_invited_address")]
    operations = [
        migrations.AddField(
            model_name="phase",
            name="ranked_sequence",
            field=models.PositiveIntegerField(
                default=0, editable=False, help_text="the highest Release.sequence that the phase's boards include"
            ),
        ),
        migrations.RunPython(all_are_ranked, migrations.RunPython.noop),
    ]
