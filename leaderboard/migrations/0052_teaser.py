"""Teaser pictures of benchmarks."""

import django.db.models.deletion
import leaderboard.models.benchmark
import leaderboard.models.dataset
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0048_typographic_apostrophe'),
    ]

    operations = [
        migrations.CreateModel(
            name='Teaser',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('file', models.FileField(storage=leaderboard.models.dataset.inputs_storage, upload_to=leaderboard.models.benchmark.teaser_name)),
                ('media_type', models.CharField(choices=[('image/png', 'image/png'), ('image/jpeg', 'image/jpeg')], max_length=10)),
                ('sha256', models.CharField(max_length=64)),
                ('bytes', models.PositiveIntegerField()),
                ('width', models.PositiveSmallIntegerField(help_text='in pixels')),
                ('height', models.PositiveSmallIntegerField(help_text='in pixels')),
                ('alternative_text', models.CharField(help_text='what the picture shows, for those who do not see it', max_length=300)),
                ('added_at', models.DateTimeField(auto_now_add=True)),
                ('benchmark', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='teaser', to='leaderboard.benchmark')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('media_type__in', ['image/png', 'image/jpeg'])), name='teaser_is_png_or_jpeg')],
            },
        ),
    ]
