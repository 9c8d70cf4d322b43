"""A benchmark knows the team of its baselines by its key; earlier ones are found by what they sent."""

import django.db.models.deletion
from django.db import migrations, models


def link(apps, schema_editor):
    """A name alone is no proof: anybody could take it. Only who manages a benchmark submits what is a baseline."""
    Benchmark = apps.get_model("leaderboard", "Benchmark")
    Team = apps.get_model("leaderboard", "Team")
    for benchmark in Benchmark.objects.all():
        team = Team.objects.filter(
            name=f"Baselines of {benchmark.slug}",
            systems__kind="baseline",
            systems__submissions__phase__benchmark=benchmark,
        ).first()
        if team is not None:
            Benchmark.objects.filter(pk=benchmark.pk).update(baselines_team=team)


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0023_plurals"),
    ]

    operations = [
        migrations.AddField(
            model_name="benchmark",
            name="baselines_team",
            field=models.OneToOneField(
                blank=True,
                editable=False,
                help_text="for which its baselines are submitted; who manages the benchmark submits for it",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="baselines_of",
                to="leaderboard.team",
            ),
        ),
        migrations.RunPython(link, migrations.RunPython.noop),
    ]
