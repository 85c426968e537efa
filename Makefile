PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test test-long browser lint format faces stores openai2 performance docs clean

demo: $(STAMP)
	$(BIN)/liescope demo --out demo

# Three processes, since tests wait for servers and browsers a good part of their time; two cores are enough.
test: browser lint
	$(BIN)/python -m pytest -n 3 -m "not long"

# What takes long and is worth it: kills at random moments, whole published data, every page in a browser, recovery by the sampler.
test-long: browser $(STAMP)
	$(BIN)/python -m pytest -n 3 -m long

# Which browser pages are tested in, or how to get one: without it these tests are skipped.
browser:
	@$(PYTHON) tests/common/find_browser.py || true

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Every face tried with the newest real packages of its tool; their versions stand in the first lines of pytest.
faces: with-inspect with-control-arena with-verifiers with-trl with-textarena

# The tests of buckets, with a server that speaks the protocol of S3.
stores: with-s3

# The tests of endpoints with the newest SDK of the major before.
openai2: with-openai2

# Packages that the project does not need, and the tests that do, in an environment of its own on top of the project's.
PACKAGES_inspect := inspect_ai inspect_scout
# inspect_ai leaves event loops to the collector, which pytest would take for an error at its end
TESTS_inspect := -p no:unraisableexception tests/faces/test_inspect_detector.py tests/faces/test_inspect_games.py \
    tests/generate/importers/test_inspect_logs.py tests/generate/exports/test_inspect.py \
    tests/contracts/test_importers.py tests/generate/corpus/test_publish.py
PACKAGES_control-arena := control-arena
TESTS_control-arena := tests/faces/test_control_arena.py
PACKAGES_verifiers := verifiers
TESTS_verifiers := tests/faces/test_verifiers.py
PACKAGES_trl := trl
TESTS_trl := tests/faces/test_trl.py
PACKAGES_textarena := textarena
TESTS_textarena := tests/faces/test_textarena.py
PACKAGES_s3 := s3fs 'moto[server]'
TESTS_s3 := tests/common/test_s3.py
PACKAGES_openai2 := 'openai[aiohttp]>=2,<3'
TESTS_openai2 := -m "not long" tests/generate/players/openai

with-%: $(STAMP)
	$(PYTHON) -m venv --upgrade-deps .venv-$*
	$(BIN)/python -c "import site; print(f'import site; site.addsitedir({site.getsitepackages()[0]!r})')" \
	    > $$(echo .venv-$*/lib/python*/site-packages)/project.pth
	.venv-$*/bin/pip install --quiet --upgrade $(PACKAGES_$*)
	.venv-$*/bin/python -m pytest $(TESTS_$*)

performance: $(STAMP)
	$(BIN)/python tests/performance/benchmarks.py

# The site, from docs/ and the docstrings; nothing is fetched, and a broken link fails.
docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Everything is installed once; a change of pyproject.toml or of the pins installs again.
$(STAMP): pyproject.toml constraints/py311.txt
	@echo "Installing Liescope and the versions that its tests ran with into $(VENV), once: some minutes, about 3 GB."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip -c constraints/py311.txt
	@echo "  1 of 2: torch"
	@$(BIN)/python -m pip install --quiet -c constraints/py311.txt torch
	@echo "  2 of 2: transformers, scikit-learn, pymc and the rest"
	@$(BIN)/python -m pip install --quiet -c constraints/py311.txt -e '.[dev]'
	@touch $(STAMP)

clean:
	rm -rf $(VENV) demo site
