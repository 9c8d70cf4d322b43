# Holdout's image. It runs the whole site in one container, or one of its processes (compose.yaml).
# The base image needs Python 3.11 or later; Debian's python3 and python3-venv are sufficient.
ARG BASE_IMAGE=python:3.13-slim-trixie

FROM ${BASE_IMAGE} AS build
# If the build cannot reach a package index, put the wheels into wheels/ and pass --build-arg PIP_NO_INDEX=1.
ARG PIP_NO_INDEX
ARG PIP_INDEX_URL
COPY requirements.lock wheels* /build/
# The packages' own tests are a third of their files.
RUN python3 -m venv /opt/holdout \
    && /opt/holdout/bin/python -m pip install --no-cache-dir --disable-pip-version-check --no-compile \
        --find-links /build --require-hashes --requirement /build/requirements.lock \
    && find /opt/holdout/lib -type d -name tests -prune -exec rm -r {} + \
    && /opt/holdout/bin/python -m compileall -q -j 0 /opt/holdout/lib

FROM ${BASE_IMAGE}
# Where the image comes from: pass --build-arg VERSION, REVISION and SOURCE.
ARG VERSION
ARG REVISION
ARG SOURCE
LABEL org.opencontainers.image.title="Holdout" \
    org.opencontainers.image.description="Leaderboard server for benchmarks whose test answers stay hidden" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.source="${SOURCE}"
RUN groupadd --system --gid 10001 holdout \
    && useradd --system --uid 10001 --gid holdout --home-dir /data --no-create-home holdout \
    && install -d -o holdout -g holdout -m 0700 /data /data/files /data/files/gold /data/file-cache /data/metrics /run/holdout
COPY --from=build /opt/holdout /opt/holdout
WORKDIR /app
COPY manage.py LICENSE ./
COPY evaluator ./evaluator
COPY holdout_eval ./holdout_eval
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
# For the whole site and for its web process; compose.yaml has the checks of the others.
HEALTHCHECK --interval=30s --timeout=6s --start-period=600s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health/ready', timeout=5)"]
CMD ["python", "manage.py", "serve", "--host", "0.0.0.0"]
