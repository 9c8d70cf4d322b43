"""Phases say how coarsely they show scores on hidden gold. Those that exist keep what they promised: all digits.

So columns get what an older phase promised, and only new phases have the models' defaults. `detailed_answers` is null at
first for this reason.
"""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0068_track_trigger'),
    ]

    operations = [
        migrations.AddField(
            model_name='historicalphase',
            name='afterwards',
            field=models.CharField(choices=[('overall', 'the overall score'), ('improvements', 'the overall score, if it is better by a step')], db_default='overall', default='overall', help_text='what is shown of the answers after the detailed ones', max_length=12),
        ),
        migrations.AddField(
            model_name='historicalphase',
            name='detailed_answers',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='historicalphase',
            name='exact_scores',
            field=models.BooleanField(db_default=True, default=False, help_text='scores on hidden gold have all digits, from which labels can be read'),
        ),
        migrations.AddField(
            model_name='historicalphase',
            name='least_groups',
            field=models.PositiveIntegerField(db_default=1, default=25, help_text='smallest number of groups of a slice that is shown while the gold is hidden', validators=[django.core.validators.MinValueValidator(1)]),
        ),
        migrations.AddField(
            model_name='phase',
            name='afterwards',
            field=models.CharField(choices=[('overall', 'the overall score'), ('improvements', 'the overall score, if it is better by a step')], db_default='overall', default='overall', help_text='what is shown of the answers after the detailed ones', max_length=12),
        ),
        migrations.AddField(
            model_name='phase',
            name='detailed_answers',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='phase',
            name='exact_scores',
            field=models.BooleanField(db_default=True, default=False, help_text='scores on hidden gold have all digits, from which labels can be read'),
        ),
        migrations.AddField(
            model_name='phase',
            name='least_groups',
            field=models.PositiveIntegerField(db_default=1, default=25, help_text='smallest number of groups of a slice that is shown while the gold is hidden', validators=[django.core.validators.MinValueValidator(1)]),
        ),
        migrations.AlterField(
            model_name='historicalphase',
            name='detailed_answers',
            field=models.PositiveIntegerField(blank=True, default=10, help_text='of each team on hidden gold, with slices, intervals and all measures; null: all its answers', null=True),
        ),
        migrations.AlterField(
            model_name='phase',
            name='detailed_answers',
            field=models.PositiveIntegerField(blank=True, default=10, help_text='of each team on hidden gold, with slices, intervals and all measures; null: all its answers', null=True),
        ),
        migrations.AlterField(
            model_name='historicalphase',
            name='quota_per_day',
            field=models.PositiveIntegerField(default=10, validators=[django.core.validators.MinValueValidator(1)]),
        ),
        migrations.AlterField(
            model_name='historicalphase',
            name='quota_total',
            field=models.PositiveIntegerField(default=50, validators=[django.core.validators.MinValueValidator(1)]),
        ),
        migrations.AlterField(
            model_name='phase',
            name='quota_per_day',
            field=models.PositiveIntegerField(default=10, validators=[django.core.validators.MinValueValidator(1)]),
        ),
        migrations.AlterField(
            model_name='phase',
            name='quota_total',
            field=models.PositiveIntegerField(default=50, validators=[django.core.validators.MinValueValidator(1)]),
        ),
    ]
