# Everything from a fresh clone, with a C compiler and Python 3.10 or later: `make` lists the goals.

PYTHON ?= python3

# What the installed package is made of. What is built is what ships: a plain install, not an editable one.
SOURCES := pyproject.toml MANIFEST.in README.md LICENSE $(shell find cython_ext vwlite -name '*.py' -o -name '*.pyx' \
	-o -name '*.pxd' -o -name '*.h' -o -name '*.txt' -o -name '*.pyi' -o -name py.typed)
INSTALLED := .venv/.installed
# What tests and `make docs` need beside it.
TESTED := .venv/.tested
BIN := .venv/bin
DEMO := build/demo

.PHONY: help install demo try test test-long lint docs sanitize portable fuzz compat bench bench-quick bench-projection \
	bench-dimension bench-sql tasks compare compare-quick picture papers papers-quick bench-solve bench-solve-quick bench-rounds bench-merge bench-shards \
	auto auto-scale auto-kinds auto-quick continue bench-against bench-serve soak wheel wheels release test-browser page-picture clean

help:
	@echo "make demo         build the program, and nothing for tests; train, predict and look at a model, on the data in data/"
	@echo "make test         the tests, and lint beside them, against the installed package (about 10 minutes); installs what"
	@echo "                  they need"
	@echo "make test-long    the tests that \`make test\` leaves out, to be run before a release (about 15 minutes): all"
	@echo "                  combinations of parameters, most kills and signals, Dask, runs of ten million examples"
	@echo "make lint         ruff and mypy"
	@echo "make docs         README, results and help, as far as they are made from the program"
	@echo "make sanitize     the tests of the compiled core, built with AddressSanitizer"
	@echo "make fuzz         the same build on drawn texts, commands, models and caches, for MINUTES=5; keeps what fails"
	@echo "make portable     tests of the core, models and caches, built without what is made for particular processors"
	@echo "make compat       \`vwlite vw\` beside the real Vowpal Wabbit, on 2,000 drawn command lines and texts"
	@echo "make page-picture the picture of a page of \`vwlite report\` in README; needs Chromium and ImageMagick"
	@echo "make bench        the table of speed and memory in tests/bench/RESULTS.md (about 30 minutes);"
	@echo "                  SETS=FOLDER says where the data sets are, of which it takes rcv1; ONLY=WORDS runs the rows"
	@echo "                  whose name contains them, for a table of their own"
	@echo "make bench-quick  the same on tiny data: does the benchmark work?"
	@echo "make bench-against REV=COMMIT  is this checkout as fast as that commit? Ratios of paired runs of ten kinds of work"
	@echo "                  (about 10 minutes); SETS=FOLDER and ONLY=WORDS as above, SIZE=400 is MB of documents"
	@echo "make bench-serve  \`vwlite serve\` beside a naive server and Vowpal Wabbit's daemon, in tests/bench/SERVE.md"
	@echo "                  (about 5 minutes)"
	@echo "make tasks        speed and bytes on README's first screen, beside Vowpal Wabbit and DuckDB (about 5 minutes); SETS=FOLDER"
	@echo "                  as above"
	@echo "make soak         \`vwlite serve\` under mixed load and attacks for MINUTES=30, with each answer compared"
	@echo "make bench-projection  the table and the picture of projection times there (about 2 minutes)"
	@echo "make bench-sql    models as one SELECT in SQLite and DuckDB, beside \`vwlite predict\`, there (about 5 minutes);"
	@echo "                  SETS=FOLDER as above"
	@echo "make bench-dimension   the tables of time over the number of features there (about 5 minutes)"
	@echo "make compare      the tables and pictures of all algorithms on real data there (about 40 minutes);"
	@echo "                  SETS=FOLDER says where the data sets are"
	@echo "make compare-quick  the same on small data: does it work?"
	@echo "make picture      the picture of the README, from rcv1 (about 6 minutes); SETS=FOLDER as above"
	@echo "make papers       the figures of the papers beside their claims, in tests/bench/PAPERS.md (about 30 minutes);"
	@echo "                  SETS=FOLDER as above, ONLY=NAME is one figure"
	@echo "make papers-quick   the same on tiny data: does it work?"
	@echo "make bench-solve  \`vwlite solve\` against LIBLINEAR, celer and skglm, in tests/bench/SOLVE.md (about 20 minutes);"
	@echo "                  SETS=FOLDER as above, ONLY=WORK is one part"
	@echo "make bench-solve-quick  the same on small data: does it work?"
	@echo "make bench-rounds \`vwlite solve --shards\`: rounds and bytes to the optimum, in tests/bench/ROUNDS.md (about a minute);"
	@echo "                  SETS=FOLDER as above"
	@echo "make bench-merge  merges against one machine, in tests/bench/MERGE.md (about 30 minutes); SETS=FOLDER as above,"
	@echo "                  ONLY=WORK is one part"
	@echo "make bench-shards \`vwlite dask train\` without options beside one machine, in tests/bench/MERGE.md (about an hour);"
	@echo "                  SETS=FOLDER as above, ONLY=NAME prints some rows"
	@echo "make auto         \`--algorithm auto\` beside tuned learners, in tests/bench/AUTO.md (about 10 minutes);"
	@echo "                  SETS=FOLDER as above, ONLY=PARTS are some parts, such as \"tables texts\""
	@echo "make auto-scale   the default with many examples, and with many classes, in tests/bench/AUTO.md and RESULTS.md"
	@echo "                  (about 15 minutes); SETS=FOLDER as above"
	@echo "make auto-kinds   the default on drawn tables of some 50 kinds, whose best loss is known, in tests/bench/AUTO.md"
	@echo "                  (3 minutes; 1 minute without peers, which learn only new kinds); ONLY=WORDS prints the tables of"
	@echo "                  kinds whose name has one of them, AGAINST=FILE compares with an earlier auto_kinds.json"
	@echo "make continue     models that are continued each night, beside models of all days, in tests/bench/AUTO.md"
	@echo "                  (40 minutes); SETS=FOLDER as above, ONLY=NAMES prints some rows"
	@echo "make auto-quick   the same on small data: does it work?"
	@echo "make wheel        wheel and source archive in dist/, each tried in an empty environment"
	@echo "make install      only the virtual environment .venv with vwlite in it"
	@echo "make clean        remove everything that was made"
	@echo
	@echo "PYTHON=python3.12 make ... chooses the interpreter for the virtual environments."

