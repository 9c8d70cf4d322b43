"""Facts of systems; and boards store the numbers of groups behind a ladder's scores, for the ranges of true scores."""

import json

from django.db import migrations, models


def fill(apps, schema_editor):
    """Copy the numbers of groups from the last released run of each ladder's board; they depend on the gold alone."""
    release_rows = apps.get_model("leaderboard", "Release").objects
    scores = apps.get_model("leaderboard", "Score").objects
    boards = apps.get_model("leaderboard", "Leaderboard").objects.select_related("phase", "gold_version")
    for board in boards.filter(phase__disclosure="ladder"):
        last = release_rows.filter(
            phase=board.phase_id, run__gold_version=board.gold_version_id, run__task_version=board.task_version
        ).order_by("-sequence")
        run = last.values_list("run", flat=True).first()
        groups = {}
        for measure, slice_, n in scores.filter(run=run).order_by("pk").values_list("measure", "slice", "n_groups"):
            if n is None and not slice_ and not board.phase.subset:
                n = board.gold_version.n_groups  # an organiser's scorer counts no groups
            if n:
                groups.setdefault(_key(slice_), {})[measure] = n
        board.slice_groups = groups
        board.save(update_fields=["slice_groups"])


def _key(slice_):
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in slice_.items()}
    return json.dumps(texts, sort_keys=True, ensure_ascii=False, separators=(",", ":")) if texts else ""


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0039_follow_and_profiles")]

    operations = [
        migrations.AddField(
            model_name="leaderboard",
            name="slice_groups",
            field=models.JSONField(
                default=dict,
                help_text="of a ladder: {slice key: {measure: number of groups}}, which set its steps",
            ),
        ),
        *(
            migrations.AddField(
                model_name=model,
                name="facts",
                field=models.JSONField(
                    default=list,
                    blank=True,
                    help_text='facts of systems that it asks for: [{"name", "title", "kind"}]',
                ),
            )
            for model in ("benchmark", "historicalbenchmark")
        ),
        migrations.AddField(
            model_name="system",
            name="facts",
            field=models.JSONField(
                default=dict, blank=True, help_text="{name: value}, for the benchmarks that ask for it"
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
