"""Systems in public: anonymity, disqualification, the submission that stands for one, two of them side by side."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0010_arrivals"),
    ]

    operations = [
        migrations.CreateModel(
            name="Disqualification",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.CharField(help_text="shown to everybody", max_length=300)),
                ("made_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["phase", "made_at"],
            },
        ),
        migrations.CreateModel(
            name="Representative",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chosen_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["phase", "chosen_at"],
            },
        ),
        migrations.CreateModel(
            name="SideBySide",
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
                ("rung_at", models.DateTimeField(help_text="when a worker was last told of it")),
                (
                    "report",
                    models.JSONField(
                        default=dict, help_text="what evaluator.jobs reports of the two; empty until done"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="standing",
            name="disqualified",
            field=models.CharField(blank=True, help_text="the public reason; empty: it is not", max_length=300),
        ),
        migrations.AddField(
            model_name="system",
            name="anonymous_number",
            field=models.PositiveIntegerField(
                blank=True, help_text='the N of "Anonymous N"; kept once it was given', null=True, unique=True
            ),
        ),
        migrations.AddField(
            model_name="system",
            name="anonymous_until",
            field=models.DateTimeField(
                blank=True, help_text="until then boards show it under its number; null: under its name", null=True
            ),
        ),
        migrations.AddField(
            model_name="system",
            name="bibtex",
            field=models.TextField(blank=True, help_text="how to cite it"),
        ),
        migrations.AddConstraint(
            model_name="standing",
            constraint=models.CheckConstraint(
                condition=models.Q(("disqualified", ""), ("rank", None), _connector="OR"),
                name="disqualified_has_no_rank",
            ),
        ),
        migrations.AddConstraint(
            model_name="system",
            constraint=models.CheckConstraint(
                condition=models.Q(("anonymous_until", None), ("anonymous_number__isnull", False), _connector="OR"),
                name="system_anonymous_has_a_number",
            ),
        ),
        migrations.AddField(
            model_name="disqualification",
            name="made_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="disqualification",
            name="phase",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="disqualifications", to="leaderboard.phase"
            ),
        ),
        migrations.AddField(
            model_name="disqualification",
            name="system",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="disqualifications", to="leaderboard.system"
            ),
        ),
        migrations.AddField(
            model_name="representative",
            name="chosen_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="representative",
            name="phase",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="representatives", to="leaderboard.phase"
            ),
        ),
        migrations.AddField(
            model_name="representative",
            name="submission",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="leaderboard.submission"
            ),
        ),
        migrations.AddField(
            model_name="representative",
            name="system",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="representatives", to="leaderboard.system"
            ),
        ),
        migrations.AddField(
            model_name="sidebyside",
            name="a",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.run"
            ),
        ),
        migrations.AddField(
            model_name="sidebyside",
            name="b",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.run"
            ),
        ),
        migrations.AddField(
            model_name="sidebyside",
            name="leaderboard",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="side_by_sides", to="leaderboard.leaderboard"
            ),
        ),
        migrations.AddConstraint(
            model_name="disqualification",
            constraint=models.UniqueConstraint(
                fields=("phase", "system"), name="one_disqualification_a_phase_and_system"
            ),
        ),
        migrations.AddConstraint(
            model_name="disqualification",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="disqualification_has_a_reason"
            ),
        ),
        migrations.AddConstraint(
            model_name="representative",
            constraint=models.UniqueConstraint(
                fields=("phase", "system"), name="one_representative_a_phase_and_system"
            ),
        ),
        migrations.AddIndex(
            model_name="sidebyside",
            index=models.Index(fields=["state", "queued_at"], name="leaderboard_state_0af0e4_idx"),
        ),
        migrations.AddConstraint(
            model_name="sidebyside",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["queued", "running", "done", "rejected", "failed", "cancelled"])),
                name="side_by_side_state_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="sidebyside",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("finished_at__isnull", False), ("state__in", ("done", "rejected", "failed", "cancelled"))
                    ),
                    models.Q(("finished_at__isnull", True), ("state__in", ("queued", "running"))),
                    _connector="OR",
                ),
                name="side_by_side_finished_when_terminal",
            ),
        ),
        migrations.AddConstraint(
            model_name="sidebyside",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("lease_until__isnull", False), ("state", "running")),
                    models.Q(models.Q(("state", "running"), _negated=True), ("lease_until__isnull", True)),
                    _connector="OR",
                ),
                name="side_by_side_leased_when_running",
            ),
        ),
        migrations.AddConstraint(
            model_name="sidebyside",
            constraint=models.UniqueConstraint(fields=("a", "b"), name="one_side_by_side_a_pair"),
        ),
        migrations.AddConstraint(
            model_name="sidebyside",
            constraint=models.CheckConstraint(
                condition=models.Q(("a__lt", models.F("b"))), name="side_by_side_of_two_runs_in_order"
            ),
        ),
    ]
