# Everything a person or a CI run does here. `make help` lists it.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
ARGS ?=
# Two files at a time, each process with servers of its own: most tests wait. PARALLEL= runs one.
PARALLEL ?= --numprocesses=2 --dist=loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(READY) ## Install missing system packages and the virtual environment
	@$(PYTHON) -m dev.packages

.PHONY: programs
programs: setup # the Kubernetes programs of the local cluster, built once a version
	@$(RUN) -m dev setup

.PHONY: test
test: programs ## Run the tests; ARGS="tests/unit -k ports" goes to pytest
	@$(RUN) -m pytest $(PARALLEL) $(ARGS)

.PHONY: gitops
gitops: export CLUSTER := local
gitops: programs ## Test with the real Argo CD, built once; ARGS goes to pytest
	@$(RUN) -m dev.packages gitops
	@$(RUN) -m dev.gitops.programs
	@$(RUN) -m pytest tests/gitops $(ARGS)

.PHONY: e2e
e2e: programs ## Test the chart with real pods, images built here, as root; ARGS goes to pytest
	@$(RUN) -m dev.node.prepare
	@$(RUN) -m pytest tests/e2e --ignore=tests/e2e/scaling $(ARGS)

.PHONY: keda
keda: programs ## Test scaling with the real KEDA and real pods, as root; ARGS goes to pytest
	@$(RUN) -m dev.node.prepare
	@$(RUN) -m dev.node.keda
	@$(RUN) -m pytest tests/e2e/scaling $(ARGS)

.PHONY: chart
chart: programs ## Check the chart with both Helms, promtool and a real API server; ARGS goes to pytest
	@$(VENV)/bin/pip install --quiet --group chart
	@$(RUN) -m dev.helm.programs
	@$(RUN) -m dev.helm.checkov
	@$(RUN) -m pytest tests/chart $(ARGS)

.PHONY: lint
lint: setup ## Check style, format, types and import directions
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy
	@$(VENV)/bin/lint-imports

.PHONY: demo
demo: programs ## Start everything and watch two requests to their end
	@$(RUN) -m dev.demo

.PHONY: demo-stop
demo-stop: setup ## End what `make demo` started and remove its data
	@$(RUN) -m dev down

.PHONY: generate
generate: setup ## Write the generated files (crds/) anew
	@$(RUN) -m dev.generate

.PHONY: bench
bench: programs ## Measure throughput and latency; QUICK=1 for a short run
	@$(RUN) -m benchmarks $(ARGS)

.PHONY: ocr-bench
ocr-bench: setup ## Score how labelled receipts are read; ARGS="--help" tells more
	@$(RUN) -m benchmarks.ocr $(ARGS)

.PHONY: clean
clean: ## End the demo and remove the virtual environment and every cache of this checkout
	@if [ -x $(RUN) ]; then $(RUN) -m dev down; fi
	rm -rf $(VENV) .*_cache .bench .e2e .hypothesis dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=/path/to/it" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m dev.packages
	@$(PYTHON) -m dev.environment $(VENV)
	@touch $@
