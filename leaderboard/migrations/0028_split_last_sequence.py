"""The counter of Prediction.sequence moves from the phase to its split, so that submissions need not lock the phase."""

from django.db import migrations, models
from django.db.models import Max


def copy_to_splits(apps, schema_editor):
    phases = apps.get_model("leaderboard", "Phase").objects
    splits = apps.get_model("leaderboard", "Split").objects
    for split, last in phases.order_by().values_list("split").annotate(last=Max("last_sequence")):
        splits.filter(pk=split).update(last_sequence=last)


def copy_to_phases(apps, schema_editor):
    phases = apps.get_model("leaderboard", "Phase").objects
    splits = apps.get_model("leaderboard", "Split").objects
    for split, last in splits.values_list("pk", "last_sequence"):
        phases.filter(split=split).update(last_sequence=last)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0027_standard_names")]
    operations = [
        migrations.AddField(
            model_name="split",
            name="last_sequence",
            field=models.PositiveIntegerField(
                default=0, editable=False, help_text="the highest Prediction.sequence assigned in phases of this split"
            ),
        ),
        migrations.RunPython(copy_to_splits, copy_to_phases),
        migrations.RemoveField(model_name="phase", name="last_sequence"),
        migrations.AlterField(
            model_name="prediction",
            name="sequence",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="order of receipt among the predictions for a split; null: not ready yet",
                null=True,
            ),
        ),
    ]