install: $(INSTALLED)

# Compiling needs them; the system's Python often comes without.
HEADERS := import os, sys, sysconfig; at = os.path.join(sysconfig.get_path("include"), "Python.h"); \
	sys.exit(not os.path.exists(at) and f"{at} is missing: install the headers of this Python (python3-dev or python3-devel)")

.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "vwlite needs Python 3.10 or later: make PYTHON=python3.12")'
	@$(PYTHON) -c '$(HEADERS)'
	rm -rf .venv
	$(PYTHON) -m venv .venv

# Modules that are gone from the sources must not come back from the last build's folder.
$(INSTALLED): .venv/bin/pip $(SOURCES)
	rm -rf build/lib* build/bdist* *.egg-info
	@echo "# Build vwlite: compile $(words $(filter %.pyx,$(SOURCES))) Cython modules, once; one to two minutes on two cores."
	$(BIN)/pip install --quiet --disable-pip-version-check .
	touch $@

# The names in pyproject.toml, of the installed package: as '.[test]' they would have it built again.
REQUIRED := import importlib.metadata as m; \
	print(*(name.split(";")[0] for name in m.requires("vwlite") if "extra == \"test\"" in name), sep="\n")

$(TESTED): pyproject.toml | $(INSTALLED)
	@mkdir -p build
	$(BIN)/python -P -c '$(REQUIRED)' > build/test-requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r build/test-requirements.txt
	touch $@

demo: $(INSTALLED) try

# The demo with the vwlite in $(BIN), whoever has installed it.
try:
	@mkdir -p $(DEMO)
	@echo "# Which lines of source code are Cython? Learn from 1,500 of them, without options but the columns."
	$(BIN)/vwlite train data/code.train.csv --label is_cython --text code --drop id --names -m $(DEMO)/model
	@echo "# Predict 500 other ones."
	$(BIN)/vwlite predict -m $(DEMO)/model data/code.test.csv -p $(DEMO)/predictions.txt
	@tail -n +2 data/code.test.csv | paste -d, $(DEMO)/predictions.txt - | awk -F, \
		'{ right += ($$1 > 0.5) == ($$3 == 1) } END { printf "accuracy: %d of %d right\n", right, NR; exit right < 0.8 * NR }'
	@echo "# What it looks at: the largest weights."
	$(BIN)/vwlite weights $(DEMO)/model --top 10

# Tests are compiled once, whatever the environment says: it is a tenth of the time.
test test-long: export PYTHONDONTWRITEBYTECODE :=
# A case that takes more than a second of the processor fails.
test: export VWLITE_TEST_TIMES := 1
# All that hypothesis can draw, of which `make test` takes a third.
test-long sanitize portable: export VWLITE_TEST_ALL := 1

