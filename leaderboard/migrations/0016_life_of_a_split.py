"""Splits have a life: draft, published, retired. Those that are there were published when they were made."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def publish_what_is_there(apps, schema_editor):
    """Everybody has been able to read them, audited or not."""
    Split = apps.get_model("leaderboard", "Split")
    Split.objects.update(state="published", published_at=models.F("created_at"))


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0015_drawings"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("finding", models.PositiveSmallIntegerField(help_text="its place in the report, from 0")),
                ("text", models.TextField()),
                ("at", models.DateTimeField()),
            ],
            options={
                "ordering": ["audit", "finding"],
            },
        ),
        migrations.CreateModel(
            name="SplitAudit",
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
                ("inputs_sha256", models.CharField(blank=True, help_text="of the inputs that it saw", max_length=64)),
                (
                    "options",
                    models.JSONField(blank=True, default=dict, help_text="the task's options that it was made with"),
                ),
                (
                    "code_sha256",
                    models.CharField(blank=True, help_text="of the referee that told its parts", max_length=64),
                ),
                (
                    "parts",
                    models.JSONField(blank=True, default=list, help_text="what its parts told so far, in their order"),
                ),
                (
                    "report",
                    models.JSONField(
                        blank=True, default=dict, help_text="of evaluator.curation.audit; empty until done"
                    ),
                ),
                ("rung_at", models.DateTimeField(help_text="when a worker was last told of it")),
                (
                    "accepted_at",
                    models.DateTimeField(blank=True, help_text="when it became public, with its answers", null=True),
                ),
            ],
            options={
                "ordering": ["-queued_at", "-id"],
            },
        ),
        migrations.AddField(
            model_name="split",
            name="published_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="split",
            name="retired_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="split",
            name="retired_reason",
            field=models.CharField(blank=True, help_text="everybody reads it", max_length=500),
        ),
        migrations.AddField(
            model_name="split",
            name="state",
            field=models.CharField(
                choices=[("draft", "Draft"), ("published", "Published"), ("retired", "Retired")],
                default="draft",
                max_length=10,
            ),
        ),
        migrations.RunPython(publish_what_is_there, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="split",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("published_at", None), ("state", "draft")),
                    models.Q(("published_at__isnull", False), ("state__in", ("published", "retired"))),
                    _connector="OR",
                ),
                name="split_published_at_a_moment",
            ),
        ),
        migrations.AddConstraint(
            model_name="split",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("retired_at__isnull", False),
                        ("state", "retired"),
                        models.Q(("retired_reason", ""), _negated=True),
                    ),
                    models.Q(
                        models.Q(("state", "retired"), _negated=True), ("retired_at", None), ("retired_reason", "")
                    ),
                    _connector="OR",
                ),
                name="split_retired_with_a_reason",
            ),
        ),
        migrations.AddField(
            model_name="auditanswer",
            name="by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="splitaudit",
            name="accepted_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="splitaudit",
            name="gold",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="audits", to="leaderboard.goldversion"
            ),
        ),
        migrations.AddField(
            model_name="splitaudit",
            name="requested_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="splitaudit",
            name="trains",
            field=models.ManyToManyField(blank=True, related_name="+", to="leaderboard.goldversion"),
        ),
        migrations.AddField(
            model_name="auditanswer",
            name="audit",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="answers", to="leaderboard.splitaudit"
            ),
        ),
        migrations.AddIndex(
            model_name="splitaudit",
            index=models.Index(fields=["state", "queued_at"], name="leaderboard_state_578d5a_idx"),
        ),
        migrations.AddConstraint(
            model_name="splitaudit",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["queued", "running", "done", "rejected", "failed", "cancelled"])),
                name="split_audit_state_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="splitaudit",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("finished_at__isnull", False), ("state__in", ("done", "rejected", "failed", "cancelled"))
                    ),
                    models.Q(("finished_at__isnull", True), ("state__in", ("queued", "running"))),
                    _connector="OR",
                ),
                name="split_audit_finished_when_terminal",
            ),
        ),
        migrations.AddConstraint(
            model_name="splitaudit",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("lease_until__isnull", False), ("state", "running")),
                    models.Q(models.Q(("state", "running"), _negated=True), ("lease_until__isnull", True)),
                    _connector="OR",
                ),
                name="split_audit_leased_when_running",
            ),
        ),
        migrations.AddConstraint(
            model_name="splitaudit",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ("queued", "running"))),
                fields=("gold",),
                name="one_audit_of_a_gold_at_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="splitaudit",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("accepted_at", None), ("accepted_by", None)),
                    models.Q(("accepted_at__isnull", False), ("state", "done")),
                    _connector="OR",
                ),
                name="split_audit_public_when_done",
            ),
        ),
        migrations.AddConstraint(
            model_name="auditanswer",
            constraint=models.UniqueConstraint(fields=("audit", "finding"), name="one_answer_a_finding"),
        ),
        migrations.AddConstraint(
            model_name="auditanswer",
            constraint=models.CheckConstraint(
                condition=models.Q(("text", ""), _negated=True), name="audit_answer_says_something"
            ),
        ),
    ]
