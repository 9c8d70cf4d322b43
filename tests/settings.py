"""The site's settings for tests: a separate data folder for each test process, and fast password hashes."""

import atexit
import os
import shutil
import tempfile

# A process of a parallel run inherits the environment of its parent, but needs its own folder.
if "HOLDOUT_DATA" not in os.environ or "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["HOLDOUT_DATA"] = tempfile.mkdtemp(prefix="holdout-test-")
    atexit.register(shutil.rmtree, os.environ["HOLDOUT_DATA"], ignore_errors=True)
os.environ.setdefault("HOLDOUT_LOG_LEVEL", "WARNING")

# It also needs its own databases on a shared Redis; otherwise workers would take each other's messages.
if (worker := os.environ.get("PYTEST_XDIST_WORKER", "")) and "TEST_REDIS_OF" not in os.environ:
    number = int(worker.removeprefix("gw"))
    for place, name in enumerate(("HOLDOUT_BROKER_URL", "HOLDOUT_CACHE_URL")):
        if (url := os.environ.get(name, "")).startswith("redis://"):
            os.environ[name] = f"{url.rpartition('/')[0]}/{2 * number + place}"
    os.environ["TEST_REDIS_OF"] = worker

# All kinds of providers, so that every address and page exists. No test calls these servers.
os.environ.setdefault("HOLDOUT_LOGIN_ORCID", "APP-1:secret")
os.environ.setdefault("HOLDOUT_LOGIN_GITHUB", "Iv1:secret")
os.environ.setdefault(
    "HOLDOUT_LOGIN_OIDC",
    '[{"id": "university", "name": "Example University", "server": "http://127.0.0.1:9", "client_id": "x", '
    '"secret": "y"}]',
)

from leaderboard.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# The container and the running site create the manifest with collectstatic; tests serve the source files.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}  # noqa: F405
# A test may wait within its transaction for processes that it starts.
LOCK_IDLE_SECONDS = 600
if "postgresql" in DATABASES["default"]["ENGINE"]:  # noqa: F405
    DATABASES["default"]["OPTIONS"] = session_options(lock_seconds=60, idle_seconds=600)  # noqa: F405
# Only the tests of throttling enable it; elsewhere results would depend on the order of tests.
ACCOUNT_RATE_LIMITS = IDP_OIDC_RATE_LIMITS = MFA_RATE_LIMITS = False
# A sweep would queue renderings, each of which takes a second of processor time.
PLOT_PICTURES = False
# Tests write rows directly, and roll back to keys that were used before.
CACHES_RESPONSES = False
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # noqa: F405
