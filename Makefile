# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
AV2 := av2>=0.3.5
export OMP_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help install install-dev demo notebooks test test-fast lint types contract check format clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/base: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -c constraints.txt -e .
	@touch $@

# av2 is the oracle of the Argoverse 2 tests; its light modules need none of its own dependencies.
$(VENV)/dev: $(VENV)/base
	$(PIP) install -c constraints.txt -e '.[dev]'
	$(PIP) install -c constraints.txt --no-deps '$(AV2)'
	@touch $@

install: $(VENV)/base  ## virtual environment with motionpred
install-dev: $(VENV)/dev  ## the same with the development tools

demo: $(VENV)/base  ## the whole chain on scenes made by hand; needs no data
	$(BIN)/motionpred demo

notebooks: $(VENV)/dev  ## run every notebook from top to bottom
	$(BIN)/python notebooks/execute.py

test: $(VENV)/dev  ## the whole test suite
	$(BIN)/python -m pytest -n 2

test-fast: $(VENV)/dev  ## what runs within a minute
	$(BIN)/python -m pytest -n 2 -m 'not slow'

lint: $(VENV)/dev  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev  ## mypy --strict
	$(BIN)/mypy

contract: $(VENV)/dev  ## a room imports only from rooms above it
	$(BIN)/lint-imports

check: lint types contract test  ## everything that a change must pass

format: $(VENV)/dev  ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
