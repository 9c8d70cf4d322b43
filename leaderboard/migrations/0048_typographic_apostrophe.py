"""The label of organisers' systems has a typographic apostrophe. No column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0046_tus'),
    ]

    operations = [
        migrations.AlterField(
            model_name='system',
            name='kind',
            field=models.CharField(
                choices=[
                    ('participant', 'Participant'),
                    ('baseline', 'Baseline'),
                    ('organiser', 'organiser\N{RIGHT SINGLE QUOTATION MARK}s own'),
                ],
                default='participant',
                max_length=12,
            ),
        ),
    ]
