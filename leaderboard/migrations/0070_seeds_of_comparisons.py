"""Seeds on hidden gold are numbers below 2^63."""

from django.db import migrations, models


class Migration(migrations.Migration):

    # Older code stores the seed 0, which fits both types.
    safe_with = ""

    dependencies = [
        ("leaderboard", "0069_disclosure_of_hidden_gold"),
    ]

    operations = [
        migrations.AlterField(
            model_name="comparison",
            name="seed",
            field=models.PositiveBigIntegerField(),
        ),
    ]
