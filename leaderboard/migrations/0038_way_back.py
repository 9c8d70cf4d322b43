"""Teams hide their own submissions, former names of systems and teams, and names and scopes of API tokens."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knox', '0009_extend_authtoken_field'),
        ('leaderboard', '0036_access'),
    ]

    operations = [
        migrations.CreateModel(
            name='TokenDetails',
            fields=[
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='details', serialize=False, to='knox.AuthToken')),
                ('name', models.CharField(blank=True, max_length=60)),
                ('scope', models.CharField(choices=[('read', 'read only'), ('submit', 'read and submit')], default='submit', max_length=6)),
                ('last_used', models.DateField(blank=True, help_text='to the day, so that most requests write nothing', null=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='hiddensubmission',
            name='hidden_once_at_a_time',
        ),
        migrations.RemoveConstraint(
            model_name='hiddensubmission',
            name='hidden_for_a_reason',
        ),
        migrations.AddField(
            model_name='benchmark',
            name='teams_may_hide',
            field=models.BooleanField(default=True, help_text='they still count against the quota, and you still see them', verbose_name='teams may take submissions off the board'),
        ),
        migrations.AddField(
            model_name='hiddensubmission',
            name='by_team',
            field=models.BooleanField(default=False, help_text='hidden by its own team, not by organisers'),
        ),
        migrations.AddField(
            model_name='historicalbenchmark',
            name='teams_may_hide',
            field=models.BooleanField(default=True, help_text='they still count against the quota, and you still see them', verbose_name='teams may take submissions off the board'),
        ),
        migrations.AddField(
            model_name='system',
            name='former_names',
            field=models.JSONField(blank=True, default=list, editable=False, help_text='objects with `name` and `until`, a date; the latest last'),
        ),
        migrations.AddField(
            model_name='team',
            name='former_names',
            field=models.JSONField(blank=True, default=list, editable=False, help_text='objects with `name` and `until`, a date; the latest last'),
        ),
        migrations.AlterField(
            model_name='hiddensubmission',
            name='reason',
            field=models.CharField(blank=True, help_text='shown to its team and the organisers only; a team may give none', max_length=300),
        ),
        migrations.AddConstraint(
            model_name='hiddensubmission',
            constraint=models.UniqueConstraint(condition=models.Q(('unhidden_at', None)), fields=('submission', 'by_team'), name='hidden_once_at_a_time'),
        ),
        migrations.AddConstraint(
            model_name='hiddensubmission',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), _negated=True), ('by_team', True), _connector='OR'), name='hidden_for_a_reason'),
        ),
    ]
