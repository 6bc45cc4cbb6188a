# make demo   set up, cluster a generated data set, show the result
# make test   set up, check style and types, run all tests
# make test-fast  run the tests that are not slow and need no docs, browser or Dask, in two to three minutes
# make coverage     measure the lines and branches that the tests cover; fails below 95%
# make mutations [ONLY=_pskc/growth]  make wrong changes to the core, one at a time, and check that tests fail
# make attack [BUDGET=10m] [ONLY="models dask"] [SEED=0] [KEEP=1]  look for wrong labels, crashes, hangs and leftovers; fails if any
#             is found. KEEP=1 writes the figures to docs/promises.md
# make fuzz [READERS="table image model"] [SECONDS=300]  fuzz the readers of files with atheris, in an environment that has it
# make test-python PYTHON=python3.13  run the portable tests with another Python, in a separate environment
# make test-without-numba  run the portable tests with numba blocked
# make test-lowest  run the portable tests with the lowest versions of dependencies that pyproject.toml allows
# make check-device [TORCH=torch==2.4.1]  run the tests that need PyTorch, in an environment that has it
# make dist   build wheel and sdist, install them into empty environments and test them there
# make release-check TAG=v0.1.0  check that the tag, the version and CHANGELOG.md agree
# make check-integrations [ONLY="spark_map skops_file"]  run the scripts of integrations/ in a separate environment
# make docs   set up, build the site into build/site; warnings are errors
# make gallery  run the examples, keep their pictures in docs/gallery
# make bench  set up, time fits against other methods; bench-quick takes a few minutes
# make quality DATA=folder  compare clusters with those of other methods on labelled sets
# make choice DATA=folder   fit the rule of PSKC() to all sets, score it on families left out, and update its page
# make choice-check [DATA=folder] [KEEP=1]  run PSKC() on data that users try first, and check limits; KEEP=1 writes the figures to the page
# make reproduce [DATA=folder] [ONLY="table2 figure1"] [FAST=1] [ACCEPT=1]  reproduce the paper's results; ACCEPT=1 saves them as expected

PYTHON ?= python3
VENV := .venv
# On Windows, programs are in Scripts.
BIN = $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

# Portable tests are those whose outcome can depend on the platform; the others check pages, figures and the browser.
IN_PARALLEL := -n auto --dist worksteal
PORTABLE_TESTS := --ignore=tests/project -m "not docs and not browser"

.PHONY: demo test test-fast coverage mutations attack fuzz portable test-without-numba test-python test-lowest check-device dist \
  release-check docs gallery bench bench-quick \
  quality choice choice-check check-integrations reproduce lint types chromium clean
.DEFAULT_GOAL := test

demo: $(VENV)/.plot
	$(VENV)/bin/python examples/demo.py

test: lint types chromium
	$(VENV)/bin/python -m pytest $(IN_PARALLEL) --durations=15

# There is a worker for each core, so each worker uses one BLAS thread.
test-fast: $(VENV)/.dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 HYPOTHESIS_PROFILE=fast \
	  $(VENV)/bin/python -m pytest $(IN_PARALLEL) -q \
	  -m "not slow and not docs and not browser and not dask"

coverage: $(VENV)/.dev chromium
	$(VENV)/bin/python -m pytest -n auto --cov --cov-report=term:skip-covered --cov-report=html:build/coverage

mutations: $(VENV)/.dev
	$(VENV)/bin/python tools/mutations/run.py $(ONLY)

BUDGET ?= 10m
SEED ?= 0
attack: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m tools.attack.run --budget $(BUDGET) --seed $(SEED) $(if $(ONLY),--only $(ONLY)) $(if $(KEEP),--keep)

READERS ?= table image model
SECONDS ?= 300
fuzz: .venv-fuzz/.test
	.venv-fuzz/bin/pip install --quiet --disable-pip-version-check atheris
	for reader in $(READERS); do \
	  PYTHONPATH=src:. OMP_NUM_THREADS=1 .venv-fuzz/bin/python -m tools.fuzz.run $$reader --seconds $(SECONDS) || exit 1; done

portable: $(VENV)/.test
	$(BIN)/python -m pytest $(IN_PARALLEL) $(PORTABLE_TESTS)

# In all processes, a module numba that fails to import hides the real one.
test-without-numba: $(VENV)/.test
	PYTHONPATH=$(CURDIR)/tests/without_numba $(VENV)/bin/python -m pytest $(IN_PARALLEL) $(PORTABLE_TESTS)

