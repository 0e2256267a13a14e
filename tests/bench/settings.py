"""The site's own settings with two bare addresses beside its pages, on a database of the bench's own."""

import os

from synthpai_web.settings import *  # noqa: F403, TID251 - these settings are the site's
from synthpai_web.settings import DATABASES  # noqa: TID251

ROOT_URLCONF = "tests.bench.urls"
DATABASES["default"]["NAME"] += os.environ.get("BENCH_DATABASE", "_bench")
# Signing in is not what is measured, and 32 people do it at the start.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
