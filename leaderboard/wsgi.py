"""WSGI application of the web server."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from leaderboard.core.db_locks import wait_briefly

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
wait_briefly()
application = get_wsgi_application()

# Objects loaded so far are permanent: freezing them lets garbage collections skip them, and run less often.
_ = get_resolver().url_patterns
gc.collect()
gc.freeze()
gc.set_threshold(10_000, 20, 20)
