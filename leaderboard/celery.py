"""The Celery application. Its settings are Django's, prefixed CELERY_."""

import os

from celery import Celery
from celery.signals import setup_logging

from leaderboard.core import folder_broker

folder_broker.register()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
app = Celery("holdout")
app.config_from_object("django.conf:settings", namespace="CELERY")


@setup_logging.connect
def keep_our_logging(**_: object) -> None:
    """Do nothing. Celery leaves settings.LOGGING as it is if this signal has a receiver."""
