"""Plots as static pictures, and their rendering."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0040_fact_columns'),
    ]

    operations = [
        migrations.CreateModel(
            name='PlotPicture',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('plot', models.CharField(help_text='its name in leaderboard/plots/catalog.py', max_length=20)),
                ('digest', models.CharField(help_text='SHA-256 of the specification', max_length=64)),
                ('svg', models.TextField()),
                ('png', models.BinaryField()),
                ('leaderboard', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='plot_pictures', to='leaderboard.leaderboard')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('leaderboard', 'plot'), name='one_picture_a_plot')],
            },
        ),
        migrations.CreateModel(
            name='PlotRendering',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('rejected', 'rejected (the file)'), ('failed', 'failed (the server)'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('reason', models.CharField(blank=True, choices=[('', 'None'), ('bad_predictions', 'the predictions do not fit the format'), ('time', 'scoring the file took longer than allowed'), ('memory', 'scoring the file took more memory than allowed'), ('output', 'scoring the file produced no usable report'), ('exit', 'the scorer stopped with an error'), ('bad_gold', "the benchmark's own files are at fault; its organisers are notified"), ('bad_report', 'the scorer reported impossible numbers'), ('sandbox', 'the sandbox could not run'), ('storage', 'a stored file is missing or altered'), ('lost', 'every attempt was interrupted'), ('internal', 'an internal error'), ('bad_image', 'the image cannot be accepted'), ('system_exit', 'the container ended with an error'), ('system_time', 'the container reached its time limit'), ('resources', 'the container reached its limit of memory, processes or space'), ('system_output', 'the container wrote no usable predictions'), ('engine', 'the container engine could not run'), ('scorer', "the benchmark's scorer failed; its organisers are notified"), ('outdated', 'the server is being upgraded'), ('withdrawn', 'withdrawn'), ('superseded', 'replaced by another scoring')], default='', max_length=20)),
                ('attempt', models.PositiveSmallIntegerField(default=0)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('queued_at', models.DateTimeField()),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('revision', models.PositiveBigIntegerField(help_text="the board's revision that is rendered")),
                ('enqueued_at', models.DateTimeField(help_text='when it was last enqueued for a worker')),
                ('leaderboard', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='plot_renderings', to='leaderboard.leaderboard')),
            ],
            options={
                'indexes': [models.Index(fields=['state', 'queued_at'], name='leaderboard_state_4cda22_idx')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'rejected', 'failed', 'cancelled'])), name='plot_rendering_state_is_known'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', False), ('state__in', ('done', 'rejected', 'failed', 'cancelled'))), models.Q(('finished_at__isnull', True), ('state__in', ('queued', 'running'))), _connector='OR'), name='plot_rendering_finished_when_terminal'), models.CheckConstraint(condition=models.Q(models.Q(('lease_until__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('lease_until__isnull', True)), _connector='OR'), name='plot_rendering_leased_when_running'), models.UniqueConstraint(fields=('leaderboard', 'revision'), name='plots_rendered_once_a_revision')],
            },
        ),
    ]
