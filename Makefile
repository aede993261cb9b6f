# Every target sets up .venv by itself; Python 3.11 or newer and make are all it needs.
# Another interpreter: make test PYTHON=python3.12. Options for pytest: make test args="-k draws".

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test test-all test-lowest lint fix docs bench experiments clean

demo: $(READY)
	$(BIN)/sondage demo

test: $(READY)
	$(BIN)/python -m pytest -q -n 2 $(args)

test-all: $(READY)
	$(BIN)/python -m pytest -q -n 2 -m "" $(args)

test-lowest:
	PYTHON=$(PYTHON) .ci/lowest

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(READY)
	$(BIN)/python benchmarks/plan.py

experiments: $(READY)
	$(BIN)/python -m experiments $(args)

clean:
	rm -rf .venv build dist .coverage* htmlcov .hypothesis .*_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("sondage needs Python 3.11 or newer; $(PYTHON) is %d.%d (make PYTHON=... takes another)" % v[:2])'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
