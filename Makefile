# The project's jobs. `make demo` and `make test` set up .venv first where it is missing.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OPENNMT := OpenNMT-py==3.5.1
# for tests of the kernels without a GPU; torch for GPUs brings it along
TRITON := 'triton==3.7.1; platform_system == "Linux" and platform_machine == "x86_64"'

# make demo: the main job, on data of our own making or on DATA, a folder with {train,dev,test}.{SRC,TGT}
DATA ?= runs/synthetic
SRC ?= svo
TGT ?= sov
SIZE ?= $(if $(filter runs/synthetic,$(DATA)),tiny,small)
RUN ?= runs/$(SRC)-$(TGT)-$(SIZE)
SYSTEMS ?= baseline_absolute_relative,preorder_gold_trained
JOBS ?= 2
# threads of a step: on our own data one, so that their number changes no figure; else the free cores are shared
THREADS ?= $(if $(filter runs/synthetic,$(DATA)),1)
DEVICE ?= cpu
OPTIONS ?=
PIP_OPTIONS ?=

SITE := build/site

.DEFAULT_GOAL := help
.PHONY: help setup packages given-data demo test test-all lint docs benchmark clean

help:
	@echo "make setup   prepare $(VENV)"
	@echo "make demo    the main job end to end; DATA= SRC= TGT= SIZE= RUN= SYSTEMS= JOBS= THREADS= DEVICE= OPTIONS="
	@echo "make test    the fast tests; make test-all: all of them"
	@echo "make lint    checks of style, layers and types"
	@echo "make docs    these pages, and the reference of the Python API, as a site in $(SITE)"
	@echo "make benchmark BTG=folder   the preorderer's speed, size and accuracy; OPTIONS= as docs/benchmarks.md says"
	@echo "make clean   remove caches and the runs on synthetic data; other runs and $(VENV) stay"

setup: $(VENV)/.ready

# The stamps are younger than what they depend on once everything is installed. pip compiles on one processor only, and
# the packages' tests too. Some files of packages cannot be compiled: they are templates.
packages: $(VENV)/.packages

$(VENV)/.packages: requirements.txt constraints.txt
	@echo "installing OpenNMT-py, torch and all extras in $(VENV): some minutes, 3 GB, or 7 with the torch for GPUs that PyPI has for Linux"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --no-compile $(PIP_OPTIONS) -r requirements.txt
	$(BIN)/python -m pip install --no-compile $(PIP_OPTIONS) --no-deps $(OPENNMT)
	$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib || true
	touch $@

$(VENV)/.ready: $(VENV)/.packages pyproject.toml
	$(BIN)/python -m pip install --no-deps --editable .
	touch $@

runs/synthetic: | $(VENV)/.ready
	$(BIN)/python -m preorder_recipes.synthetic.generate --out $@

given-data:
	$(if $(wildcard $(DATA)/.),,$(error DATA=$(DATA): there is no such folder))

demo: | $(if $(filter runs/synthetic,$(DATA)),$(DATA),given-data) $(VENV)/.ready
	$(if $(THREADS),OMP_NUM_THREADS=$(THREADS)) $(BIN)/python -m preorder_recipes.run --data $(DATA) --src $(SRC) --tgt $(TGT) --size $(SIZE) --run $(RUN) \
	    --systems $(SYSTEMS) --jobs $(JOBS) --device $(DEVICE) $(OPTIONS)

test test-all: $(VENV)/.ready
	$(if $(filter test-all,$@),$(BIN)/python -m pip install --quiet $(TRITON))
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile $(if $(filter test,$@),-m "not slow")

lint: $(VENV)/.ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	test ! -x $(BIN)/mypy || $(BIN)/mypy

# A warning, such as a link that leads nowhere, is an error.
docs: $(VENV)/.ready
	@if test -x $(BIN)/sphinx-build; then \
	    $(BIN)/sphinx-build -W --keep-going -q -d build/doctrees -c docs . $(SITE) && echo "to read: $(SITE)/index.html"; \
	else echo "no pages: Sphinx is not installed, which needs Python 3.11 or later"; fi

benchmark: $(VENV)/.ready
	$(BIN)/python -m benchmarks.btg $(BTG) $(OPTIONS)

clean:
	rm -rf runs/synthetic runs/svo-sov-* build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
