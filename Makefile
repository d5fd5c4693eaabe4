# `make` lists what there is. Everything runs in .venv, which `make setup` prepares.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11,$(shell $(p) -c 'import sys; sys.version_info >= (3, 11) and print("$(p)")' 2>/dev/null)))
STAMP := $(VENV)/.ready
CASES ?= tests/cases

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

setup: $(STAMP) ## prepare .venv with the locked dependencies

$(STAMP): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "gatepost needs Python 3.11 or newer; none was found. Name one: make setup PYTHON=/path/to/python3" >&2; exit 3; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

demo: $(STAMP) ## one hostname, all the way, with real traffic (ARGS=--keep leaves it running)
	@$(BIN)/python examples/website/demo.py $(ARGS)

test: $(STAMP) ## run the tests (ARGS="-k name" for some)
	@$(BIN)/pytest -n 2 --dist worksteal $(ARGS)

conformance: $(STAMP) ## the 25 scenarios of Knative's ingress suite, at full length, through Traefik
	@GATEPOST_CONFORMANCE=full $(BIN)/pytest tests/standalone/knative_ingress -p no:xdist $(ARGS)

cases: $(STAMP) ## run the golden cases alone (CASES=folder or file)
	@$(BIN)/pytest tests/test_cases.py $(ARGS)

dns-up: $(STAMP) ## start a DNS server to try gatepost with, until Ctrl-C (PROVIDER=bind, knot or pdns)
	@$(BIN)/python tests/providers/dns_servers.py $(or $(PROVIDER),bind) $(ARGS)

check: $(STAMP) ## format, lint, types and layers, without changing a file
	@$(BIN)/ruff format --check --quiet . || { echo "run: make fmt" >&2; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

fmt: $(STAMP) ## format the code and mend what the linter can
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --fix --quiet .

docs: $(STAMP) ## write docs/flags.md anew from the commands
	@$(BIN)/python tests/docs/flags_page.py > docs/flags.md

bench: $(STAMP) ## measure first pass and single changes (ARGS="--sizes 1000,10000")
	@$(BIN)/python -m bench $(ARGS)

bench-dns: $(STAMP) ## measure from a changed Route to the answer of a DNS server (ARGS="--sizes 100,10000")
	@$(BIN)/python -m bench.dns $(ARGS)

LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-emit-find-links pyproject.toml
RUN_EXTRAS := aws cloudflare octodns encryption

lock: ## renew requirements.lock, and requirements-run.lock for the image, from pyproject.toml (needs uv)
	$(LOCK) --all-extras -o requirements.lock
	$(LOCK) $(RUN_EXTRAS:%=--extra %) --constraint requirements.lock --no-annotate -o requirements-run.lock

clean: ## remove .venv and all caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

.PHONY: help setup demo test conformance cases dns-up check fmt docs bench bench-dns lock clean
