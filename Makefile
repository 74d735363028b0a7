# Every target makes its own virtual environment when it is missing and installs what it needs.
PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: parity nan demo test slow check bench accuracy docs docs-site clean

$(VENV)/installed: pyproject.toml constraints.txt src/paramedic.pth
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(PIP) "torch==2.13.0"
	$(PIP) -e .
	touch $@

$(VENV)/test: $(VENV)/installed
	$(PIP) "pytest>=8.4" "pytest-xdist>=3.5" "pytest-rerunfailures>=14" "hypothesis>=6.100" "lightning>=2.4" "transformers>=4.45" "accelerate>=1.0" "tensorboard>=2.16" \
	  "ipython>=8" "ipykernel>=6" "nbclient>=0.10" "pandas>=2.2" "ray>=2.30" "datasets>=3.0" "libcst>=1.5" "starlette>=0.40" "uvicorn>=0.30" \
	  "onnx>=1.17" "onnxruntime>=1.19" "keras>=3.5" "safetensors>=0.4" "mcp>=2" "sarif-pydantic>=0.6" \
	  "hatchling>=1.25" "pytorch-ignite>=0.5" "skorch>=1.0" "stable-baselines3>=2.3" "mkdocs-material>=9.5" "hydra-core>=1.3" "jaxtyping>=0.2.30" "einops>=0.8" "torchtyping>=0.1.5" "typeguard<3"
	touch $@

$(VENV)/check: $(VENV)/installed
	$(PIP) "ruff>=0.6" "mypy>=1.11" "pytest>=8.4"
	touch $@

demo: $(VENV)/installed  ## the main job: a broken script, its verdict, its report
	-$(VENV)/bin/paramedic run --html report.html examples/train_digits.py

test: check $(VENV)/test  ## lint, types and the tests
	$(VENV)/bin/python -m compileall -q src
	# Real processes, signals and clocks on a busy machine: a test gets a second try, and what fails twice has failed.
	# Three workers on two cores: many tests wait for a process or a clock.
	# What pytest makes of the test files (it rewrites their asserts) is kept for the next time, wherever that is switched off.
	env -u PYTHONDONTWRITEBYTECODE $(VENV)/bin/pytest -n 3 --dist worksteal --reruns 1 -m "not slow"

slow: $(VENV)/test  ## the tests that take long
	$(VENV)/bin/pytest -n 2 -m slow

check: $(VENV)/check  ## ruff and mypy
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

bench: $(VENV)/test  ## overhead of watching, beside other tools where they install
	$(VENV)/bin/python -m compileall -q src  # as pip leaves an installed package
	$(VENV)/bin/python -m benchmarks.overhead

accuracy: $(VENV)/installed  ## what it finds in real bugs, what it says wrongly of healthy programs
	$(VENV)/bin/python -m benchmarks.accuracy

nan: $(VENV)/test  ## who names the line that made a NaN: beside other tools
	$(VENV)/bin/python -m benchmarks.nan

parity: $(VENV)/test  ## planted differences between implementations: where, why, proved
	$(VENV)/bin/python -m benchmarks.parity

docs: $(VENV)/installed  ## regenerate docs/rules and docs/commands.md
	$(VENV)/bin/python docs/generate.py

docs-site: $(VENV)/test  ## the documentation as a site, in site/; its search needs no network
	$(VENV)/bin/mkdocs build --strict --quiet
	@echo "look at it with: python3 -m http.server --directory site"

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .paramedic report.html
