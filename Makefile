# Every target sets up what it needs; a second call starts at once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: chromium help demo test check benchmark bench hostile test-browser test-training docs docs-serve clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): requirements.lock pyproject.toml
	@echo "Setting up $(VENV) from requirements.lock (once) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

demo: $(READY) ## set up, run both benchmarks on the embedded defaults, say what they show
	@$(BIN)/python examples/demo.py reports

test: $(READY) ## set up, then run the tests
	$(BIN)/python -m pytest -n auto --dist worksteal -q

check: $(READY) ## ruff, mypy strict, and oxlint for the scripts of pages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/oxlint --deny-warnings src/truemark/pages/assets src/truemark/labelling/assets \
	  src/sat_bench/label_page src/cal_ai/label_page

$(VENV)/.browser: $(READY) tests/browser/requirements.txt
	@echo "Installing what drives Chromium ..."
	@$(BIN)/python -m pip install --quiet --requirement tests/browser/requirements.txt
	@touch $@

# Chromium comes from Debian's packages; only root may install it.
chromium:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  { apt-get install -qq -y --no-install-recommends chromium >/dev/null || \
	  { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null; }; }; } || \
	  { echo "chromium is not installed: apt-get install chromium" >&2; exit 1; }

test-browser: $(VENV)/.browser chromium ## open the pages in Chromium: filters, sliders, links, keys
	$(BIN)/python -m pytest -q --browser tests/browser

$(VENV)/.docs: $(READY) docs/requirements.txt
	@echo "Installing what builds the site ..."
	@$(BIN)/python -m pip install --quiet --requirement docs/requirements.txt
	@touch $@

docs: $(VENV)/.docs ## build the site of the guides in build/site; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

docs-serve: $(VENV)/.docs ## show the site on http://127.0.0.1:8000 and follow changes
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

benchmark: $(READY) ## score the calendar extractor on the samples
	$(BIN)/python -m cal_ai benchmark

$(VENV)/.peers: $(READY) benchmarks/requirements.txt
	@echo "Installing the peers that benchmarks/ measures against ..."
	@$(BIN)/python -m pip install --quiet --requirement benchmarks/requirements.txt
	@touch $@

bench: $(VENV)/.peers ## measure speed side by side with peers, ten minutes on an idle machine
	$(BIN)/python -m benchmarks.all

hostile: $(READY) ## bad input, faults, kills and full disks by the thousand, under 15 minutes
	$(BIN)/python -m tests.hostile.campaign

TRAINING := .venv-training
$(TRAINING)/.ready: requirements.lock training/requirements.txt pyproject.toml
	@echo "Setting up $(TRAINING) with PyTorch (once) ..."
	@test -x $(TRAINING)/bin/python || $(PYTHON) -m venv $(TRAINING)
	@$(TRAINING)/bin/python -m pip install --quiet --requirement training/requirements.txt
	@$(TRAINING)/bin/python -m pip install --quiet --requirement requirements.lock
	@$(TRAINING)/bin/python -m pip install --quiet --no-deps --editable .
	@touch $@

test-training: $(TRAINING)/.ready ## install PyTorch apart and try the training code
	$(TRAINING)/bin/python -m pytest -q tests/training

clean: ## remove the virtual environment, caches and reports
	rm -rf $(VENV) $(TRAINING) reports .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
