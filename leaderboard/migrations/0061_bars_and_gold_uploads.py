"""Bars: teams that organisers have removed, and their people."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0060_idempotency_keys'),
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
    ]
