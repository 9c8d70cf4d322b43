"""A release tells what its container cost. Null needs no copy of the table, so the trigger on it stays (0002)."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0006_containers")]
    operations = [
        migrations.AddField(
            model_name="release",
            name="cost",
            field=models.JSONField(
                help_text="of the container, in coarse steps (costs.py); null: none is told", null=True
            ),
        ),
    ]
