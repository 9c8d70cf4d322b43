"""Slices of two dimensions with long names: 400 characters held one of them, not both."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0017_tracks"),
    ]

    operations = [
        migrations.AlterField(
            model_name="releaseslice",
            name="dimensions",
            field=models.CharField(blank=True, help_text="that it names, in order, as a JSON list", max_length=2000),
        ),
        migrations.AlterField(
            model_name="releaseslice",
            name="slice_key",
            field=models.CharField(blank=True, help_text="as shown, as canonical JSON; empty: all", max_length=2000),
        ),
        migrations.AlterField(
            model_name="score",
            name="slice_key",
            field=models.CharField(blank=True, help_text="the slice as canonical JSON; empty: all", max_length=2000),
        ),
    ]
