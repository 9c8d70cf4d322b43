"""Boards as of a past day are read from past standings; the sweep derives those of boards that exist."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("leaderboard", "0065_names_by_trigram"),
    ]

    operations = [
        migrations.CreateModel(
            name='BoardHistory',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_complete', models.BooleanField(default=False)),
                ('release', models.PositiveBigIntegerField(default=0)),
                ('entry', models.PositiveBigIntegerField(default=0)),
                ('leaderboard', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='history', to='leaderboard.leaderboard')),
            ],
            options={
                'ordering': ['leaderboard'],
            },
        ),
        migrations.CreateModel(
            name='PastStanding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value', models.FloatField(help_text='the primary measure, as revealed', null=True)),
                ('received_at', models.DateTimeField(help_text="when the release's submission was received; orders ties")),
                ('disqualified', models.CharField(blank=True, help_text='the public reason; empty: not disqualified', max_length=300)),
                ('since', models.DateTimeField()),
                ('until', models.DateTimeField(null=True)),
                ('leaderboard', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='past_standings', to='leaderboard.leaderboard')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='leaderboard.release')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='leaderboard.system')),
            ],
            options={
                'ordering': ['leaderboard', 'system', 'since'],
                'constraints': [models.UniqueConstraint(fields=('leaderboard', 'system', 'since'), name='one_past_standing_at_a_time')],
            },
        ),
    ]
