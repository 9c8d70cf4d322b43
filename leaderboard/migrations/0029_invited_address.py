"""An invitation's link works for the invited address only; the field's help text says no more than it is."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0028_split_last_sequence")]
    operations = [
        migrations.AlterField(
            model_name="invitation", name="address", field=models.EmailField(help_text="recipient of the link", max_length=254)
        )
    ]
