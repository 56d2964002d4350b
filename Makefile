# Every target makes its own environment on a fresh machine. Windows and macOS without make: see README.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
TORCH   = torch==2.13.0
# Linux machines without an NVIDIA GPU take the CPU build: PyPI's default brings several GB of CUDA.
CPU_ONLY = $(shell [ "$$(uname -s)" = Linux ] && ! command -v nvidia-smi >/dev/null 2>&1 && echo yes)
CPU_INDEX = https://download.pytorch.org/whl/cpu

.PHONY: demo test check proof traces screenshots static offline-bundle clean

demo: $(VENV)/.run ## the page on the embedded default model
	$(BIN)/python app.py

test: $(VENV)/.dev ## the tests (`make proof` has the long ones)
	$(BIN)/python -m pytest

check: $(VENV)/.dev ## what CI and reviewers ask: style, types, import law, tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

proof: $(VENV)/.dev ## greedy output equals the target's own for every drafter, γ and prompt (minutes)
	$(BIN)/python -m pytest -m proof

traces: $(VENV)/.run ## record the page's runs anew; on a quiet machine
	$(BIN)/python -m specdemo.recording

screenshots: $(VENV)/.dev ## the pictures of docs/img, taken from the page itself
	PYTHONPATH=.:tests/ui $(BIN)/python tests/browser/screenshots.py

static: ## the page without a server, in out/static: recorded runs and theory; needs Python alone
	$(PYTHON) -m specdemo.site

BUNDLE ?= out/offline
offline-bundle: $(VENV)/.run ## wheels, model, runs and static site in one folder, for a room without a network
	$(BIN)/python -m specdemo.offline --out '$(BUNDLE)' --torch '$(TORCH)' $(if $(CPU_ONLY),--extra-index-url $(CPU_INDEX))

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "specdemo needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.torch: | $(VENV)/bin/python
ifeq ($(CPU_ONLY),yes)
	$(BIN)/pip install --retries 1 --no-deps --extra-index-url $(CPU_INDEX) '$(TORCH)'
endif
	touch $@

$(VENV)/.run: requirements.txt $(VENV)/.torch
	$(BIN)/pip install -r requirements.txt
	touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.run
	$(BIN)/pip install -r requirements-dev.txt
	touch $@

clean: ## the environment and caches of tools; models stay in the user's cache
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
