# syntax=docker/dockerfile:1
FROM python:3.11-slim-bookworm AS build
WORKDIR /app
COPY requirements.lock .
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.lock

FROM python:3.11-slim-bookworm
RUN useradd --system --create-home --uid 10001 studio && mkdir -p /app/var && chown studio:studio /app/var
WORKDIR /app
ENV PATH="/venv/bin:$PATH" PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
COPY --from=build /venv /venv
COPY --chown=root:root . .
# Files with hashed names, made once; the key is for this command alone.
RUN SECRET_KEY=used-while-this-image-is-built-and-never-again STATIC_ROOT=/app/static-built DATABASE_URL=postgresql://build@build/build \
    REDIS_URL=redis://build python manage.py collectstatic --noinput
ENV STATIC_ROOT=/app/static-built
USER studio
EXPOSE 8000
CMD ["gunicorn", "synthpai_web.wsgi", "--bind", "0.0.0.0:8000", "--workers", "2", "--worker-class", "gthread", "--threads", "4", "--preload", "--no-control-socket", "--log-level", "warning"]
