"""Every scored prediction of a competing system gets its similarity check with its scores, no longer by the sweep."""

from datetime import timedelta

from django.db import migrations
from django.utils import timezone

BATCH = 1000


def add_missing_checks(apps, schema_editor):
    """Create the checks that no sweep has created yet, in order of submission; the next sweeps enqueue them."""
    checks = apps.get_model("leaderboard", "SimilarityCheck")
    unchecked = (
        apps.get_model("leaderboard", "Prediction")
        .objects.filter(similarity_check=None, runs__state="done", submission__system__kind="participant")
        .order_by("submission__received_at", "pk")
        .distinct()
        .values_list("pk", "submission__phase")
    )
    at = timezone.now()
    rows = [
        checks(prediction_id=prediction, phase_id=phase, queued_at=at, enqueued_at=at - timedelta(days=1))
        for prediction, phase in unchecked
    ]
    checks.objects.bulk_create(rows, batch_size=BATCH)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0052_teaser")]
    operations = [migrations.RunPython(add_missing_checks, migrations.RunPython.noop, elidable=True)]
