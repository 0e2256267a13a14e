"""All settings, read from the environment; `.env.example` explains each variable."""

import os
from pathlib import Path

from celery.schedules import crontab
from csp.constants import NONE, SELF

from synthpai_web import embedded
from synthpai_web.api_settings import REST_FRAMEWORK as REST_FRAMEWORK
from synthpai_web.api_settings import SPECTACULAR_SETTINGS as SPECTACULAR_SETTINGS
from synthpai_web.database import broker_address, django_database
from synthpai_web.demo_key import secret_key
from synthpai_web.env import Env

BASE_DIR = Path(__file__).resolve().parent.parent
env = Env(os.environ)

# --- What kind of installation this is -------------------------------------------------------------
DEMO = env.flag("SYNTHPAI_DEMO")
DEBUG = env.flag("DEBUG")
VAR_DIR = env.folder("SYNTHPAI_VAR", BASE_DIR / "var")
SYNTHPAI_DATA = env.text("SYNTHPAI_DATA")
SYNTHPAI_ATTRIBUTES = env.text("SYNTHPAI_ATTRIBUTES")  # simulation.domain.attributes reads and checks it

SECRET_KEY = secret_key(env.text("SECRET_KEY"), demo=DEMO, var_dir=VAR_DIR)
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ("127.0.0.1", "localhost", "[::1]"))
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")

# --- Servers: named by an address, or embedded ones in VAR_DIR -----------------------------------------
DATABASE_URL = env.url("DATABASE_URL", ("postgres", "postgresql"))
REDIS_URL = broker_address(env.url("REDIS_URL", ("redis", "rediss", "unix")))
EMBEDDED_POSTGRES = not DATABASE_URL
EMBEDDED_VALKEY = not REDIS_URL
if EMBEDDED_POSTGRES or EMBEDDED_VALKEY:
    _place = embedded.place(VAR_DIR)
    DATABASE_URL = DATABASE_URL or _place.database_url
    REDIS_URL = REDIS_URL or _place.redis_url

DATABASES = {
    "default": django_database(DATABASE_URL, pool_size=env.whole("DATABASE_POOL", 10, least=1, most=200))
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Parts ------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "synthpai_web",
    "evaluation",
    "annotation",
    "simulation",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "template_partials",
    "csp",
    "axes",
    "rest_framework",
    "drf_spectacular",
]

MIDDLEWARE = [
    "synthpai_web.middleware.RequestLog",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "synthpai_web.middleware.RefuseNul",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "synthpai_web.urls"
WSGI_APPLICATION = "synthpai_web.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "synthpai_web.context.page",
            ],
            "builtins": ["synthpai_web.templatetags.parts", "synthpai_web.templatetags.kept"],
        },
    },
]

# --- People -----------------------------------------------------------------------------------------
AUTH_USER_MODEL = "simulation.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
INVITATION_DAYS = env.whole("INVITATION_DAYS", 14, least=1, most=90)
# Five wrong passwords for one name from one address: a pause of fifteen minutes. A stranger who guesses
# a labeler's name from elsewhere does not lock the labeler out.
AXES_FAILURE_LIMIT = env.whole("LOGIN_ATTEMPTS", 5, least=3, most=50)
AXES_COOLOFF_TIME = 0.25
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "accounts/locked.html"
AXES_HTTP_RESPONSE_CODE = 429
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
# The wait is the wait: knocking meanwhile does not lengthen it. No lasting record of who came from where.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_DISABLE_ACCESS_LOG = True
# Behind a reverse proxy every request comes from the proxy's address, which would make the address in
# the pair above worthless; the number of our own proxies says which entry of X-Forwarded-For to trust.
PROXY_COUNT = env.whole("PROXY_COUNT", 0, least=0, most=10)
AXES_CLIENT_IP_CALLABLE = "synthpai_web.middleware.client_address"

# Requests a minute of one token, or of one person's browser, to the API.
API_RATE = env.whole("API_RATE", 600, least=1, most=1_000_000)

# --- Security ---------------------------------------------------------------------------------------
HTTPS = env.flag("HTTPS", default=not (DEMO or DEBUG))
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SECURE_SSL_REDIRECT = HTTPS
# The API refuses by itself: a redirect makes a GET of a POST, and scripts would never learn of it.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^api/v1/(?!docs/)"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if env.flag("TRUST_FORWARDED_PROTO"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# --- Static files, uploads, words ----------------------------------------------------------------------
STATIC_URL = "static/"
STATIC_ROOT = env.folder("STATIC_ROOT", VAR_DIR / "static")
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG or env.flag("PLAIN_STATIC")
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
MEDIA_ROOT = env.folder("MEDIA_ROOT", VAR_DIR / "files")
# Every night one file with everything (docs/operators.md). "HH:MM" in TIME_ZONE.
BACKUP = env.flag("BACKUP", default=True)
BACKUP_DIR = env.folder("BACKUP_DIR", VAR_DIR / "backups")
BACKUP_KEEP = env.whole("BACKUP_KEEP", 14, least=1, most=3650)
BACKUP_AT = env.time("BACKUP_AT", "02:30")
UPLOAD_LIMIT_MB = env.whole("UPLOAD_LIMIT_MB", 512, least=1, most=10_000)
FILE_UPLOAD_PERMISSIONS = 0o600
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
# The form of a run has three fields for each of up to 500 posts, and some hundred and fifty besides.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2_000
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = env.zone("TIME_ZONE", "UTC")

