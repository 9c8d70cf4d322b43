"""Access to a benchmark, registrations of teams, agreements to rules, and exports with a passphrase."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0035_benchmark_pages"),
    ]

    operations = [
        migrations.CreateModel(
            name="Registration",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[("requested", "Requested"), ("approved", "Approved"), ("declined", "Declined")],
                        default="requested",
                        max_length=10,
                    ),
                ),
                ("message", models.CharField(blank=True, help_text="from the team to the organisers", max_length=500)),
                ("requested_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-requested_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="RulesAgreement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "rules_sha256",
                    models.CharField(help_text="digest of the rules' text (Benchmark.rules_sha256)", max_length=64),
                ),
                ("agreed_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["-agreed_at", "-id"],
            },
        ),
        migrations.AddField(
            model_name="benchmark",
            name="access",
            field=models.CharField(
                choices=[
                    ("open", "everybody"),
                    ("approval", "teams that the organisers approve"),
                    ("invited", "invited teams, and only they can see it"),
                ],
                default="open",
                help_text="who may submit",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="benchmark",
            name="asks_agreement",
            field=models.BooleanField(default=False, help_text="participants agree to the rules before they submit"),
        ),
        migrations.AddField(
            model_name="historicalbenchmark",
            name="access",
            field=models.CharField(
                choices=[
                    ("open", "everybody"),
                    ("approval", "teams that the organisers approve"),
                    ("invited", "invited teams, and only they can see it"),
                ],
                default="open",
                help_text="who may submit",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="historicalbenchmark",
            name="asks_agreement",
            field=models.BooleanField(default=False, help_text="participants agree to the rules before they submit"),
        ),
        migrations.AlterField(
            model_name="benchmark",
            name="state",
            field=models.CharField(
                choices=[("draft", "Draft"), ("public", "Public"), ("private", "Private"), ("rehearsal", "Rehearsal")],
                default="draft",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="historicalbenchmark",
            name="state",
            field=models.CharField(
                choices=[("draft", "Draft"), ("public", "Public"), ("private", "Private"), ("rehearsal", "Rehearsal")],
                default="draft",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="benchmark",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state__in", ["public", "private"]), _negated=True),
                    models.Q(("state", "public"), models.Q(("access", "invited"), _negated=True)),
                    models.Q(("access", "invited"), ("state", "private")),
                    _connector="OR",
                ),
                name="benchmark_private_for_invited_teams",
            ),
        ),
        migrations.AddField(
            model_name="registration",
            name="benchmark",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="registrations", to="leaderboard.benchmark"
            ),
        ),
        migrations.AddField(
            model_name="registration",
            name="decided_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="registration",
            name="requested_by",
            field=models.ForeignKey(
                help_text="null: no request",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="registration",
            name="team",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="registrations", to="leaderboard.team"
            ),
        ),
        migrations.AddField(
            model_name="rulesagreement",
            name="benchmark",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="agreements", to="leaderboard.benchmark"
            ),
        ),
        migrations.AddField(
            model_name="rulesagreement",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddConstraint(
            model_name="registration",
            constraint=models.UniqueConstraint(fields=("benchmark", "team"), name="one_registration_a_team"),
        ),
        migrations.AddConstraint(
            model_name="registration",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decided_at", None), ("state", "requested")),
                    models.Q(models.Q(("state", "requested"), _negated=True), ("decided_at__isnull", False)),
                    _connector="OR",
                ),
                name="registration_decided_at_a_moment",
            ),
        ),
        migrations.AddConstraint(
            model_name="rulesagreement",
            constraint=models.UniqueConstraint(
                fields=("benchmark", "user", "rules_sha256"), name="agreed_once_to_a_version"
            ),
        ),
        migrations.AddField(
            model_name="archiveexport",
            name="protected_key",
            field=models.BinaryField(
                default=b"", help_text="secret key of the first recipient, encrypted with a passphrase; empty: none"
            ),
        ),
    ]
