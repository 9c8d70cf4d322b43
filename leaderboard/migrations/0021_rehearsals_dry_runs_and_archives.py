"""Dry runs of baselines, rehearsals of phases, and archives that are made and taken in at the desk."""

import django.db.models.deletion
import leaderboard.models.archive
import leaderboard.models.dry_run
import leaderboard.models.submission
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0020_corrections"),
    ]

    operations = [
        migrations.AlterField(
            model_name="benchmark",
            name="state",
            field=models.CharField(
                choices=[("draft", "Draft"), ("public", "Public"), ("rehearsal", "Rehearsal")],
                default="draft",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="historicalbenchmark",
            name="state",
            field=models.CharField(
                choices=[("draft", "Draft"), ("public", "Public"), ("rehearsal", "Rehearsal")],
                default="draft",
                max_length=10,
            ),
        ),
        migrations.CreateModel(
            name="ArchiveArrival",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "file",
                    models.FileField(
                        storage=leaderboard.models.archive.archives_storage,
                        upload_to=leaderboard.models.archive.unguessable_archive,
                    ),
                ),
                ("name", models.CharField(max_length=255)),
                ("sha256", models.CharField(max_length=64)),
                ("bytes", models.PositiveBigIntegerField()),
                ("head", models.JSONField()),
                ("at", models.DateTimeField()),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="ArchiveExport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("rejected", "rejected (the file)"),
                            ("failed", "failed (the server)"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "None"),
                            ("bad_predictions", "the predictions do not fit the format"),
                            ("time", "scoring the file took longer than allowed"),
                            ("memory", "scoring the file took more memory than allowed"),
                            ("output", "scoring the file gave no usable report"),
                            ("exit", "the scorer stopped with an error"),
                            ("bad_gold", "the benchmark's own files are at fault; its organisers are told"),
                            ("bad_report", "the scorer reported impossible numbers"),
                            ("sandbox", "the sandbox could not run"),
                            ("storage", "a stored file is missing or altered"),
                            ("lost", "the workers stopped in the middle, each time"),
                            ("internal", "an error of ours"),
                            ("bad_image", "the image cannot be accepted"),
                            ("system_exit", "the container ended with an error"),
                            ("system_time", "the container reached its time limit"),
                            ("resources", "the container reached its limit of memory, processes or space"),
                            ("system_output", "the container left no predictions that can be used"),
                            ("engine", "the container engine could not run"),
                            ("scorer", "the benchmark's scorer failed; its organisers are told"),
                            ("outdated", "the server is in the middle of an upgrade"),
                            ("withdrawn", "withdrawn"),
                            ("superseded", "another scoring took its place"),
                        ],
                        default="",
                        max_length=20,
                    ),
                ),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("queued_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("recipients", models.TextField(blank=True, help_text="empty: the closed part is left out")),
                ("told", models.JSONField(blank=True, default=list)),
                (
                    "file",
                    models.FileField(
                        blank=True,
                        storage=leaderboard.models.archive.archives_storage,
                        upload_to=leaderboard.models.archive.unguessable_archive,
                    ),
                ),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("bytes", models.PositiveBigIntegerField(default=0)),
                ("rung_at", models.DateTimeField(help_text="when a worker was last told of it")),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="exports", to="leaderboard.benchmark"
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-queued_at", "-id"],
                "indexes": [models.Index(fields=["state", "queued_at"], name="leaderboard_state_8b1197_idx")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["queued", "running", "done", "rejected", "failed", "cancelled"])
                        ),
                        name="archive_export_state_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("finished_at__isnull", False),
                                ("state__in", ("done", "rejected", "failed", "cancelled")),
                            ),
                            models.Q(("finished_at__isnull", True), ("state__in", ("queued", "running"))),
                            _connector="OR",
                        ),
                        name="archive_export_finished_when_terminal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lease_until__isnull", False), ("state", "running")),
                            models.Q(models.Q(("state", "running"), _negated=True), ("lease_until__isnull", True)),
                            _connector="OR",
                        ),
                        name="archive_export_leased_when_running",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ("queued", "running"))),
                        fields=("benchmark", "requested_by"),
                        name="one_export_at_a_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DryRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("rejected", "rejected (the file)"),
                            ("failed", "failed (the server)"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "None"),
                            ("bad_predictions", "the predictions do not fit the format"),
                            ("time", "scoring the file took longer than allowed"),
                            ("memory", "scoring the file took more memory than allowed"),
                            ("output", "scoring the file gave no usable report"),
                            ("exit", "the scorer stopped with an error"),
                            ("bad_gold", "the benchmark's own files are at fault; its organisers are told"),
                            ("bad_report", "the scorer reported impossible numbers"),
                            ("sandbox", "the sandbox could not run"),
                            ("storage", "a stored file is missing or altered"),
                            ("lost", "the workers stopped in the middle, each time"),
                            ("internal", "an error of ours"),
                            ("bad_image", "the image cannot be accepted"),
                            ("system_exit", "the container ended with an error"),
                            ("system_time", "the container reached its time limit"),
                            ("resources", "the container reached its limit of memory, processes or space"),
                            ("system_output", "the container left no predictions that can be used"),
                            ("engine", "the container engine could not run"),
                            ("scorer", "the benchmark's scorer failed; its organisers are told"),
                            ("outdated", "the server is in the middle of an upgrade"),
                            ("withdrawn", "withdrawn"),
                            ("superseded", "another scoring took its place"),
                        ],
                        default="",
                        max_length=20,
                    ),
                ),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("queued_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "kind",
                    models.CharField(choices=[("trivial", "made by the server"), ("file", "uploaded")], max_length=10),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="of evaluator.baselines, or as whoever uploaded it calls it", max_length=120
                    ),
                ),
                (
                    "scored_as",
                    models.CharField(
                        blank=True, help_text="the phase whose options it has; empty: none's", max_length=80
                    ),
                ),
                (
                    "half",
                    models.CharField(blank=True, help_text="of the gold's groups; empty: all of them", max_length=10),
                ),
                ("options", models.JSONField(blank=True, default=dict)),
                ("inputs_sha256", models.CharField(max_length=64)),
                (
                    "file",
                    models.FileField(
                        blank=True,
                        storage=leaderboard.models.submission.predictions_storage,
                        upload_to=leaderboard.models.dry_run.unguessable_dry_run,
                    ),
                ),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("bytes", models.PositiveBigIntegerField(default=0)),
                (
                    "result",
                    models.JSONField(
                        blank=True, default=dict, help_text="primary, scores and groups; empty until done"
                    ),
                ),
                ("rung_at", models.DateTimeField(help_text="when a worker was last told of it")),
                (
                    "gold",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="dry_runs",
                        to="leaderboard.goldversion",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("trains", models.ManyToManyField(blank=True, related_name="+", to="leaderboard.goldversion")),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["state", "queued_at"], name="leaderboard_state_72b6c9_idx")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["queued", "running", "done", "rejected", "failed", "cancelled"])
                        ),
                        name="dry_run_state_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("finished_at__isnull", False),
                                ("state__in", ("done", "rejected", "failed", "cancelled")),
                            ),
                            models.Q(("finished_at__isnull", True), ("state__in", ("queued", "running"))),
                            _connector="OR",
                        ),
                        name="dry_run_finished_when_terminal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lease_until__isnull", False), ("state", "running")),
                            models.Q(models.Q(("state", "running"), _negated=True), ("lease_until__isnull", True)),
                            _connector="OR",
                        ),
                        name="dry_run_leased_when_running",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ("queued", "running", "done"))),
                        fields=("gold", "scored_as", "name"),
                        name="one_dry_run_a_name",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("kind", "file"),
                                models.Q(("file", ""), _negated=True),
                                models.Q(("sha256", ""), _negated=True),
                            ),
                            models.Q(("file", ""), ("kind", "trivial"), ("sha256", "")),
                            _connector="OR",
                        ),
                        name="dry_run_of_a_file_has_one",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Rehearsal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("begun_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "begun_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "benchmark",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rehearsal",
                        to="leaderboard.benchmark",
                    ),
                ),
                (
                    "ended_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "phase",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="rehearsals", to="leaderboard.phase"
                    ),
                ),
                ("testers", models.ManyToManyField(blank=True, related_name="rehearsals", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["-begun_at", "-id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("phase",),
                        name="one_rehearsal_of_a_phase_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("ended_by", None)),
                            models.Q(("ended_at__isnull", False), ("ended_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="rehearsal_ended_by_somebody",
                    ),
                ],
            },
        ),
    ]
