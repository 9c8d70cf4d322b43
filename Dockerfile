# Holdout's image. It runs the whole site in one container, or one of its processes (compose.yaml).
# The base image needs Python 3.11; Debian's python3 and python3-venv are sufficient.
ARG BASE_IMAGE=python:3.11-slim-bookworm

FROM ${BASE_IMAGE} AS build
# If the build cannot reach a package index, put the wheels into wheels/ and pass --build-arg PIP_NO_INDEX=1.
ARG PIP_NO_INDEX
ARG PIP_INDEX_URL
COPY requirements.txt wheels* /build/
# The packages' own tests are a third of their files.
RUN python3 -m venv /opt/holdout \
    && /opt/holdout/bin/python -m pip install --no-cache-dir --disable-pip-version-check --no-compile \
        --find-links /build --requirement /build/requirements.txt \
    && find /opt/holdout/lib -type d -name tests -prune -exec rm -r {} + \
    && /opt/holdout/bin/python -m compileall -q -j 0 /opt/holdout/lib

FROM ${BASE_IMAGE}
RUN groupadd --system --gid 10001 holdout \
    && useradd --system --uid 10001 --gid holdout --home-dir /data --no-create-home holdout \
    && install -d -o holdout -g holdout -m 0700 /data /data/files /data/files/gold /data/file-cache /data/metrics /run/holdout
COPY --from=build /opt/holdout /opt/holdout
WORKDIR /app
COPY manage.py LICENSE ./
COPY evaluator ./evaluator
COPY leaderboard ./leaderboard
COPY fixtures ./fixtures
COPY docs ./docs
# Root owns the code, so the site cannot change itself. It cannot write bytecode later either, so it is compiled here.
RUN /opt/holdout/bin/python -m compileall -q evaluator leaderboard
ENV PATH=/opt/holdout/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOLDOUT_DATA=/data
USER holdout
EXPOSE 8000
STOPSIGNAL SIGTERM
CMD ["python", "manage.py", "serve", "--host", "0.0.0.0"]
