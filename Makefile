# `make` lists the targets. The plain commands behind them are in README.md.
PYTHON ?= python3
PORT   ?= 8000
VENV   := .venv
BIN    := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PY     := $(BIN)/python
HTML   := _build/html
# An installation is done again only when one of these files is newer than its stamp.
NEEDS  := requirements.txt pyproject.toml
TOOLS  := book/build.py book/screenshots.py book/_ext/ragkit_pages.py book/_ext/datasheets.py tests/skips.py

.DEFAULT_GOAL := help
.PHONY: help book test validate lab serve screenshots clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

$(VENV)/stamp-book: $(NEEDS) | $(VENV)/pyvenv.cfg
	$(PY) -m pip install --disable-pip-version-check --quiet -r requirements.txt -e .
	@touch $@

$(VENV)/stamp-test: $(NEEDS) requirements-test.txt | $(VENV)/pyvenv.cfg
	$(PY) -m pip install --disable-pip-version-check --quiet -r requirements-test.txt -e .
	@touch $(VENV)/stamp-book $@

book: $(VENV)/stamp-book  ## build the book into _build/html, warnings are errors
	$(PY) book/build.py

test: $(VENV)/stamp-test  ## run everything: ruff, mypy, pytest
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy --strict --ignore-missing-imports --allow-subclassing-any $(TOOLS)
	$(PY) -m pytest

validate: $(VENV)/stamp-book  ## MiniLM on scifact beside published figures; RAGKIT_COLLECTIONS names its folder
	$(PY) benchmarks/validate.py

lab: $(VENV)/stamp-book  ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab --notebook-dir=. notebooks

serve: book  ## serve the built book on http://localhost:8000 (PORT=... for another port)
	@echo "http://localhost:$(PORT)/  (Ctrl-C ends it)"
	@$(PY) -m http.server --bind 127.0.0.1 --directory $(HTML) $(PORT)

screenshots: $(VENV)/stamp-test book  ## a picture of every page, wide and narrow, light and dark
	$(PY) book/screenshots.py

clean:  ## remove what was built (.venv and .ragkit-cache stay)
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis
