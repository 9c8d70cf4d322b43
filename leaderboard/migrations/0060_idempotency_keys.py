"""The Idempotency-Key of a submission's request, and the digest of what it submitted."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("leaderboard", "0056_upload_pieces"),
    ]

    operations = [
        migrations.AddField(
            model_name='submission',
            name='idempotency_digest',
            field=models.CharField(blank=True, db_default='', default='', editable=False, help_text='SHA-256', max_length=64, serialize=False),
        ),
        migrations.AddField(
            model_name='submission',
            name='idempotency_key',
            field=models.CharField(blank=True, db_default='', default='', editable=False, help_text='empty: none', max_length=255, serialize=False),
        ),
        migrations.AddConstraint(
            model_name='submission',
            constraint=models.UniqueConstraint(condition=models.Q(('idempotency_key', ''), _negated=True), fields=('submitted_by', 'idempotency_key'), name='submission_once_a_key'),
        ),
    ]
