# Every target sets up .venv by itself; Python 3.11 or newer and make are all it needs.
# Another interpreter: make test PYTHON=python3.12. Options: make test args="-k draws".

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 # two workers, so no threads of BLAS beside them

.PHONY: help demo test test-all test-lowest lint fix docs bench experiments clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1	\2/p' Makefile | expand -t 14

demo: $(READY) ## the demonstration
	$(BIN)/sondage demo

test: $(READY) ## tests, and examples in docstrings
	$(PYTEST) $(args)

test-all: $(READY) ## the same with the simulations
	$(PYTEST) -m "" $(args)

test-lowest: ## tests with the oldest releases that pyproject.toml allows
	PYTHON=$(PYTHON) .ci/lowest

lint: $(READY) ## format, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(READY) ## what lint can repair by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY) ## the site, in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(READY) ## time and memory of planning a draw
	$(BIN)/python benchmarks/plan.py $(args)

experiments: $(READY) ## what is missing of the thesis's experiments
	$(BIN)/python -m experiments $(args)

clean: ## removes the environment, builds and caches
	rm -rf .venv build dist .coverage* htmlcov .hypothesis .*_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("sondage needs Python 3.11 or newer; $(PYTHON) is %d.%d (make PYTHON=... takes another)" % v[:2])'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