# --- Work in the background -----------------------------------------------------------------------------
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600}
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 2, "interval_start": 0, "interval_step": 0.2}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TIMEZONE = TIME_ZONE
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = "io"
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_TASK_QUEUES_NAMES = ("llm", "io", "stats")
CELERY_TASK_ROUTES = {
    "simulation.tasks.advance_simulation": {"queue": "llm"},
    "simulation.tasks.advance_profiles": {"queue": "llm"},
    "simulation.tasks.*": {"queue": "io"},
    "annotation.tasks.advance_tagging": {"queue": "llm"},
    "annotation.tasks.advance_judging": {"queue": "llm"},
    "annotation.tasks.*": {"queue": "io"},
    "evaluation.tasks.advance_matching": {"queue": "llm"},
    "evaluation.tasks.advance_inference": {"queue": "llm"},
    "evaluation.tasks.advance_rewriting": {"queue": "llm"},
    "evaluation.tasks.advance_topics": {"queue": "llm"},
    "evaluation.tasks.make_reports": {"queue": "stats"},
    "evaluation.tasks.*": {"queue": "io"},
    "synthpai_web.tasks.*": {"queue": "io"},
}
CELERY_BEAT_SCHEDULE = {
    "sweep-runs": {"task": "simulation.tasks.sweep_runs", "schedule": 5.0},
    "send-webhooks": {"task": "simulation.tasks.send_webhooks", "schedule": 5.0, "options": {"expires": 30}},
    "follow-simulations": {"task": "annotation.tasks.follow_simulations", "schedule": 5.0},
    "release-leases": {"task": "annotation.tasks.release_leases", "schedule": 15.0},
    "sweep-imports": {"task": "annotation.tasks.sweep_imports", "schedule": 60.0},
    "sweep-maskings": {"task": "evaluation.tasks.sweep_maskings", "schedule": 15.0},
    "sweep-result-imports": {"task": "evaluation.tasks.sweep_result_imports", "schedule": 60.0},
    "sweep-releases": {"task": "evaluation.tasks.sweep_releases", "schedule": 60.0},
    "follow-inferences": {"task": "evaluation.tasks.follow_inferences", "schedule": 5.0},
    "follow-labels": {"task": "evaluation.tasks.follow_labels", "schedule": 60.0},
    "make-reports": {"task": "evaluation.tasks.make_reports", "schedule": 15.0},
    "nightly": {
        "task": "synthpai_web.tasks.nightly",
        "schedule": crontab(hour=BACKUP_AT.hour, minute=BACKUP_AT.minute),
    },
}

# Fonts are looked up once a machine, not once a container that cannot write at home.
os.environ.setdefault("MPLCONFIGDIR", str(VAR_DIR / "matplotlib"))

# --- Models of language ----------------------------------------------------------------------------------
# Which task takes up a run of which kind.
RUN_TASKS = {
    "simulate": "simulation.tasks.advance_simulation",
    "tag": "annotation.tasks.advance_tagging",
    "profiles": "simulation.tasks.advance_profiles",
    "judge": "annotation.tasks.advance_judging",
    "match": "evaluation.tasks.advance_matching",
    "infer": "evaluation.tasks.advance_inference",
    "mask": "evaluation.tasks.advance_rewriting",
    "topics": "evaluation.tasks.advance_topics",
}
# A provider on a private address (host or host:port) is refused unless it is named here.
LLM_PRIVATE_ADDRESSES = env.words("LLM_PRIVATE_ADDRESSES")
# The same for the addresses that webhooks tell.
WEBHOOK_PRIVATE_ADDRESSES = env.words("WEBHOOK_PRIVATE_ADDRESSES")
# A step whose worker has not been heard from for so long is given to another.
STEP_LEASE_SECONDS = env.whole("STEP_LEASE_SECONDS", 30, least=2, most=3600)
# Calls in flight to one model, over all workers: at the start, and at most however well it goes.
LANE_START = env.whole("LANE_START", 20, least=1, most=10_000)
LANE_MOST = env.whole("LANE_MOST", 64, least=1, most=10_000)

# What turns comments into vectors for the report of diversity; nothing does where it is empty.
EMBEDDER = env.choice("EMBEDDER", "", ("wordllama", ""))

# Address of the hub to which releases are sent; empty: the one that its library knows.
HUB_ENDPOINT = env.url("HUB_ENDPOINT", ("https", "http"))

# The demo asks a real provider only with DEMO_PAID=1 and a key, and never more often than this.
DEMO_PAID = env.flag("DEMO_PAID")
DEMO_MAX_CALLS = env.whole("DEMO_MAX_CALLS", 400, least=1, most=1_000_000)
DEMO_MODEL = env.text("DEMO_MODEL", "gpt-4o-mini")
DEMO_BASE_URL = env.text("DEMO_BASE_URL", "https://api.openai.com/v1")

# --- Logs -----------------------------------------------------------------------------------------------
LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request": {"()": "synthpai_web.middleware.RequestIdFilter"}},
    "formatters": {
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s %(request_id)s",
        }
    },
    "handlers": {"out": {"class": "logging.StreamHandler", "formatter": "json", "filters": ["request"]}},
    "root": {"handlers": ["out"], "level": LOG_LEVEL},
    "loggers": {
        # The request log of our own has the same facts without addresses and search words.
        "django.request": {"level": "ERROR"},
        "django.server": {"handlers": [], "propagate": False},
        # One line a call, with the provider's address; the ledger has all of it.
        "httpx2": {"level": "WARNING"},
        # axes writes user names and addresses into its messages.
        "axes": {"level": "CRITICAL"},
    },
}
