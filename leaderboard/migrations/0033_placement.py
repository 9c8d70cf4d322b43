"""What a host offers to containers, and which host runs which container."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0032_board_indexes'),
    ]

    operations = [
        migrations.AddField(
            model_name='workerreport',
            name='checked_at',
            field=models.DateTimeField(blank=True, help_text='when the engine was last checked in full', null=True),
        ),
        migrations.AddField(
            model_name='workerreport',
            name='cpus',
            field=models.FloatField(default=0, help_text='processors that it offers to containers; 0: not known'),
        ),
        migrations.AddField(
            model_name='workerreport',
            name='disk_free_bytes',
            field=models.PositiveBigIntegerField(blank=True, help_text="free space on its engine's disk; null: not known", null=True),
        ),
        migrations.AddField(
            model_name='workerreport',
            name='disk_low',
            field=models.BooleanField(default=False, help_text='less is free than HOLDOUT_ENGINE_DISK_MB'),
        ),
        migrations.AddField(
            model_name='workerreport',
            name='drained_at',
            field=models.DateTimeField(blank=True, help_text='when nothing ran there any more after that', null=True),
        ),
        migrations.AddField(
            model_name='workerreport',
            name='draining',
            field=models.BooleanField(default=False, help_text='an operator is draining it: it starts no container'),
        ),
        migrations.AddField(
            model_name='workerreport',
            name='ending',
            field=models.BooleanField(default=False, help_text='its worker is ending, and starts no container'),
        ),
        migrations.AddField(
            model_name='workerreport',
            name='images',
            field=models.JSONField(blank=True, default=dict, help_text='ids of the images on its engine, with their bytes'),
        ),
        migrations.AddField(
            model_name='workerreport',
            name='memory_bytes',
            field=models.PositiveBigIntegerField(default=0, help_text='memory that it offers to containers'),
        ),
        migrations.CreateModel(
            name='Placement',
            fields=[
                ('prediction', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='placement', serialize=False, to='leaderboard.prediction')),
                ('resources', models.JSONField(help_text='processors, memory and GPUs, by field of Resources')),
                ('claimed_at', models.DateTimeField()),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='placements', to='leaderboard.image')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='placements', to='leaderboard.team')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='placements', to='leaderboard.workerreport')),
            ],
            options={
                'ordering': ['-claimed_at'],
                'indexes': [models.Index(fields=['team', '-claimed_at'], name='leaderboard_team_id_fda787_idx')],
            },
        ),
    ]
