# Every target sets up the virtual environment it needs, on a bare machine with Python >= 3.11. The install is
# editable and repeated whenever pyproject.toml changes, so no target runs a stale copy.

SHELL := /bin/sh
VENV := .venv
STAMP := $(VENV)/installed
BIN := $(VENV)/bin

.PHONY: gate test check deep bench release fmt golden
.DEFAULT_GOAL := check

# Every model, twin, witness and conformance run, compared with what is declared.
gate: $(STAMP)
	$(BIN)/falsework gate

# The whole default suite.
test: $(STAMP)
	$(BIN)/pytest -q -n auto

# Within a minute, and warnings are errors: style, types, import directions, the fast tests.
check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python .ci/tree.py types imports
	$(BIN)/pytest -q -n auto -m "not slow and not postgres"

# The default suite and the tests that take minutes.
deep: $(STAMP)
	$(BIN)/pytest -q -n auto --deep

# The peers side by side in one run, as ratios of CPU seconds.
bench: $(STAMP)
	$(BIN)/python bench/run.py

# The sdist and the wheel, unless something is not as it must be; FALSEWORK_POSTGRES names the other store.
release: $(STAMP)
	$(BIN)/python .ci/release.py

fmt: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Rewrites the texts of tests/golden; read the difference before it is committed.
golden: $(STAMP)
	$(BIN)/pytest -q --update-golden
	git --no-pager diff --stat -- tests/golden

# A candidate must run (a version switcher leaves names that do not) and be able to make an environment.
$(STAMP): pyproject.toml
	@set -e; if [ ! -x $(BIN)/python ]; then \
	  found=; \
	  for candidate in $(PYTHON) python3.13 python3.12 python3.11 python3; do \
	    if $$candidate -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	    then found=$$candidate; break; fi; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo "falsework needs Python 3.11 or newer with its venv module (on Debian: python3-venv);" >&2; \
	    echo "none of python3.13, python3.12, python3.11, python3 is that. Name another: make PYTHON=…" >&2; \
	    exit 1; \
	  fi; \
	  echo "making $(VENV) with $$found"; \
	  "$$found" -m venv $(VENV); \
	fi
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'setuptools>=77' wheel
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable '.[dev]'
	@touch $@
