# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= ../shared/data
# 0 builds the site without running the stories of its gallery.
STORIES ?= 1

.PHONY: demo docs pictures linkcheck test cluster test-slow test-oldest wheel lint types fuzz soak bench scale quality reproduce clean

$(VENV)/pip.stamp:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

$(VENV)/core.stamp: pyproject.toml $(VENV)/pip.stamp
	$(BIN)/python -m pip install --quiet -e '.[cli,pandas,plot,report]'
	touch $@

$(VENV)/test.stamp: pyproject.toml $(VENV)/pip.stamp
	$(BIN)/python -m pip install --quiet -e '.[test]'
	touch $@ $(VENV)/core.stamp

$(VENV)/docs.stamp: pyproject.toml $(VENV)/pip.stamp
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	touch $@ $(VENV)/core.stamp

demo: $(VENV)/core.stamp
	$(BIN)/defragtrees demo --report demo-report.html

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/test.stamp
	$(BIN)/mypy

cluster: $(VENV)/test.stamp
	$(BIN)/python -m pytest -m 'cluster and not slow' tests/data

# Tests that start a cluster mostly wait; linters and types are checked meanwhile.
test: $(VENV)/test.stamp
	$(MAKE) --jobs 2 --output-sync lint types cluster
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not cluster and not slow'

test-slow: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

# The lowest versions that pyproject.toml allows, on Python 3.11, for which they all have
# wheels. Left out: browsers, types and printed pages, which are those of today.
OLDEST ?= .venv-oldest
test-oldest:
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --upgrade pip
	$(PYTHON) .ci/oldest.py > $(OLDEST)/lowest.txt
	$(OLDEST)/bin/python -m pip install --quiet -c $(OLDEST)/lowest.txt -e \
		'.[cli,dask,numba,onnx,pandas,parquet,plot,polars,readers,report,skops]' duckdb \
		hypothesis jsonschema markdown-it-py onnxruntime pytest pytest-xdist treelite
	$(OLDEST)/bin/python -m pytest -n 2 --dist worksteal \
		-m 'not cluster and not printed and not slow' -W ignore::DeprecationWarning \
		-W ignore::FutureWarning --ignore tests/typing \
		--ignore tests/report/test_in_browser.py

# Wheel and sdist, checked; the first example of the README runs in an empty environment.
wheel: $(VENV)/pip.stamp
	$(BIN)/python -m pip install --quiet build twine
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python .ci/check_wheel.py dist/*.whl

bench: $(VENV)/test.stamp
	$(BIN)/python -m benchmarks.speed.default_cost --data $(DATA)
	$(BIN)/python -m benchmarks.speed.default_cost --data $(DATA) --plain
	$(BIN)/python -m benchmarks.paper.originals --data $(DATA)

# Pages of names that are no longer public would stay there, and nothing lists them; the
# search forgets the index entries of pages that are not read again.
docs: $(VENV)/docs.stamp
	rm -rf docs/api/generated docs/_build/html
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going \
		-D plot_gallery=$(STORIES) -q -b html docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

# Draw the pictures of the README and the guides again; needs Chromium.
pictures: $(VENV)/test.stamp
	$(BIN)/python examples/pictures.py
	$(BIN)/python examples/forest_to_rules.py
	$(BIN)/python examples/report_pictures.py
	$(BIN)/python examples/benchmark_chart.py

linkcheck: $(VENV)/docs.stamp
	$(BIN)/python -m sphinx -q -b linkcheck docs docs/_build/links

fuzz: $(VENV)/test.stamp
	$(BIN)/python -m tests.fuzz --cases 20000 --seed 0 --keep fuzz-failures

soak: $(VENV)/test.stamp
	$(BIN)/python -m benchmarks.speed.soak

scale: $(VENV)/test.stamp
	$(BIN)/python -m benchmarks.speed.scale

# What it goes beside; a package that cannot be installed is left out, and named.
PEERS := imodels interpret-core pystreed pycontree te2rules
quality: $(VENV)/test.stamp
	for peer in $(PEERS); do $(BIN)/python -m pip install --quiet $$peer \
		|| echo "$$peer cannot be installed."; done
	$(BIN)/python -m benchmarks.quality --data $(DATA) --jobs 2
	$(BIN)/python -m benchmarks.quality.published --data $(DATA)
	$(BIN)/python examples/benchmark_chart.py

# QUICK=1: two draws, not ten.
reproduce: $(VENV)/test.stamp
	$(BIN)/python -m benchmarks.paper --data $(DATA) --out reproduction $(if $(QUICK),--quick)

clean:
	rm -rf $(VENV) docs/_build docs/api/generated docs/gallery demo-report.html .mypy_cache .pytest_cache .ruff_cache
