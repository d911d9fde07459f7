# Every target makes its own virtual environment: a fresh machine needs Python >= 3.11 and make.
PYTHON ?= $(shell for name in python3 python3.11 python3.12 python3.13 python3.14 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml

.PHONY: demo test test-slow test-matrix trust lint format docs gallery bench release clean

demo: $(VENV)/.installed
	$(BIN)/vebnn demo --out demo

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n 2

test-slow: $(VENV)/.installed-test $(VENV)/.installed-ray
	$(BIN)/python -m pytest -m slow -s

test-matrix: $(VENV)/.installed-test
	$(BIN)/python -m trust.matrix

trust: $(VENV)/.installed-dev
	$(BIN)/python -m trust

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-dev
	$(BIN)/mkdocs build --strict

gallery: $(VENV)/.installed-dev
	$(BIN)/python examples/gallery

bench: $(VENV)/.installed-speed
	$(BIN)/python -m benchmarks.speed

release: $(VENV)/.installed
	$(BIN)/python -m trust.release

clean:
	rm -rf $(VENV) demo dist site

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "vebnn needs Python 3.11 or later; name one: make PYTHON=/path/to/python"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-%: $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $@ $(VENV)/.installed
