# Two commands are all a newcomer needs: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
# The three packages, from the lowest to the highest, as they stand in the tree.
PACKAGES := --editable packages/gnomon --editable packages/gohr --editable packages/gnomon-board
PROJECTS := $(wildcard packages/*/pyproject.toml) constraints.txt

.PHONY: demo test test-all frameworks lint types contract docs wheel bench replay soak clean clean-cache

demo: $(VENV)/.runtime $(VENV)/.kernels
	$(BIN)/gohr demo

# What a newcomer runs: every package and every verb, in process and on SQLite.
test: $(VENV)/.dev $(VENV)/.kernels
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m "not full"

# And the rest: PostgreSQL, browsers, Dask, killed processes, simulated coverage, the code on pages.
# A third of its time it waits for servers and browsers, so that there are three processes to two cores.
test-all: test
	$(BIN)/python -m pytest --numprocesses $$(( ($$(getconf _NPROCESSORS_ONLN) * 3 + 1) / 2 )) --dist worksteal -m full

# The game in the real frameworks, and the logs of RL libraries, in an environment of their own,
# where no test may skip.
frameworks: $(VENV)/frameworks/.installed
	$(VENV)/frameworks/bin/python -m pytest --no-skips --numprocesses auto --dist worksteal $(FRAMEWORKS)

PAGE := tests/docs/test_code_blocks.py::test_the_code_of_a_page_runs_and_prints_what_the_page_says
FRAMEWORKS := packages/gohr/tests/integrations packages/gohr/src/gohr/integrations \
	$(foreach name,process sb3 registry,packages/gohr/tests/learners/test_$(name).py) \
	$(foreach page,gnomon/rl-libraries gohr/training-torch,'$(PAGE)[$(page).md]')

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

contract: $(VENV)/.dev
	$(BIN)/lint-imports

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Each wheel alone with its pins, on each Python that this machine has.
wheel: $(VENV)/bin/python
	PYTHON=$(BIN)/python bash .ci/wheel

# Every published number beside ours: reads ../shared/data, or the folder that GNOMON_DATA names.
reproduce: $(VENV)/.dev $(VENV)/.kernels
	for paper in atari5 rliable recht gohr; do $(BIN)/python -m reproduction.$$paper || exit 1; done

bench: $(VENV)/.dev $(VENV)/.kernels
	$(BIN)/python -m benchmarks --keep

# Numba does not notice a change in a file that another compiled file takes a kernel from: what it
# has compiled is dropped when any source is newer, and compiled anew by one process for all.
$(VENV)/.kernels: $(shell find packages/*/src -name '*.py') | $(VENV)/.runtime
	find packages -name '*.nb[ic]' -delete
	$(BIN)/python .ci/compile_kernels.py
	touch $@

# A million attempts by the engine and by JAX, and 100,000 by the reference interpreter and by JAX;
# the full tier has a tenth of them.
replay: $(VENV)/.dev $(VENV)/.kernels
	GNOMON_REPLAY=10 $(BIN)/python -m pytest -s -m full packages/gohr/tests/game/jax/test_jax_replay.py -k "many_attempts or fewer"

# An hour of a steady load on a board; the full tier has half a minute of it.
soak: $(VENV)/.dev $(VENV)/.kernels
	GNOMON_SOAK_S=3600 $(BIN)/python -m pytest -s -m full packages/gnomon-board/tests/web/test_soak.py

clean-cache:
	find packages -name '*.nb[ic]' -delete

clean: clean-cache
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: $(PROJECTS) | $(VENV)/bin/python
	$(PIP) install --quiet --constraint constraints.txt $(PACKAGES)
	touch $@

$(VENV)/.dev: $(PROJECTS) requirements-dev.txt | $(VENV)/bin/python
	$(PIP) install --quiet --constraint constraints.txt $(PACKAGES) --requirement requirements-dev.txt
	touch $@ $(VENV)/.runtime

# Not among the development requirements, for its size: without it the tests of the game in JAX
# skip, and give the reason.
$(VENV)/.jax: $(VENV)/.dev
	$(PIP) install --quiet --constraint constraints.txt 'jax>=0.6'
	touch $@

# Modules are compiled when they are imported: few are.
$(VENV)/frameworks/.installed: $(PROJECTS) .ci/frameworks.txt | $(VENV)/bin/python
	$(BIN)/python -m venv --clear $(VENV)/frameworks
	$(VENV)/frameworks/bin/python -m pip --disable-pip-version-check install --quiet --no-compile \
		--constraint .ci/frameworks.txt --editable packages/gnomon \
		--editable 'packages/gohr[inspect,openenv,rl,verifiers]' --editable packages/gnomon-board \
		hypothesis pytest pytest-timeout pytest-xdist tensorboard torchrl
	touch $@
