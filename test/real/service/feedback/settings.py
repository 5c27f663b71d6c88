"""Django settings. A test chooses paging, order, throttles and slow creates by environment variables."""

from os import environ

SECRET_KEY = "a service for tests has nothing to sign"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "feedback.urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "rest_framework",
    "rest_framework.authtoken",
    "feedback",
]
AUTH_USER_MODEL = "feedback.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"

# libpq reads PGHOST, PGPORT and PGUSER itself.
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": environ["PGDATABASE"],
        "CONN_MAX_AGE": 60,
    }
}

# The workers of gunicorn are processes: throttles work only with a cache that all of them share.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "throttle_cache",
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["feedback.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PAGINATION_CLASS": {
        "page": "rest_framework.pagination.PageNumberPagination",
        "offset": "rest_framework.pagination.LimitOffsetPagination",
        "cursor": "feedback.pagination.ListCursor",
    }[environ.get("PAGINATION", "page")],
    "PAGE_SIZE": int(environ.get("PAGE_SIZE", "25")),
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.ScopedRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"create": environ.get("THROTTLE_CREATES")},
}

LIST_ORDERING = environ.get("ORDERING", "-created").split(",")

# "0.2 3": every fifth create takes three seconds between its commit and its answer.
SLOW_CREATES = environ.get("SLOW_CREATES", "0 0")
