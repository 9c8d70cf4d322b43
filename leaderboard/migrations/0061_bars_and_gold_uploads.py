"""Bars: teams that organisers have removed, and their people. Large gold files that a worker checks."""

import django.db.models.deletion
import leaderboard.models.dataset
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("leaderboard", "0060_idempotency_keys"),
    ]

    operations = [
        migrations.CreateModel(
            name='Bar',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('team_name', models.CharField(help_text='when it was barred', max_length=100)),
                ('barred_at', models.DateTimeField()),
                ('barred_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bars', to='leaderboard.benchmark')),
                ('people', models.ManyToManyField(blank=True, related_name='bars', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(help_text='null: it was deleted', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='bars', to='leaderboard.team')),
            ],
            options={
                'ordering': ['-barred_at', '-id'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'team'), name='one_bar_a_team')],
            },
        ),
        migrations.CreateModel(
            name='GoldUpload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('rejected', 'rejected (the file)'), ('failed', 'failed (the server)'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('reason', models.CharField(blank=True, choices=[('', 'None'), ('bad_predictions', 'the predictions do not fit the format'), ('time', 'scoring the file took longer than allowed'), ('memory', 'scoring the file took more memory than allowed'), ('output', 'scoring the file produced no usable report'), ('exit', 'the scorer stopped with an error'), ('bad_gold', "the benchmark's own files are at fault; its organisers are notified"), ('bad_report', 'the scorer reported impossible numbers'), ('sandbox', 'the sandbox could not run'), ('storage', 'a stored file is missing or altered'), ('lost', 'every attempt was interrupted'), ('internal', 'an internal error'), ('bad_image', 'the image cannot be accepted'), ('system_exit', 'the container ended with an error'), ('system_time', 'the container reached its time limit'), ('resources', 'the container reached its limit of memory, processes or space'), ('system_output', 'the container wrote no usable predictions'), ('engine', 'the container engine could not run'), ('scorer', "the benchmark's scorer failed; its organisers are notified"), ('outdated', 'the server is being upgraded'), ('withdrawn', 'withdrawn'), ('superseded', 'replaced by another scoring')], default='', max_length=20)),
                ('attempt', models.PositiveSmallIntegerField(default=0)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('queued_at', models.DateTimeField()),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('name', models.CharField(help_text='of the file that was uploaded', max_length=255)),
                ('file', models.FileField(blank=True, storage=leaderboard.models.dataset.gold_storage, upload_to=leaderboard.models.dataset.unguessable_name)),
                ('sha256', models.CharField(max_length=64)),
                ('bytes', models.PositiveBigIntegerField()),
                ('version_reason', models.CharField(blank=True, help_text='of the gold version it becomes', max_length=1000)),
                ('enqueued_at', models.DateTimeField(help_text='when it was last enqueued for a worker')),
                ('message', models.TextField(blank=True, help_text='why it was refused')),
                ('problems', models.JSONField(blank=True, default=list, help_text='its invalid lines, if it was refused')),
                ('more', models.PositiveIntegerField(default=0, help_text='number of problems that are not in `problems`')),
                ('correction', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='upload', to='leaderboard.correction')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('gold', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='upload', to='leaderboard.goldversion')),
                ('split', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_uploads', to='leaderboard.split')),
            ],
            options={
                'ordering': ['-queued_at', '-id'],
                'indexes': [models.Index(fields=['state', 'queued_at'], name='leaderboard_state_63d0cd_idx')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'rejected', 'failed', 'cancelled'])), name='gold_upload_state_is_known'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', False), ('state__in', ('done', 'rejected', 'failed', 'cancelled'))), models.Q(('finished_at__isnull', True), ('state__in', ('queued', 'running'))), _connector='OR'), name='gold_upload_finished_when_terminal'), models.CheckConstraint(condition=models.Q(models.Q(('lease_until__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('lease_until__isnull', True)), _connector='OR'), name='gold_upload_leased_when_running')],
            },
        ),
    ]
