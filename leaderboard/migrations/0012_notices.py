"""An outbox of mails and webhook calls about finished submissions; a switch for the mails."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import leaderboard.models.notice


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0011_systems_in_public"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="mailed_since",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="submissions that end from then on are mailed; null: none",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("url", models.URLField(max_length=500)),
                ("salt", models.CharField(default=leaderboard.models.notice.new_salt, editable=False, max_length=32)),
                ("created_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="webhooks",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["created_at"],
            },
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("subject", models.UUIDField()),
                ("body", models.JSONField()),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "Queued"), ("done", "delivered"), ("failed", "given up")],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("due_at", models.DateTimeField()),
                ("answer", models.CharField(blank=True, help_text="what the last attempt came to", max_length=100)),
                ("created_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "submission",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to="leaderboard.submission",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="notices", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "webhook",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to="leaderboard.webhook",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.UniqueConstraint(fields=("user", "url"), name="webhook_once_a_person"),
        ),
        migrations.AddIndex(
            model_name="notice",
            index=models.Index(fields=["state", "due_at"], name="leaderboard_state_a027ed_idx"),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(
                condition=models.Q(("webhook", None)), fields=("user", "subject"), name="one_mail_a_person_and_end"
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(fields=("webhook", "subject"), name="one_call_a_webhook_and_end"),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("finished_at", None), ("state", "queued")),
                    models.Q(models.Q(("state", "queued"), _negated=True), ("finished_at__isnull", False)),
                    _connector="OR",
                ),
                name="notice_finished_when_over",
            ),
        ),
    ]
