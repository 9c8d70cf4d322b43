"""Benchmarks and phases count their changes, and the audit log alone has what changed."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    # Older code also writes the dropped tables.
    safe_with = ""

    dependencies = [
        ("leaderboard", "0070_seeds_of_comparisons"),
    ]

    operations = [
        *(
            migrations.AddField(
                model_name=name,
                name="n_entries",
                field=models.PositiveIntegerField(
                    db_default=0, default=0, editable=False, help_text="number of entries of the audit log about it"
                ),
            )
            for name in ("benchmark", "phase")
        ),
        *(
            migrations.DeleteModel(name=name)
            for name in (
                "HistoricalBenchmark_organisers",
                "HistoricalBenchmark",
                "HistoricalDataset",
                "HistoricalPhase",
                "HistoricalReportedResult",
            )
        ),
        migrations.AlterField(
            model_name='phase',
            name='afterwards',
            field=models.CharField(choices=[('overall', 'the overall score'), ('improvements', 'the overall score, if it is better by a step')], db_default='overall', default='overall', help_text="what later answers show: the `overall` score, or only `improvements` of it by a ladder's step", max_length=12),
        ),
        migrations.AlterField(
            model_name='phase',
            name='detailed_answers',
            field=models.PositiveIntegerField(blank=True, default=10, help_text='while the gold is hidden, how many answers of a team (of a ladder: that show a score) have slices, intervals and all measures; null: all', null=True),
        ),
        migrations.AlterField(
            model_name='phase',
            name='disclosure',
            field=models.CharField(choices=[('full', 'Full'), ('ladder', 'Ladder'), ('sealed', 'Sealed')], default='full', help_text='what is revealed of scores', max_length=10),
        ),
        migrations.AlterField(
            model_name='phase',
            name='exact_scores',
            field=models.BooleanField(db_default=True, default=False, help_text='whether scores on hidden gold are shown with all digits'),
        ),
        migrations.AlterField(
            model_name='phase',
            name='finals_per_team',
            field=models.PositiveSmallIntegerField(default=1, help_text='how many submissions a team may choose in a sealed phase', validators=[django.core.validators.MinValueValidator(1)]),
        ),
        migrations.AlterField(
            model_name='phase',
            name='least_groups',
            field=models.PositiveIntegerField(db_default=1, default=25, help_text='while the gold is hidden, slices with fewer groups are not shown', validators=[django.core.validators.MinValueValidator(1)]),
        ),
        migrations.AlterField(
            model_name='phase',
            name='scope',
            field=models.CharField(choices=[('team', 'each team its own'), ('task', 'one for everybody')], default='team', help_text='on a ladder, a score is revealed only if it beats the best revealed score: `team`: of the same team, `task`: of all teams', max_length=10),
        ),
        migrations.AlterField(
            model_name='phase',
            name='sealed_until',
            field=models.DateTimeField(blank=True, help_text='when a sealed phase is unsealed', null=True),
        ),
        migrations.AlterField(
            model_name='phase',
            name='takes_images',
            field=models.BooleanField(default=False, help_text='whether container images are accepted'),
        ),
        migrations.AlterField(
            model_name='phase',
            name='takes_predictions',
            field=models.BooleanField(default=True, help_text='whether predictions files are accepted'),
        ),
        migrations.AlterField(
            model_name='phase',
            name='time_zone',
            field=models.CharField(default='UTC', help_text='time zone in which pages show dates next to UTC: an IANA name, or AoE', max_length=60),
        ),
    ]
