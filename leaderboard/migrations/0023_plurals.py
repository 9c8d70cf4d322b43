"""More than one of an audit entry, a likeness and a near-copy, as the admin says it."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0022_raw_files_and_generations"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="auditentry",
            options={"ordering": ["-at", "-id"], "verbose_name_plural": "audit entries"},
        ),
        migrations.AlterModelOptions(
            name="likeness",
            options={"verbose_name_plural": "likenesses"},
        ),
        migrations.AlterModelOptions(
            name="nearcopy",
            options={"ordering": ["-found_at"], "verbose_name_plural": "near-copies"},
        ),
    ]
