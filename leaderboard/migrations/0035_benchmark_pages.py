"""Main phase, and what a benchmark's page shows of its organisers, paper and place for questions."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0034_gpus'),
    ]

    operations = [
        migrations.AddField(
            model_name='benchmark',
            name='paper_url',
            field=models.URLField(blank=True, help_text='paper that describes the benchmark'),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='questions_url',
            field=models.URLField(blank=True, help_text='page where participants can ask questions'),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='shown_organisers',
            field=models.TextField(blank=True, help_text='who organises it, for everybody: a line each, with affiliation and link after commas'),
        ),
        migrations.AddField(
            model_name='historicalbenchmark',
            name='paper_url',
            field=models.URLField(blank=True, help_text='paper that describes the benchmark'),
        ),
        migrations.AddField(
            model_name='historicalbenchmark',
            name='questions_url',
            field=models.URLField(blank=True, help_text='page where participants can ask questions'),
        ),
        migrations.AddField(
            model_name='historicalbenchmark',
            name='shown_organisers',
            field=models.TextField(blank=True, help_text='who organises it, for everybody: a line each, with affiliation and link after commas'),
        ),
        migrations.AddField(
            model_name='historicalphase',
            name='is_main',
            field=models.BooleanField(default=False, help_text="the home page and the benchmark's page show its board"),
        ),
        migrations.AddField(
            model_name='phase',
            name='is_main',
            field=models.BooleanField(default=False, help_text="the home page and the benchmark's page show its board"),
        ),
        migrations.AddConstraint(
            model_name='phase',
            constraint=models.UniqueConstraint(condition=models.Q(('is_main', True)), fields=('benchmark',), name='one_main_phase_a_benchmark'),
        ),
    ]
