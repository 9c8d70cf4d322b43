"""The previous secret of a webhook, which signs for a day after a change."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0041_plot_pictures'),
    ]

    operations = [
        migrations.AddField(
            model_name='webhook',
            name='previous_salt',
            field=models.CharField(default='', editable=False, max_length=32),
        ),
        migrations.AddField(
            model_name='webhook',
            name='rotated_at',
            field=models.DateTimeField(editable=False, help_text='when the secret was last changed', null=True),
        ),
    ]
