"""What releases told, in rows that a board is sorted and paged by; when a board was shown first; its revision."""

import json
from itertools import chain, islice

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Max

AT_ONCE = 2000


def fill(apps, schema_editor):
    releases = apps.get_model("leaderboard", "Release").objects.order_by("pk").only("pk", "values")
    rows = apps.get_model("leaderboard", "ReleaseSlice").objects
    made = chain.from_iterable(_slices(apps, release) for release in releases.iterator(chunk_size=200))
    while batch := list(islice(made, AT_ONCE)):
        rows.bulk_create(batch)


def _slices(apps, release):
    model = apps.get_model("leaderboard", "ReleaseSlice")
    found = {}
    for score in release.values:
        slice_ = {name: _shown(value) for name, value in score["slice"].items()}
        one = found.setdefault(
            _json(slice_) if slice_ else "",
            model(release=release, dimensions=_json(sorted(slice_)) if slice_ else "", cells={}),
        )
        one.cells[score["measure"]] = [score["value"], score["low"], score["high"], score["n"]]
    for key, one in found.items():
        one.slice_key = key
    return found.values()


def _shown(value):
    return value if isinstance(value, str) else json.dumps(value)


def _json(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def date(apps, schema_editor):
    """A board was shown when the last of the submissions that it was made for had its scores."""
    Release = apps.get_model("leaderboard", "Release")
    for board in apps.get_model("leaderboard", "Leaderboard").objects.filter(state__in=("current", "frozen")):
        earlier = Release.objects.filter(
            phase=board.phase_id,
            run__gold_version=board.gold_version_id,
            run__task_version=board.task_version,
            submission__received_at__lt=board.created_at,
        )
        last = earlier.aggregate(last=Max("released_at"))["last"]
        board.shown_from = max(last or board.created_at, board.created_at)
        board.save(update_fields=["shown_from"])


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0013_teams_deadlines_and_near_copies")]

    operations = [
        migrations.AddField(
            model_name="leaderboard",
            name="shown_from",
            field=models.DateTimeField(help_text="when it became current; null: it never was", null=True),
        ),
        migrations.AddField(
            model_name="leaderboard",
            name="revision",
            field=models.PositiveBigIntegerField(default=0, help_text="counts whatever changed on it"),
        ),
        migrations.CreateModel(
            name="ReleaseSlice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "slice_key",
                    models.CharField(blank=True, help_text="as shown, as canonical JSON; empty: all", max_length=400),
                ),
                (
                    "dimensions",
                    models.CharField(blank=True, help_text="that it names, in order, as a JSON list", max_length=400),
                ),
                ("cells", models.JSONField(help_text="{measure: [value, low, high, n]}")),
                (
                    "release",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="slices",
                        to="leaderboard.release",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("release", "slice_key"), name="release_tells_a_slice_once")
                ],
            },
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunPython(date, migrations.RunPython.noop),
    ]