# Tests share nothing, so two of them run at a time; WORKERS=0 is one after the other, in this process.
WORKERS := 2
LINT := $(BIN)/ruff check . && $(BIN)/mypy
# Lint runs beside the tests; what it says comes after them, and either of them may fail.
test: $(INSTALLED) $(TESTED)
	@mkdir -p build
	{ $(LINT); } > build/lint.txt 2>&1 & lint=$$!; $(BIN)/pytest -n $(WORKERS) --dist worksteal; tests=$$?; \
		wait $$lint; lint=$$?; cat build/lint.txt; exit $$((tests ? tests : lint))
	@echo "\`make test-long\` runs the tests that this leaves out: before a release, and after a change to what they test"

test-long: $(INSTALLED) $(TESTED)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m 'long or drawn or hypothesis'

lint: $(INSTALLED) $(TESTED)
	$(LINT)

docs: $(INSTALLED) $(TESTED)
	$(BIN)/python tests/docs.py

# Builds of other kinds, each with a folder of its own: objects of two builds must not be mixed.
SANITIZED := .venv-asan/.installed
PORTABLE := .venv-portable/.installed
# No wildcards: a test that is renamed must not drop out.
CORE_TESTS := tests/core tests/auto tests/solve $(addprefix tests/rules/test_, rules.py averaging.py nonzeros.py) \
	$(addprefix tests/vw/test_, interleaved.py vw_core.py vw_fast_path.py vw_invalid_input.py vw_models.py vw_text.py)
# With all combinations of parameters.
ALL_PAIRS := -m 'not long or pairwise'

$(SANITIZED): export VWLITE_SANITIZE := 1
$(PORTABLE): export VWLITE_PORTABLE := 1

$(SANITIZED) $(PORTABLE): .venv-%/.installed: $(SOURCES)
	rm -rf .venv-$* build/$*
	$(PYTHON) -m venv .venv-$*
	mkdir -p build/$*
	cp -R pyproject.toml MANIFEST.in README.md LICENSE vwlite cython_ext build/$*
	.venv-$*/bin/pip install --quiet --disable-pip-version-check './build/$*[test]'
	touch $@

# detect_leaks=0: the interpreter itself keeps memory until the end of the process.
# Of libstdc++ too, or exceptions of pyarrow end the process.
WATCHED := LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" UBSAN_OPTIONS=halt_on_error=1 PYTHONMALLOC=malloc

sanitize: $(SANITIZED)
	$(WATCHED) ASAN_OPTIONS=detect_leaks=0 .venv-asan/bin/pytest $(ALL_PAIRS) $(CORE_TESTS)

# The same bytes: the tests of the core, those that compare models, caches and what is printed, and the digests of a list
# of models, which must be those of the usual build.
portable: $(PORTABLE) $(INSTALLED) $(TESTED)
	.venv-portable/bin/vwlite --version | grep -qx 'instructions portable'
	$(BIN)/python -P tests/digests.py > build/digests.txt
	.venv-portable/bin/python -P tests/digests.py | diff build/digests.txt -
	.venv-portable/bin/pytest $(ALL_PAIRS) $(CORE_TESTS) tests/rules/test_battery.py tests/golden \
		$(addprefix tests/input/test_, cache.py cache_file.py tables.py) tests/model/test_model.py

# No piece of memory above 1 GB; what is freed is watched for only a little while, as that is memory too.
MINUTES := 5
fuzz: $(SANITIZED)
	cd tests && PYTHONPATH=support:reference $(WATCHED) OPENBLAS_NUM_THREADS=1 \
		ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=32:max_allocation_size_mb=1024:allocator_may_return_null=1 \
		../.venv-asan/bin/python -m fuzz --work ../build/fuzz/work --keep ../build/fuzz --minutes $(MINUTES) \
		$(if $(SEED),--seed $(SEED)) $(abspath $(CASES))

# vowpalwabbit, scikit-learn, celer, skglm and LIBLINEAR are installed for comparing only.
BENCH := .bench/venv/.installed
RESULTS := tests/bench/RESULTS.md
# The files that `make compare` names if they are not there.
SETS := .bench/sets

$(BENCH): $(SOURCES)
	rm -rf build/lib* build/bdist* *.egg-info
	mkdir -p .bench
	test -x .bench/venv/bin/pip || $(PYTHON) -m venv .bench/venv
	.bench/venv/bin/pip install --quiet --disable-pip-version-check '.[bench]'
	touch $@

