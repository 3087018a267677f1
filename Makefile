# Every target sets up what it needs; a second call starts at once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test check benchmark bench test-training clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): requirements.lock pyproject.toml
	@echo "Setting up $(VENV) from requirements.lock (once) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

demo: $(READY) ## set up, then run the main jobs on the embedded defaults
	$(BIN)/sat-bench -sweep
	$(BIN)/sat-bench -models nano,small,base -sweep
	$(BIN)/python -m cal_ai benchmark --extractor rules

test: $(READY) ## set up, then run the tests
	$(BIN)/python -m pytest -n auto -q

check: $(READY) ## ruff and mypy strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

benchmark: $(READY) ## score the calendar extractor on the samples
	$(BIN)/python -m cal_ai benchmark

$(VENV)/.peers: $(READY) benchmarks/requirements.txt
	@echo "Installing the peers that benchmarks/ measures against ..."
	@$(BIN)/python -m pip install --quiet --requirement benchmarks/requirements.txt
	@touch $@

bench: $(VENV)/.peers ## measure speed side by side with peers, under ten minutes
	$(BIN)/python -m benchmarks.all

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
