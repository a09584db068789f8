# Two commands do everything on a machine with only python3, make and git: `make run` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
FIRST := runs/first
# The extras of pyproject.toml that a command needs; each set adds to the one before it.
RUN := train,playground
TEST := tensorboard,parquet,cluster,dev
BENCH := bench
# Modules are compiled when they are first imported, and only those.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --editable
export PIP_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup chromium run playground fast-tests test-fast test test-all test-integrations lint format bench golden clean

help: ## show what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

.venv/run-ready: pyproject.toml constraints.txt Makefile
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(INSTALL) '.[$(RUN)]'
	@touch $@

# The wheels beside it let the installation test run without a network.
.venv/test-ready: .venv/run-ready
	$(INSTALL) '.[$(RUN),$(TEST)]'
	$(BIN)/python -m pip download --quiet --dest .venv/wheels 'click>=8.1' 'rich>=13'
	@$(MAKE) --no-print-directory chromium
	@touch $@

.venv/bench-ready: .venv/test-ready
	$(INSTALL) '.[$(RUN),$(TEST),$(BENCH)]'
	@touch $@

# For the tests in a browser: where it cannot be installed they are skipped, or fail where CI is set.
chromium:
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do \
	   if command -v $$name >/dev/null; then exit 0; fi; done; \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	     && echo 'installing Chromium for the tests' && apt-get -qq update && apt-get -qq install -y chromium >/dev/null; } \
	|| echo 'no Chromium here, and it cannot be installed: tests in a browser will be skipped'

setup: .venv/bench-ready ## build .venv with everything, nothing else

# A second `make run` goes on with a run that was stopped, or shows the finished one.
run: .venv/run-ready ## teach a network to add three-digit numbers, in a few minutes, and look at it
	@echo 'A sample of what it will learn:'
	@$(BIN)/execlab sample --task addition --length 3 --count 1
	@if [ -f $(FIRST)/config.json ]; then $(BIN)/execlab train --resume $(FIRST); \
	else $(BIN)/execlab train --task addition --length 3 --strategy combined --out $(FIRST); fi
	@$(BIN)/execlab evaluate $(FIRST)
	@sed -n '/^## The first/,$$p' $(FIRST)/report.md
	@echo
	@echo 'Learning curve: $(FIRST)/learning_curve.png. What to try next:'
	@echo "  $(BIN)/execlab predict $(FIRST) 'print(123+989)'"
	@echo '  $(BIN)/execlab train --task addition --length 3 --strategy baseline --out runs/baseline'
	@echo '  $(BIN)/execlab compare $(FIRST) runs/baseline'
	@echo '  $(BIN)/execlab train --task program --length 2 --nesting 1 --samples 300000'
	@echo '  $(BIN)/execlab --help'

playground: .venv/run-ready ## watch a network execute your program, in the browser
	@mkdir -p runs
	@$(BIN)/execlab serve --runs runs

lint: .venv/test-ready ## style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# What needs no training, browser or cluster, by folders and files; a test that trains belongs into another one.
FAST := tests/programs tests/tasks tests/curriculum tests/data tests/evaluation \
	tests/test_files.py tests/test_progress.py tests/test_randomness.py \
	$(patsubst %,tests/experiments/test_%.py,blocks claims display grids rows) src

fast-tests: .venv/test-ready
	$(BIN)/pytest -n auto -m "not long" $(FAST)

test-fast: ## lint, and the tests that need no training, browser or cluster: a minute, before every commit
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint fast-tests

test: lint ## every check that takes minutes, doctests included
	$(BIN)/pytest -n auto --dist loadfile -m "not long"

test-all: lint test-integrations ## also the long forms
	$(BIN)/pytest -n auto --dist loadfile

# Harnesses for language models are large, and no two of these groups can be installed together.
.venv-integrations-1/ready: EXTRAS := lm-eval,verifiers,reasoning-gym
.venv-integrations-2/ready: EXTRAS := inspect-ai
.venv-integrations-3/ready: EXTRAS := openenv,trl
HARNESSES := .venv-integrations-1 .venv-integrations-2 .venv-integrations-3

$(HARNESSES:=/ready): export PIP_CONSTRAINT := constraints-integrations.txt
$(HARNESSES:=/ready): pyproject.toml constraints-integrations.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --editable '.[$(EXTRAS)]' httpx hypothesis pytest uv
	@touch $@

test-integrations: .venv/test-ready $(HARNESSES:=/ready) ## every harness, against the real package
	for each in $(HARNESSES); do $$each/bin/python -m pytest -o filterwarnings=ignore tests/integrations || exit 1; done

format: .venv/test-ready ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/bench-ready ## side-by-side measurements
	$(BIN)/python benchmarks/generator.py
	$(BIN)/python benchmarks/overlap.py
	$(BIN)/python benchmarks/splits.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/interpreter.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/precision.py
	$(BIN)/python benchmarks/time_to_accuracy.py
	$(BIN)/python benchmarks/speedrun.py --length 5 --samples 500000
	$(BIN)/python benchmarks/speedrun.py
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/kill_resume.py
	$(BIN)/python benchmarks/grids.py
	$(BIN)/python benchmarks/serve.py

golden: .venv/test-ready ## write the golden rows anew, after raising DATA_VERSION
	$(BIN)/python tests/data/test_sampling.py

clean: ## remove what can be built again
	rm -rf .venv .venv-integrations-* dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
