"""Corrections that wait for a word, and what switches of boards moved."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import leaderboard.models.dataset


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0019_history_of_records"),
    ]

    operations = [
        migrations.CreateModel(
            name="Move",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("measure", models.CharField(help_text="that ranks the board", max_length=60)),
                ("rank_before", models.PositiveIntegerField(null=True)),
                ("value_before", models.FloatField(null=True)),
                ("rank", models.PositiveIntegerField(null=True)),
                ("value", models.FloatField(null=True)),
                (
                    "leaderboard",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="moves", to="leaderboard.leaderboard"
                    ),
                ),
                (
                    "replaced",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.leaderboard"
                    ),
                ),
                (
                    "system",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="moves", to="leaderboard.system"
                    ),
                ),
            ],
            options={
                "ordering": ["-leaderboard__shown_from", "rank", "id"],
            },
        ),
        migrations.CreateModel(
            name="Correction",
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
                ("name", models.CharField(help_text="of the file that was uploaded", max_length=255)),
                (
                    "file",
                    models.FileField(
                        blank=True,
                        storage=leaderboard.models.dataset.gold_storage,
                        upload_to=leaderboard.models.dataset.unguessable_name,
                    ),
                ),
                ("sha256", models.CharField(max_length=64)),
                ("bytes", models.PositiveBigIntegerField()),
                ("inputs_sha256", models.CharField(help_text="of the inputs that it gives", max_length=64)),
                (
                    "counts",
                    models.JSONField(blank=True, default=dict, help_text="of items by what changed; empty until done"),
                ),
                ("rung_at", models.DateTimeField(help_text="when a worker was last told of it")),
                ("expires_at", models.DateTimeField()),
                (
                    "fate",
                    models.CharField(
                        choices=[
                            ("pending", "waits for a word"),
                            ("confirmed", "Confirmed"),
                            ("dropped", "Dropped"),
                            ("expired", "Expired"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("tells_count", models.BooleanField(default=False, help_text="everybody reads how many items changed")),
                (
                    "base",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="corrected_by",
                        to="leaderboard.goldversion",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "gold",
                    models.OneToOneField(
                        help_text="the version it became",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="correction",
                        to="leaderboard.goldversion",
                    ),
                ),
                (
                    "split",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="corrections", to="leaderboard.split"
                    ),
                ),
            ],
            options={
                "ordering": ["-queued_at", "-id"],
                "indexes": [models.Index(fields=["state", "queued_at"], name="leaderboard_state_c4ef18_idx")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["queued", "running", "done", "rejected", "failed", "cancelled"])
                        ),
                        name="correction_state_is_known",
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
                        name="correction_finished_when_terminal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lease_until__isnull", False), ("state", "running")),
                            models.Q(models.Q(("state", "running"), _negated=True), ("lease_until__isnull", True)),
                            _connector="OR",
                        ),
                        name="correction_leased_when_running",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("fate", "pending")),
                        fields=("split",),
                        name="one_pending_correction_a_split",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at", None), ("fate", "pending")),
                            models.Q(models.Q(("fate", "pending"), _negated=True), ("decided_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="correction_decided_at_a_moment",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("fate", "confirmed"), ("gold__isnull", False)),
                            models.Q(models.Q(("fate", "confirmed"), _negated=True), ("gold", None)),
                            _connector="OR",
                        ),
                        name="confirmed_correction_is_a_version",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ChangedItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("place", models.PositiveIntegerField(help_text="among the changed ones, from 0")),
                ("item", models.TextField(help_text='its id, as JSON: 1 and "1" are two')),
                (
                    "line",
                    models.PositiveIntegerField(help_text="in the file; of what was removed, in the version before"),
                ),
                ("kinds", models.CharField(help_text="what changed of it, as |answer|slices|", max_length=120)),
                ("changes", models.JSONField(help_text='[{"kind", "field", "before", "after"}]')),
                (
                    "correction",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="leaderboard.correction",
                    ),
                ),
            ],
            options={
                "ordering": ["correction", "place"],
                "constraints": [
                    models.UniqueConstraint(fields=("correction", "place"), name="one_changed_item_a_place")
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="move",
            constraint=models.UniqueConstraint(fields=("leaderboard", "system"), name="one_move_a_board_and_system"),
        ),
    ]
