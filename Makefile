# Two commands do everything on a machine with only python3, make and git: `make run` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
EXTRAS := parquet,bench,dev
export PIP_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup run test test-all lint format bench golden clean

help: ## show what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

# The wheels beside it let the installation test run without a network.
.venv/ready: pyproject.toml constraints.txt Makefile
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]'
	$(BIN)/python -m pip download --quiet --dest .venv/wheels 'click>=8.1' 'rich>=13'
	@touch $@

setup: .venv/ready ## build .venv with everything, nothing else

run: .venv/ready ## see it work: samples of each task, one executed, the splits proved
	$(BIN)/execlab sample --task program --length 4 --nesting 3 --split test --count 2 --seed 7
	$(BIN)/execlab sample --task addition --length 6 --split test --count 1 --seed 7
	$(BIN)/execlab sample --task memorization --length 9 --double --split test --count 1 --seed 7
	printf 'j=8584\nfor x in range(8):\n  j+=920\nb=(1500+j)\nprint((b+7567))\n' | $(BIN)/execlab execute --trace -
	$(BIN)/execlab audit --task program --length 4 --nesting 3 --count 2000 --cpython

lint: .venv/ready ## style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint ## every check that takes minutes, doctests included
	$(BIN)/pytest -m "not long"

test-all: lint ## also the long forms
	$(BIN)/pytest

format: .venv/ready ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/ready ## side-by-side measurements
	$(BIN)/python benchmarks/generator.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/interpreter.py

golden: .venv/ready ## write the golden rows anew, after raising DATA_VERSION
	$(BIN)/python tests/data/test_sampling.py

clean: ## remove what can be built again
	rm -rf .venv dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