compat: $(INSTALLED) $(TESTED) $(BENCH)
	VWLITE_COMPAT_RUNS=1000 VWLITE_COMPAT_FIRST=1000 $(BIN)/pytest -p no:cacheprovider tests/vw/test_compat.py & \
	VWLITE_COMPAT_RUNS=1000 $(BIN)/pytest -p no:cacheprovider tests/vw/test_compat.py; \
	code=$$?; wait $$! && exit $$code

bench: $(BENCH) $(PORTABLE)
	.bench/venv/bin/python tests/bench/bench.py --data $(SETS) --results $(RESULTS) $(if $(ONLY),--only "$(ONLY)")

bench-quick: $(BENCH) $(PORTABLE)
	.bench/venv/bin/python tests/bench/bench.py --quick

SIZE := 400
bench-against: $(INSTALLED) $(TESTED)
	$(BIN)/python tests/bench/against.py "$(REV)" --data $(SETS) --size $(SIZE) $(if $(ONLY),--only "$(ONLY)")

bench-serve: $(BENCH)
	.bench/venv/bin/python tests/bench/serve.py --results tests/bench/SERVE.md

# MINUTES=30 is what a release is tried with.
soak: $(INSTALLED) $(TESTED)
	$(BIN)/python tests/bench/soak.py --minutes $(MINUTES)

bench-projection: $(BENCH)
	.bench/venv/bin/python tests/bench/projection.py --results $(RESULTS)

tasks: $(BENCH)
	.bench/venv/bin/python tests/bench/tasks.py --data $(SETS)
	.bench/venv/bin/python tests/docs.py

bench-sql: $(BENCH)
	.bench/venv/bin/python tests/bench/sql.py --data $(SETS) --results $(RESULTS)

bench-dimension: $(BENCH)
	.bench/venv/bin/python tests/bench/dimension.py --results $(RESULTS)

compare: $(BENCH)
	.bench/venv/bin/python tests/bench/compare.py --data $(SETS)
	.bench/venv/bin/python tests/bench/claims.py --data $(SETS)
	.bench/venv/bin/python tests/docs.py

compare-quick: $(BENCH)
	mkdir -p build/compare
	.bench/venv/bin/python tests/bench/compare.py --quick --out build/compare
	.bench/venv/bin/python tests/bench/claims.py --quick --out build/compare

picture: $(BENCH)
	.bench/venv/bin/python tests/bench/picture.py --data $(SETS)

papers: $(BENCH)
	cd tests/bench && ../../.bench/venv/bin/python -m papers --data $(abspath $(SETS)) $(addprefix --only ,$(ONLY))

papers-quick: $(BENCH)
	mkdir -p build/papers
	cd tests/bench && ../../.bench/venv/bin/python -m papers --quick --data $(abspath $(SETS)) --out ../../build/papers

# LIBLINEAR's sources are compiled with a line more, as solve.py says: g++ has to be there.
bench-solve: $(BENCH)
	.bench/venv/bin/python tests/bench/solve.py --data $(SETS) --results tests/bench/SOLVE.md $(addprefix --only ,$(ONLY))

# Shards on the processes of this machine; nothing but vwlite is compared.
bench-rounds: $(INSTALLED) $(TESTED)
	$(BIN)/python tests/bench/rounds.py --data $(SETS) --results tests/bench/ROUNDS.md

bench-solve-quick: $(BENCH)
	.bench/venv/bin/python tests/bench/solve.py --quick

bench-merge: $(INSTALLED) $(TESTED)
	$(BIN)/python tests/bench/merge.py --data $(SETS) --results tests/bench/MERGE.md $(addprefix --only ,$(ONLY))

bench-shards: $(INSTALLED) $(TESTED)
	$(BIN)/python tests/bench/shards.py --data $(SETS) --results tests/bench/MERGE.md $(if $(ONLY),--only "$(ONLY)")

AUTO := --data $(SETS) --results tests/bench/AUTO.md
auto: $(BENCH)
	.bench/venv/bin/python tests/bench/auto.py $(AUTO) $(addprefix --only ,$(ONLY))
	$(if $(ONLY),,.bench/venv/bin/python tests/bench/auto_speed.py $(AUTO))

auto-scale: $(BENCH)
	.bench/venv/bin/python tests/bench/auto_scale.py $(AUTO) --growth $(RESULTS)

auto-kinds: $(BENCH)
	.bench/venv/bin/python tests/bench/auto_kinds.py $(if $(AGAINST),--against "$(AGAINST)") \
		$(if $(ONLY),--only "$(ONLY)",--results tests/bench/AUTO.md)

