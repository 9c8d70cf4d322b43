"""Shorten the help text of an invitation's address; the database does not change."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0028_split_last_sequence")]
    operations = [
        migrations.AlterField(
            model_name="invitation", name="address", field=models.EmailField(help_text="recipient of the link", max_length=254)
        )
    ]
