"""Django settings. Environment variables are read through `environment.VARIABLES`, which validates them."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path

import structlog
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from whitenoise.compress import Compressor

from leaderboard.core import login_providers
from leaderboard.core.db_locks import LOCK_SECONDS, session_options
from leaderboard.core.logs import drop_error_text
from leaderboard.environment import Environment, address_settings, stored_secret

env = Environment()
ROOT = Path(__file__).resolve().parent.parent
DATA = (ROOT / env("DATA")).resolve()
DATA.mkdir(mode=0o700, parents=True, exist_ok=True)

# --- core
DEBUG = env("DEBUG")
LOGIN_PROVIDERS = login_providers.configured(
    **{name: env(f"LOGIN_{name.upper()}") for name in ("orcid", "github", "google", "oidc")}
)
SECRET_KEY = env("SECRET_KEY") or stored_secret(DATA / "secret_key")
ALLOWED_HOSTS = env("HOSTS")
BASE_URL = env("BASE_URL").rstrip("/")
vars().update(address_settings(BASE_URL))
ROOT_URLCONF = "leaderboard.urls"
WSGI_APPLICATION = "leaderboard.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "csp",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    *sorted({f"allauth.socialaccount.providers.{provider.app}" for provider in LOGIN_PROVIDERS}),
    "allauth.idp.oidc",
    "leaderboard",
]

MIDDLEWARE = [
    "leaderboard.core.web.request_id.request_id_middleware",
    "leaderboard.core.web.request_metrics.request_metrics_middleware",
    "leaderboard.core.saved.saved_middleware",
    "leaderboard.operations.health.health_middleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "leaderboard.core.web.private_pages.private_pages_middleware",
    "csp.middleware.CSPMiddleware",
    "leaderboard.core.web.throttle.throttle_middleware",
    "leaderboard.core.web.form_action.form_action_middleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "leaderboard.core.web.reauthentication.reauthentication_middleware",
    "leaderboard.core.web.third_party_views.third_party_views_middleware",
    "leaderboard.core.web.upload.body_limit_middleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "leaderboard" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "leaderboard.core.web.site.site",
            ],
            "builtins": ["leaderboard.templatetags.confidence"],
        },
    }
]

# --- database: SQLite takes the write lock when a transaction begins, so writers queue instead of failing
DATABASES = {"default": env.database(env("DATABASE_URL") or f"sqlite:///{DATA / 'holdout.sqlite3'}")}
if "sqlite" in DATABASES["default"]["ENGINE"]:
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    }
    # Tests use a file too, so that a worker in another process sees what a test wrote.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA / "test.sqlite3")}
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"]["OPTIONS"] = {
        **session_options(lock_seconds=LOCK_SECONDS, idle_seconds=env("LEASE_SECONDS")),
        **DATABASES["default"].get("OPTIONS", {}),
    }
# Connections are reused: connecting takes about half as long as a page, on SQLite too.
DATABASES["default"]["CONN_MAX_AGE"] = 60

# --- files: `gold` has no URL with any storage
S3_SECONDS = 5.0  # of connecting to the store, and of each wait for it; each request is tried twice
if env("S3_BUCKET"):
    if env("S3_GOLD_BUCKET") in ("", env("S3_BUCKET")):
        raise ImproperlyConfigured(
            f"HOLDOUT_S3_GOLD_BUCKET is {env('S3_GOLD_BUCKET')!r}, expected a bucket that is not HOLDOUT_S3_BUCKET"
        )

    def _folder(name: str) -> dict[str, object]:
        bucket = env("S3_GOLD_BUCKET") if name == "gold" else env("S3_BUCKET")
        options = {
            "bucket_name": bucket,
            "location": name,
            "default_acl": "private",
            "endpoint_url": env("S3_ENDPOINT") or None,
            "file_overwrite": False,
            "seconds": S3_SECONDS,
        }
        return {"BACKEND": "leaderboard.core.s3_storage.PrivateS3Storage", "OPTIONS": options}
else:

    def _folder(name: str) -> dict[str, object]:
        options = {
            "location": DATA / "files" / name,
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        }
        return {"BACKEND": "leaderboard.core.storage.PrivateFileStorage", "OPTIONS": options}


# Copies of public files. No field stores its files there (datasets.actions.public_files).
S3_PUBLIC_BUCKET, S3_PUBLIC_URL = env("S3_PUBLIC_BUCKET"), env("S3_PUBLIC_URL").rstrip("/")
if S3_PUBLIC_BUCKET and (not env("S3_BUCKET") or S3_PUBLIC_BUCKET in (env("S3_BUCKET"), env("S3_GOLD_BUCKET"))):
    raise ImproperlyConfigured(
        f"HOLDOUT_S3_PUBLIC_BUCKET is {S3_PUBLIC_BUCKET!r}, expected a bucket other than HOLDOUT_S3_BUCKET and "
        "HOLDOUT_S3_GOLD_BUCKET"
    )
STORAGES = {
    "default": _folder("unsorted"),
    "gold": _folder("gold"),
    "inputs": _folder("inputs"),
    "predictions": _folder("predictions"),
    "outcomes": _folder("outcomes"),
    "images": _folder("images"),
    "archives": _folder("archives"),
    "staticfiles": {"BACKEND": "leaderboard.core.web.static_files.StaticFilesStorage"},
}
STATIC_URL = "static/"
STATIC_ROOT = DATA / "static"
# Pages use hashed names only, and nobody downloads source maps. Leaving them out makes the first start three times as
# fast.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = (*Compressor.SKIP_COMPRESS_EXTENSIONS, "map")
FILE_UPLOAD_HANDLERS = ["leaderboard.core.uploads.HashingUploadHandler"]
FILE_UPLOAD_TEMP_DIR = DATA / "uploads"
# Local copies of gold, inputs and outcomes in S3; ten of the largest that the default limits admit.
FILE_CACHE, FILE_CACHE_BYTES = DATA / "file-cache", 2_000_000_000
FILE_UPLOAD_TEMP_DIR.mkdir(parents=True, exist_ok=True)
MAX_UPLOAD_BYTES = MAX_FILE_BYTES = env("MAX_FILE_MB") * 1_000_000
MAX_RAW_BYTES = env("MAX_RAW_MB") * 1_000_000
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000

# --- queue: the database holds the state of work; messages only wake workers
if env("BROKER_URL"):
    CELERY_BROKER_URL = env("BROKER_URL")
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {}
    if CELERY_BROKER_URL.startswith("redis"):
        # Otherwise a request that enqueues a task waits forever for a Redis that hangs.
        CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 5, "socket_connect_timeout": 5}
    elif CELERY_BROKER_URL.startswith("amqp"):
        # A message counts as sent when RabbitMQ confirms it. Without timeouts, clients wait forever for a node that
        # hangs to agree that they leave it for another one.
        CELERY_BROKER_TRANSPORT_OPTIONS = {"confirm_publish": True, "read_timeout": 3, "write_timeout": 3}
        # Seconds until a connection counts as failed, and until a worker notices that its node does not respond.
        CELERY_BROKER_CONNECTION_TIMEOUT, CELERY_BROKER_HEARTBEAT = 2, 20
else:
    QUEUE = DATA / "queue"
    for name in ("messages", "control"):
        (QUEUE / name).mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_URL = "folder://localhost//"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(QUEUE / "messages"),
        "data_folder_out": str(QUEUE / "messages"),
        "control_folder": str(QUEUE / "control"),
    }
QUEUE_TYPE = env("QUEUE_TYPE")
if QUEUE_TYPE not in ("classic", *(("quorum",) if CELERY_BROKER_URL.startswith("amqp") else ())):
    raise ImproperlyConfigured(
        f"HOLDOUT_QUEUE_TYPE is {QUEUE_TYPE!r}, expected classic, or quorum if HOLDOUT_BROKER_URL is amqp://..."
    )
CELERY_TASK_DEFAULT_QUEUE_TYPE = CELERY_TASK_CREATE_MISSING_QUEUE_TYPE = QUEUE_TYPE
# Celery creates 28 of these in addition to quorum queues. They stay empty, because no task is sent with a delay.
CELERY_BROKER_NATIVE_DELAYED_DELIVERY_QUEUE_TYPE = "classic"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_DEFAULT_QUEUE = "scoring"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# --- sandbox
SANDBOX_SOCKET = env("SANDBOX_SOCKET") or str(DATA / "sandbox.sock")
LEASE_SECONDS = env("LEASE_SECONDS")
LOCK_IDLE_SECONDS = 5  # of a transaction for whose lock a phase waits; it computes for a second at most (db_locks)
SWEEP_SECONDS = env("SWEEP_SECONDS")
MAX_ATTEMPTS = 3  # of a run: what fails three times on hosts that are ready fails again
RESAMPLES = env("RESAMPLES")
SCORE_SECONDS = env("SCORE_SECONDS")
VALIDATE_SECONDS = env("VALIDATE_SECONDS")
VALIDATE_NOW_BYTES = 20_000_000  # a second of processor time for a file of claims; workers validate larger ones
# Processor time of the checks of one user's refused files in an hour: thirty that take as long as one may.
REFUSED_SECONDS = 30 * VALIDATE_SECONDS
SANDBOX_MEMORY_BYTES = env("SANDBOX_MEMORY_MB") * 1_048_576

# --- submitted containers
# Label of this site's containers, so that sites sharing an engine ignore each other's; all hosts of a site have it.
INSTANCE = hashlib.sha256(SECRET_KEY.encode()).hexdigest()[:12]
SYSTEMS = env("SYSTEMS")
ENGINE_PLAIN = env("ENGINE_PLAIN")
ENGINE_RUNTIME = env("ENGINE_RUNTIME")
ENGINE_CPUS = env("ENGINE_CPUS")
ENGINE_MEMORY_BYTES = env("ENGINE_MEMORY_MB") * 1_000_000
ENGINE_DISK = env("ENGINE_DISK")
ENGINE_DISK_BYTES = 2_000_000_000  # free on the engine's disk; below it images go, then no container starts
IMAGE_CACHE_BYTES = env("IMAGE_CACHE_MB") * 1_000_000
DRAIN_SECONDS = env("DRAIN_SECONDS")
GPUS = env("GPUS")
GPU_RUNTIME = env("GPU_RUNTIME")
NVIDIA_SMI = env("NVIDIA_SMI")
REGISTRIES = env("REGISTRIES")
BASE_IMAGE = env("BASE_IMAGE")
SYSTEM_SECONDS = env("SYSTEM_SECONDS")
SYSTEM_MEMORY_MB = env("SYSTEM_MEMORY_MB")
SYSTEM_CPUS = env("SYSTEM_CPUS")
SYSTEM_PROCESSES = 256  # and threads: more than any framework starts on the processors that a system gets
SYSTEM_IMAGE_MB = env("SYSTEM_IMAGE_MB")
SYSTEM_OUTPUT_MB = env("MAX_FILE_MB")  # of all its files together; only its predictions are used
SYSTEM_OUTPUT_FILES = 64
SYSTEM_LOG_KB = 64  # the end of what it prints, which has its traceback

# --- custom scorers; limits are those of submitted containers, for each of the two executions of a run
SCORERS = env("SCORERS")
SCORER_SECONDS = SYSTEM_SECONDS
SCORER_MEMORY_MB = SYSTEM_MEMORY_MB
SCORER_OUTPUT_MB = 100  # scores and a row for each unit; the site reads them into memory

# --- accounts
AUTH_USER_MODEL = "leaderboard.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": name}
    for name in (
        "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "django.contrib.auth.password_validation.MinimumLengthValidator",
        "django.contrib.auth.password_validation.CommonPasswordValidator",
        "django.contrib.auth.password_validation.NumericPasswordValidator",
        "leaderboard.accounts.actions.tokens.TokensEndWithPassword",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "leaderboard.accounts.web.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Holdout] "
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]
# Only mandatory verification hides whether an address is known; without a mail server no address could be verified.
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if env("EMAIL_URL") else "none"
ACCOUNT_FORMS = {
    "signup": "leaderboard.accounts.web.forms.SignUpForm",
    "change_password": "leaderboard.accounts.web.forms.NewPasswordForm",
    "set_password": "leaderboard.accounts.web.forms.FirstPasswordForm",
    "reset_password_from_key": "leaderboard.accounts.web.forms.ResetPasswordForm",
}
# Accounts of other providers: users choose name and address, and accept the terms, in a form. An address never logs in
# to an existing account, even if the provider has verified it.
SOCIALACCOUNT_ADAPTER = "leaderboard.accounts.web.social_adapter.SocialAccountAdapter"
SOCIALACCOUNT_PROVIDERS = login_providers.allauth_settings(LOGIN_PROVIDERS)
SOCIALACCOUNT_AUTO_SIGNUP = SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
SOCIALACCOUNT_FORMS = {
    "signup": "leaderboard.accounts.web.forms.SocialSignUpForm",
    "disconnect": "leaderboard.accounts.web.forms.UnlinkForm",
}
# Passkeys log in without a password, and serve as second factors.
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
# Without a mail server no address could be verified, and nobody could add a second factor.
MFA_ALLOW_UNVERIFIED_EMAIL = not env("EMAIL_URL")
# There is no secret to guess, and a class behind one address may log in at the same time.
MFA_RATE_LIMITS = {"webauthn_login": "120/m/ip"}
MFA_FORMS = {"add_webauthn": "leaderboard.accounts.web.forms.AddPasskeyForm"}
MFA_ADAPTER = "leaderboard.accounts.web.adapter.SecondFactorAdapter"
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = True
# What outlives a session or changes who gets in needs a log-in or password of the last 15 minutes, and is mailed to the
# user (core/web/reauthentication.py).
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 15 * 60
ACCOUNT_USERNAME_BLACKLIST = ["admin", "holdout", "organiser", "curator"]
# Failed log-ins are limited by account and network together (key), so that they lock out neither others behind the same
# NAT nor the owner elsewhere; by network alone, against attempts on many accounts (ip); and by account from networks
# where its owner has not logged in yet, against an attacker with many networks (accounts/web/adapter.py).
ACCOUNT_RATE_LIMITS = {
    "login": "300/m/ip",
    "login_failed": "10/m/key,50/h/key,200/m/ip,2000/h/ip",
    "login_from_new_network": "100/h/key",
    "signup": "30/m/ip",
    "reset_password": "10/m/ip",
    "device_code": "30/m/ip",
}
# `holdout-eval login` by the browser (accounts/actions/device_grants.py).
IDP_OIDC_DEVICE_CODE_EXPIRES_IN, IDP_OIDC_DEVICE_CODE_INTERVAL = 600, 2
# A class behind one address may log in at the same time; codes have 34 bits.
IDP_OIDC_RATE_LIMITS = {"device_user_code": "60/m/ip"}

# Of a network without log-in, of a token and of a session; 0: no limit (core/web/throttle.py).
SECONDS_PER_MINUTE = env("SECONDS_PER_MINUTE")

# --- operations
CONTACT = env("CONTACT")
OPERATORS = env("OPERATORS")
DISK_ALARM_BYTES = 2_000_000_000  # free for data; below it operators are told, below a tenth the site is not ready
METRICS_TOKEN = env("METRICS_TOKEN")
METRICS_FOLDER = DATA / "metrics"
if 0 < len(METRICS_TOKEN) < 20:
    raise ImproperlyConfigured(f"HOLDOUT_METRICS_TOKEN has {len(METRICS_TOKEN)} characters, expected at least 20")

# --- notifications
NOTIFICATIONS = env("NOTIFICATIONS")
PLOT_PICTURES = True  # of public boards, for pages without scripts and link previews; tests switch them off
WEBHOOK_HOSTS = env("WEBHOOK_HOSTS")

# --- mail
SENDS_MAIL = bool(env("EMAIL_URL"))
if env("EMAIL_URL"):
    vars().update(env.email(env("EMAIL_URL")))
else:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    EMAIL_FILE_PATH = DATA / "mail"
DEFAULT_FROM_EMAIL = env("EMAIL_FROM")
EMAIL_TIMEOUT = 20

CACHES = {
    "default": env.cache(env("CACHE_URL"))
    if env("CACHE_URL")
    else {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": DATA / "cache",
        # With the default of 300, attempts to log in to many accounts would evict the counters that limit them.
        "OPTIONS": {"MAX_ENTRIES": 5000},
    }
}

if CACHES["default"]["BACKEND"].endswith("RedisCache"):
    # Otherwise every request waits for a Redis that hangs.
    CACHES["default"]["OPTIONS"] = {
        "socket_timeout": 2,
        "socket_connect_timeout": 2,
        **CACHES["default"].get("OPTIONS", {}),
    }

# Boards rendered for anonymous visitors are cached until their ETag changes (core.response_cache).
CACHES_RESPONSES = True

# --- browser security
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
if BASE_URL.startswith("https://"):
    SECURE_SSL_REDIRECT = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
IS_BEHIND_PROXY = env("PROXY")
if IS_BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    # Log-in attempts are throttled by IP address: without this, everybody would have the proxy's.
    ALLAUTH_TRUSTED_PROXY_COUNT = 1

# --- REST
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "leaderboard.core.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticatedOrReadOnly"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "leaderboard.core.api.errors.handler",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
REST_KNOX = {"TOKEN_TTL": timedelta(days=90)}
SPECTACULAR_SETTINGS = {
    "TITLE": "Holdout",
    "DESCRIPTION": "Leaderboards for hidden test sets.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "leaderboard.core.api.samples.add_samples",
    ],
    "ENUM_NAME_OVERRIDES": {
        "BenchmarkState": "leaderboard.models.Benchmark.State",
        "SubmissionState": "leaderboard.models.State",
        "SystemKind": "leaderboard.models.System.Kind",
        "SplitKind": "leaderboard.models.Split.Kind",
        "SubmissionKind": "leaderboard.models.Submission.Kind",
        "TokenScope": "leaderboard.models.TokenDetails.Scope",
    },
}

# --- language and time
LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# --- logs: one event a line, never file content
LOG_RENDERERS = {
    "text": structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "event"]),
    "json": structlog.processors.JSONRenderer(),
}
if env("LOG_FORMAT") not in LOG_RENDERERS:
    raise ImproperlyConfigured(f"HOLDOUT_LOG_FORMAT is {env('LOG_FORMAT')!r}, expected text or json")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": structlog.stdlib.ProcessorFormatter,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                drop_error_text,
                LOG_RENDERERS[env("LOG_FORMAT")],
            ],
            "foreign_pre_chain": [
                structlog.contextvars.merge_contextvars,
                structlog.stdlib.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env("LOG_LEVEL")},
    # The web server's warning about each request that waits for a thread.
    "loggers": {"waitress.queue": {"level": "ERROR"}},
}
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=structlog.stdlib.BoundLogger,
)
