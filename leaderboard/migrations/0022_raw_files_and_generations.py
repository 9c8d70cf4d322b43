"""Raw files of datasets, and what generators make of them.

It was once landed as 0021_raw_files_and_generations. A database that has it under that name already has its tables.
"""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.migrations.recorder import MigrationRecorder

import leaderboard.models.dataset
import leaderboard.models.raw_file


class Migration(migrations.Migration):
    def apply(self, project_state, schema_editor, collect_sql=False):
        applied = MigrationRecorder(schema_editor.connection).applied_migrations()
        if ("leaderboard", "0021_raw_files_and_generations") in applied:
            return self.mutate_state(project_state)
        return super().apply(project_state, schema_editor, collect_sql)

    dependencies = [
        ("leaderboard", "0021_rehearsals_dry_runs_and_archives"),
    ]

    operations = [
        migrations.AlterField(
            model_name="imageupload",
            name="name",
            field=models.CharField(help_text="the file's name, for messages", max_length=255),
        ),
        migrations.CreateModel(
            name="Generation",
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
                ("generator", models.CharField(help_text="a name in evaluator.curation.generators.catalog", max_length=60)),
                ("version", models.PositiveSmallIntegerField(help_text="of the generator")),
                ("parameters", models.JSONField(default=dict, help_text="its own, as they were filled in")),
                (
                    "options",
                    models.JSONField(blank=True, default=dict, help_text="the task's options of the splits to be"),
                ),
                ("seed", models.PositiveBigIntegerField(help_text="of every draw; as secret as gold")),
                ("salt", models.CharField(help_text="of the ids that it makes; as secret as gold", max_length=64)),
                ("code_sha256", models.CharField(blank=True, help_text="of the referee that made it", max_length=64)),
                (
                    "report",
                    models.JSONField(blank=True, default=dict, help_text="what the generator told; empty until it has"),
                ),
                (
                    "problems",
                    models.JSONField(blank=True, default=list, help_text="lines at fault, where it was rejected"),
                ),
                ("more_problems", models.PositiveIntegerField(default=0)),
                ("rung_at", models.DateTimeField(help_text="when a worker was last told of it")),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="generations",
                        to="leaderboard.dataset",
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
            ],
            options={
                "ordering": ["-queued_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="GeneratedPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("place", models.PositiveSmallIntegerField(help_text="in the generator's order, from 0")),
                ("name", models.SlugField(max_length=80)),
                ("sha256", models.CharField(max_length=64)),
                ("bytes", models.PositiveBigIntegerField()),
                (
                    "facts",
                    models.JSONField(
                        default=dict, help_text="units, groups, slices, label balance; empty until checked"
                    ),
                ),
                ("first", models.JSONField(default=list, help_text="its first lines, as [inputs, gold]")),
                (
                    "split",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="generated",
                        to="leaderboard.split",
                    ),
                ),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="leaderboard.generation"
                    ),
                ),
            ],
            options={
                "ordering": ["generation", "place"],
            },
        ),
        migrations.CreateModel(
            name="RawFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(help_text="as it was called where it came from", max_length=255)),
                (
                    "file",
                    models.FileField(
                        storage=leaderboard.models.dataset.gold_storage, upload_to=leaderboard.models.raw_file.raw_name
                    ),
                ),
                ("sha256", models.CharField(max_length=64)),
                ("bytes", models.PositiveBigIntegerField()),
                ("uploaded_at", models.DateTimeField()),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="raw_files", to="leaderboard.dataset"
                    ),
                ),
                (
                    "uploaded_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["dataset", "id"],
            },
        ),
        migrations.CreateModel(
            name="GeneratedFrom",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("role", models.CharField(max_length=60)),
                ("place", models.PositiveSmallIntegerField(help_text="among the generation's files, from 0")),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sources", to="leaderboard.generation"
                    ),
                ),
                (
                    "raw",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="uses", to="leaderboard.rawfile"
                    ),
                ),
            ],
            options={
                "ordering": ["generation", "place"],
            },
        ),
        migrations.CreateModel(
            name="RawUpload",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(help_text="the file's name, for messages", max_length=255)),
                ("bytes", models.PositiveBigIntegerField(help_text="announced")),
                ("sha256", models.CharField(blank=True, help_text="announced, if the sender knows it", max_length=64)),
                ("received", models.PositiveBigIntegerField(default=0)),
                ("pieces", models.JSONField(default=list, help_text="stored names, in order")),
                ("began_at", models.DateTimeField(auto_now_add=True)),
                ("touched_at", models.DateTimeField(auto_now=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="raw_uploads",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="raw_uploads",
                        to="leaderboard.dataset",
                    ),
                ),
            ],
            options={
                "ordering": ["-began_at"],
            },
        ),
        migrations.AddIndex(
            model_name="generation",
            index=models.Index(fields=["state", "queued_at"], name="leaderboard_state_5a194e_idx"),
        ),
        migrations.AddConstraint(
            model_name="generation",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["queued", "running", "done", "rejected", "failed", "cancelled"])),
                name="generation_state_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="generation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("finished_at__isnull", False), ("state__in", ("done", "rejected", "failed", "cancelled"))
                    ),
                    models.Q(("finished_at__isnull", True), ("state__in", ("queued", "running"))),
                    _connector="OR",
                ),
                name="generation_finished_when_terminal",
            ),
        ),
        migrations.AddConstraint(
            model_name="generation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("lease_until__isnull", False), ("state", "running")),
                    models.Q(models.Q(("state", "running"), _negated=True), ("lease_until__isnull", True)),
                    _connector="OR",
                ),
                name="generation_leased_when_running",
            ),
        ),
        migrations.AddConstraint(
            model_name="generatedpart",
            constraint=models.UniqueConstraint(fields=("generation", "place"), name="one_part_a_place"),
        ),
        migrations.AddConstraint(
            model_name="generatedpart",
            constraint=models.UniqueConstraint(fields=("generation", "name"), name="one_part_a_name"),
        ),
        migrations.AddConstraint(
            model_name="generatedpart",
            constraint=models.CheckConstraint(
                condition=models.Q(("sha256", ""), _negated=True), name="generated_part_has_a_digest"
            ),
        ),
        migrations.AddConstraint(
            model_name="rawfile",
            constraint=models.UniqueConstraint(fields=("dataset", "sha256"), name="raw_content_once_a_dataset"),
        ),
        migrations.AddConstraint(
            model_name="rawfile",
            constraint=models.CheckConstraint(condition=models.Q(("bytes__gte", 1)), name="raw_file_has_bytes"),
        ),
        migrations.AddConstraint(
            model_name="generatedfrom",
            constraint=models.UniqueConstraint(fields=("generation", "place"), name="one_source_a_place"),
        ),
        migrations.AddConstraint(
            model_name="rawupload",
            constraint=models.CheckConstraint(condition=models.Q(("bytes__gte", 1)), name="raw_upload_has_bytes"),
        ),
        migrations.AddConstraint(
            model_name="rawupload",
            constraint=models.CheckConstraint(
                condition=models.Q(("received__lte", models.F("bytes"))), name="raw_upload_within_its_size"
            ),
        ),
    ]
