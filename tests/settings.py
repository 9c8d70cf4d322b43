"""The site's settings for tests: a data folder of its own for each test process, and cheap passwords."""

import atexit
import os
import shutil
import tempfile

# A process of a parallel run inherits the environment of the one that started it, and needs a folder of its own.
if "HOLDOUT_DATA" not in os.environ or "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["HOLDOUT_DATA"] = tempfile.mkdtemp(prefix="holdout-test-")
    atexit.register(shutil.rmtree, os.environ["HOLDOUT_DATA"], ignore_errors=True)
os.environ.setdefault("HOLDOUT_LOG_LEVEL", "WARNING")

# And databases of its own on a Redis that they share: workers would else take each other's messages.
if (worker := os.environ.get("PYTEST_XDIST_WORKER", "")) and "TEST_REDIS_OF" not in os.environ:
    number = int(worker.removeprefix("gw"))
    for place, name in enumerate(("HOLDOUT_BROKER_URL", "HOLDOUT_CACHE_URL")):
        if (url := os.environ.get(name, "")).startswith("redis://"):
            os.environ[name] = f"{url.rpartition('/')[0]}/{2 * number + place}"
    os.environ["TEST_REDIS_OF"] = worker

from leaderboard.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# The manifest is made by collectstatic, which the container and the served product run; tests serve the sources.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}  # noqa: F405
# Throttling is tested where it is the subject; elsewhere it would make the order of tests matter.
ACCOUNT_RATE_LIMITS = False
# Tests write rows behind the site's back, and roll back to numbers that were used before.
CACHES_RESPONSES = False
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # noqa: F405
