# Everything that requirements-run.lock names is checked against its hash; it has no tools of developers. Python packages
# go into /venv, and only that is carried over, owned by root: the program cannot change itself.
FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /venv
COPY requirements-run.lock ./
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements-run.lock
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps .

FROM python:3.13-slim
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
ENTRYPOINT ["gatepost"]
CMD ["run"]
