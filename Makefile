# make demo   set up, cluster a generated data set, show the result
# make test   set up, check style and types, run all tests
# make docs   set up, build the site into build/site; warnings are errors
# make gallery  run the examples again, keep their pictures in docs/gallery
# make bench  set up, time fits against other methods; bench-quick takes less than two minutes
# make quality DATA=folder  compare clusters with those of other methods on labelled sets
# make reproduce [DATA=folder] [ONLY="table2 figure1"] [FAST=1]  make the paper's results again

PYTHON ?= python3
VENV := .venv

.PHONY: demo test docs gallery bench bench-quick quality reproduce lint types chromium clean
.DEFAULT_GOAL := test

demo: $(VENV)/.plot
	$(VENV)/bin/python examples/demo.py

test: lint types chromium
	$(VENV)/bin/python -m pytest -n auto

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict

gallery: $(VENV)/.dev
	$(VENV)/bin/python tools/site/gallery.py

bench: $(VENV)/.bench
	$(VENV)/bin/python benchmarks/bench.py $(if $(DATA),--data $(DATA))

bench-quick: $(VENV)/.bench
	$(VENV)/bin/python benchmarks/bench.py --quick --results build/bench-quick.json

quality: $(VENV)/.quality
	$(VENV)/bin/python benchmarks/quality.py $(if $(DATA),--data $(DATA))

reproduce: $(VENV)/.reproduce
	$(VENV)/bin/python reproduction/run.py $(if $(DATA),--data $(DATA)) $(if $(ONLY),--only $(ONLY)) $(if $(FAST),--fast)

chromium:
	sh tools/install_chromium.sh

lint: $(VENV)/.dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/.dev
	$(VENV)/bin/mypy

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

# A stamp for each set of extras: a second run installs nothing.
$(VENV)/.plot $(VENV)/.dev $(VENV)/.docs $(VENV)/.bench $(VENV)/.quality $(VENV)/.reproduce: $(VENV)/.%: pyproject.toml $(VENV)/bin/pip
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --editable ".[$*]"
	touch $@

$(VENV)/bin/pip:
	sh tools/make_venv.sh $(PYTHON) $(VENV)
