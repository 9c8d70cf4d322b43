"""How many predictions of a phase came to be there: the next one's place."""

from django.db import migrations, models
from django.db.models import Max


def count_arrivals(apps, schema_editor):
    phases = apps.get_model("leaderboard", "Phase").objects
    for phase in phases.annotate(last=Max("submissions__predictions__arrival")).filter(last__isnull=False):
        phases.filter(pk=phase.pk).update(arrivals=phase.last)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0009_disclosure")]
    operations = [
        migrations.AddField(
            model_name="phase",
            name="arrivals",
            field=models.PositiveIntegerField(
                default=0, editable=False, help_text="predictions that came to be there"
            ),
        ),
        migrations.RunPython(count_arrivals, migrations.RunPython.noop),
    ]