continue: $(BENCH)
	.bench/venv/bin/python tests/bench/nights.py $(if $(SETS),--data "$(SETS)") \
		$(if $(ONLY),--only "$(ONLY)",--results tests/bench/AUTO.md)
	.bench/venv/bin/python tests/bench/nights.py $(if $(SETS),--data "$(SETS)") --limited \
		$(if $(ONLY),--only "$(ONLY)",--results tests/bench/AUTO.md)

auto-quick: $(BENCH)
	mkdir -p build/auto
	.bench/venv/bin/python tests/bench/auto.py --quick --picture build/auto/auto.png --tables-picture build/auto/auto-tables.png
	.bench/venv/bin/python tests/bench/auto_speed.py --quick
	.bench/venv/bin/python tests/bench/auto_scale.py --quick
	.bench/venv/bin/python tests/bench/auto_kinds.py --quick
	.bench/venv/bin/python tests/bench/nights.py --quick

# What is released: both are made as a stranger would, the wheel from the source archive, and each is tried in an empty
# environment with the data and the Makefile of the archive.
WHEEL := build/wheel
wheel:
	rm -rf dist $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)/tools
	$(WHEEL)/tools/bin/pip install --quiet --disable-pip-version-check build
	$(WHEEL)/tools/bin/python -m build --outdir dist . > $(WHEEL)/log || { tail -n 20 $(WHEEL)/log; exit 1; }
	mkdir $(WHEEL)/archive
	tar -xzf dist/*.tar.gz -C $(WHEEL)/archive --strip-components 1
	@for made in dist/*.whl dist/*.tar.gz; do \
		env=$(CURDIR)/$(WHEEL)/$${made##*.}; \
		echo "# $$made: $$(wc -c < $$made) bytes; installed into an empty environment" \
		&& $(PYTHON) -m venv $$env && $$env/bin/pip install --quiet --disable-pip-version-check $$made \
		&& $$env/bin/vwlite --version && test -e $$env/share/man/man1/vwlite.1 \
		&& make --no-print-directory -C $(WHEEL)/archive try BIN=$$env/bin > $$env/demo.txt 2>&1 && grep accuracy: $$env/demo.txt \
		|| { cat $$env/demo.txt; exit 1; }; \
	done
	@size=$$(cat dist/*.whl | wc -c); test $$size -le 4000000 || { echo "the wheel has $$size bytes, more than 4 MB"; exit 1; }

# Wheels that need no compiler, for each Python that is here, on x86-64 and ARM, with glibc 2.28 and with musl.
PYTHONS = $(foreach version,10 11 12 13 14,$(shell command -v python3.$(version)))
wheels: $(INSTALLED)
	sh tests/wheels.sh dist $(PYTHONS)

# What goes to a package index: all checks, then the archive and the wheel from a copy whose links lead to URL, the page
# of the repository. They are in build/release/dist.
release: test test-long sanitize
	rm -rf build/release
	$(BIN)/python tests/release.py "$(URL)" build/release
	$(MAKE) -C build/release wheel
	build/release/$(WHEEL)/tools/bin/pip install --quiet --disable-pip-version-check twine
	build/release/$(WHEEL)/tools/bin/twine check --strict build/release/dist/*

# Needs Node.js with npm, and Chromium (CHROMIUM=/path/to/it if it is not /usr/bin/chromium); a clone installs neither.
BROWSER := .bench/browser
test-browser: $(INSTALLED)
	mkdir -p $(BROWSER) && cp tests/browser/package.json tests/browser/check.mjs $(BROWSER)
	cd $(BROWSER) && npm install --no-audit --no-fund --silent
	PATH="$(CURDIR)/$(BIN):$$PATH" sh tests/browser/pages.sh $(BROWSER)/pages
	cd $(BROWSER) && node check.mjs pages/*.html

# The page in README, of the data in data/.
page-picture: $(INSTALLED)
	mkdir -p build/page
	$(BIN)/vwlite train data/code.train.csv --label is_cython --text code --drop id -m build/page/code.model --quiet
	$(BIN)/vwlite report -m build/page/code.model data/code.test.csv -o build/page/report.html --quiet
	$${CHROMIUM:-chromium} --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1120,1640 \
		--screenshot=build/page/page.png "file://$(CURDIR)/build/page/report.html"
	convert build/page/page.png -colors 40 +dither PNG8:tests/bench/page.png

clean:
	rm -rf .venv .venv-asan .venv-portable .bench build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
