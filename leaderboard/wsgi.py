"""WSGI application of the web server."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
# Requests that wait for locks would fill all threads; the response is a 503 that asks to try again.
os.environ.setdefault("HOLDOUT_DATABASE_LOCK_SECONDS", "5")
application = get_wsgi_application()

# Objects loaded so far are permanent: freezing them lets garbage collections skip them, and run less often.
_ = get_resolver().url_patterns
gc.collect()
gc.freeze()
gc.set_threshold(10_000, 20, 20)
