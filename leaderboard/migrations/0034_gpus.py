"""GPUs that a phase asks for and that a worker offers; `gpus` in a phase's limits becomes a column."""

from django.core.validators import MaxValueValidator
from django.db import migrations, models

MAX_GPUS = 16


def move_out_of_limits(apps, schema_editor):
    for phase in apps.get_model("leaderboard", "Phase").objects.filter(limits__has_key="gpus"):
        phase.gpus = min(max(int(phase.limits.pop("gpus")), 0), MAX_GPUS)
        phase.save(update_fields=["limits", "gpus"])


def gpus():
    return models.PositiveSmallIntegerField(
        default=0, validators=[MaxValueValidator(MAX_GPUS)], help_text="number of GPUs of each container; 0: none"
    )


def gpu_memory_gb():
    return models.PositiveSmallIntegerField(
        default=0,
        validators=[MaxValueValidator(1000)],
        help_text="GB (10^9 bytes) of memory that each of these GPUs has at least; 0: any",
    )


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0033_placement")]
    operations = [
        migrations.AddField(model_name="historicalphase", name="gpus", field=gpus()),
        migrations.AddField(model_name="historicalphase", name="gpu_memory_gb", field=gpu_memory_gb()),
        migrations.AddField(model_name="phase", name="gpus", field=gpus()),
        migrations.AddField(model_name="phase", name="gpu_memory_gb", field=gpu_memory_gb()),
        migrations.AddField(
            model_name="workerreport",
            name="gpus",
            field=models.PositiveSmallIntegerField(default=0, help_text="number of GPUs that it offers to containers"),
        ),
        migrations.AddField(
            model_name="workerreport",
            name="gpu_memory_gb",
            field=models.PositiveSmallIntegerField(
                default=0, help_text="memory of the smallest of these GPUs in GB (10^9 bytes), rounded down"
            ),
        ),
        migrations.AlterField(
            model_name="prediction",
            name="cost",
            field=models.JSONField(
                blank=True, default=dict, help_text="wall, cpu, gpu (s), memory, image (bytes) as measured"
            ),
        ),
        migrations.RunPython(move_out_of_limits, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="phase",
            constraint=models.CheckConstraint(
                condition=models.Q(gpus=0, gpu_memory_gb=0) | models.Q(gpus__gte=1, gpus__lte=MAX_GPUS),
                name="phase_gpus_in_range",
            ),
        ),
    ]
