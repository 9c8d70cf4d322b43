"""The import of an archive is background work; a passphrase is kept, encrypted, until a worker has used it."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0053_similarity_checks"),
    ]

    operations = [
        migrations.AddField(
            model_name="archiveexport",
            name="sealed_passphrase",
            field=models.BinaryField(
                help_text="the passphrase, encrypted with SECRET_KEY, until a worker has made `protected_key`",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="attempt",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="enqueued_at",
            field=models.DateTimeField(
                db_default=django.db.models.functions.datetime.Now(), help_text="when it was last enqueued for a worker"
            ),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="finished_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="imported_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="is_checked",
            field=models.BooleanField(db_default=False, default=False, help_text="its readable part is unaltered"),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="lease_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="problems",
            field=models.JSONField(blank=True, db_default=[], default=list),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="progress",
            field=models.JSONField(blank=True, db_default=[], default=list),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="queued_at",
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("", "None"),
                    ("bad_predictions", "the predictions do not fit the format"),
                    ("time", "scoring the file took longer than allowed"),
                    ("memory", "scoring the file took more memory than allowed"),
                    ("output", "scoring the file produced no usable report"),
                    ("exit", "the scorer stopped with an error"),
                    ("bad_gold", "the benchmark's own files are at fault; its organisers are notified"),
                    ("bad_report", "the scorer reported impossible numbers"),
                    ("sandbox", "the sandbox could not run"),
                    ("storage", "a stored file is missing or altered"),
                    ("lost", "every attempt was interrupted"),
                    ("internal", "an internal error"),
                    ("bad_image", "the image cannot be accepted"),
                    ("system_exit", "the container ended with an error"),
                    ("system_time", "the container reached its time limit"),
                    ("resources", "the container reached its limit of memory, processes or space"),
                    ("system_output", "the container wrote no usable predictions"),
                    ("engine", "the container engine could not run"),
                    ("scorer", "the benchmark's scorer failed; its organisers are notified"),
                    ("outdated", "the server is being upgraded"),
                    ("withdrawn", "withdrawn"),
                    ("superseded", "replaced by another scoring"),
                ],
                db_default="",
                default="",
                max_length=20,
            ),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="result",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="sealed_key",
            field=models.BinaryField(
                help_text="the key that a curator entered, encrypted with SECRET_KEY; null unless in use",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="started_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="archiveimport",
            name="state",
            field=models.CharField(
                choices=[
                    ("queued", "Queued"),
                    ("running", "Running"),
                    ("done", "Done"),
                    ("rejected", "rejected (the file)"),
                    ("failed", "failed (the server)"),
                    ("cancelled", "Cancelled"),
                ],
                db_default="queued",
                default="queued",
                max_length=10,
            ),
        ),
        migrations.AddIndex(
            model_name="archiveimport",
            index=models.Index(fields=["state", "queued_at"], name="leaderboard_state_5f299c_idx"),
        ),
        migrations.AddConstraint(
            model_name="archiveimport",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["queued", "running", "done", "rejected", "failed", "cancelled"])),
                name="archive_import_state_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="archiveimport",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("finished_at__isnull", False), ("state__in", ("done", "rejected", "failed", "cancelled"))
                    ),
                    models.Q(("finished_at__isnull", True), ("state__in", ("queued", "running"))),
                    _connector="OR",
                ),
                name="archive_import_finished_when_terminal",
            ),
        ),
        migrations.AddConstraint(
            model_name="archiveimport",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("lease_until__isnull", False), ("state", "running")),
                    models.Q(models.Q(("state", "running"), _negated=True), ("lease_until__isnull", True)),
                    _connector="OR",
                ),
                name="archive_import_leased_when_running",
            ),
        ),
    ]