test-python:
	$(MAKE) portable PYTHON=$(PYTHON) VENV=.venv-$(notdir $(PYTHON))

# Old packages emit deprecation warnings about newer ones, which cannot be fixed here.
NO_WARNINGS := -W default -W ignore::DeprecationWarning
test-lowest: .venv-lowest/.test
	.venv-lowest/bin/python -m pytest $(IN_PARALLEL) $(NO_WARNINGS) $(PORTABLE_TESTS)

# The other targets do not install PyTorch. On Linux, PyPI's build is the one for CUDA;
# TORCH="torch --index-url https://download.pytorch.org/whl/cpu" selects the small one.
TORCH ?= torch==2.13.0
check-device: .venv-device/.test
	.venv-device/bin/pip install --quiet --disable-pip-version-check $(TORCH)
	.venv-device/bin/python -c "import torch; print('PyTorch', torch.__version__)"
	.venv-device/bin/python -m pytest -m device

dist: $(VENV)/.release
	$(VENV)/bin/python tools/check_dist.py

# The tag, the version of the package and the newest heading of CHANGELOG.md must be the same.
release-check: $(VENV)/.release
	$(VENV)/bin/python tools/check_release.py $(TAG)

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict

gallery: $(VENV)/.dev
	$(VENV)/bin/python tools/site/gallery.py

bench: $(VENV)/.bench
	$(VENV)/bin/python benchmarks/bench.py $(if $(DATA),--data $(DATA)) $(if $(ONLY),--only $(ONLY))

bench-quick: $(VENV)/.bench
	$(VENV)/bin/python benchmarks/bench.py --quick --results build/bench-quick.json

quality: $(VENV)/.quality
	$(VENV)/bin/python benchmarks/quality.py $(if $(DATA),--data $(DATA))

# repliclust requires packages that are not needed to draw sets, so it is installed without them.
choice: $(VENV)/.choice
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps repliclust
	$(VENV)/bin/python benchmarks/choice/collect.py $(if $(DATA),--data $(DATA))
	$(VENV)/bin/python benchmarks/choice/fit.py
	$(VENV)/bin/python benchmarks/choice/rule_page.py

choice-check: $(VENV)/.choice
	$(VENV)/bin/python benchmarks/choice/check.py $(if $(DATA),--data $(DATA)) $(if $(KEEP),--keep)

# BERTopic requires packages that embed texts, which the script does not use.
check-integrations:
	$(MAKE) .venv-integrations/.integrations VENV=.venv-integrations
	.venv-integrations/bin/pip install --quiet --disable-pip-version-check --no-deps bertopic
	.venv-integrations/bin/python integrations/run_all.py $(ONLY)

reproduce: $(VENV)/.reproduce
	$(VENV)/bin/python reproduction/run.py $(if $(DATA),--data $(DATA)) $(if $(ONLY),--only $(ONLY)) $(if $(FAST),--fast) \
	  $(if $(ACCEPT),--accept)

chromium:
	sh tools/install_chromium.sh

lint: $(VENV)/.dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(VENV)/bin/check-jsonschema --builtin-schema vendor.readthedocs .readthedocs.yaml

types: $(VENV)/.dev
	$(VENV)/bin/mypy

clean:
	rm -rf $(VENV) .venv-* build dist .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis

EXTRAS := plot test dev docs bench quality choice reproduce release integrations
# A stamp for each set of extras: a second run installs nothing.
$(EXTRAS:%=$(VENV)/.%): $(VENV)/.%: pyproject.toml $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	touch $@

$(VENV)/pyvenv.cfg:
	sh tools/make_venv.sh $(PYTHON) $(VENV)

.venv-device/.test: pyproject.toml
	sh tools/make_venv.sh $(PYTHON) .venv-device
	.venv-device/bin/pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@

.venv-fuzz/.test: pyproject.toml
	sh tools/make_venv.sh $(PYTHON) .venv-fuzz
	.venv-fuzz/bin/pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@

.venv-lowest/.test: pyproject.toml tools/lowest_versions.py
	sh tools/make_venv.sh $(PYTHON) .venv-lowest
	.venv-lowest/bin/pip install --quiet --disable-pip-version-check packaging
	.venv-lowest/bin/python tools/lowest_versions.py > .venv-lowest/lowest.txt
	.venv-lowest/bin/pip install --quiet --disable-pip-version-check --constraint .venv-lowest/lowest.txt --editable ".[test]"
	touch $@
