# A thin face over meson. Two commands do everything on a bare Debian or Ubuntu machine: `make demo`, `make test`.
BUILD ?= build
NINJA = ninja $$([ -t 1 ] || echo --quiet) -C $(BUILD)
# Two tests more than cores: tests of engines, ranks and terminals wait for most of their time.
MESON_TEST = meson test -C $(BUILD) --print-errorlogs --no-rebuild --timeout-multiplier 4 \
  --num-processes $$(($$(nproc) + 2))

.PHONY: all demo test check attack bench bench-learned papers fuzz format docs site install deb clean setup-build setup-test setup-check setup-deb
all: setup-build $(BUILD)/build.ninja
	@$(NINJA)

setup-build setup-test setup-check setup-deb:
	@tools/setup.sh $(@:setup-%=%)

$(BUILD)/build.ninja:
	@meson setup $(BUILD) $(SETUP) >/dev/null || { cat $(BUILD)/meson-logs/meson-log.txt; rm -f $@; exit 1; }

# Places a built-in network on a mixed machine and says which files it wrote.
demo: all
	@tools/demo.sh $(BUILD)

# The fast tier: every suite, with a tenth of the rounds. About two minutes after the build.
test: setup-build setup-test $(BUILD)/build.ninja
	@meson configure $(BUILD) -Dtests=enabled >/dev/null
	@ninja -C $(BUILD) build.ninja >/dev/null || { cat $(BUILD)/meson-logs/meson-log.txt; exit 1; }
	@$(NINJA)
	@$(MESON_TEST) --setup fast --quiet; code=$$?; tools/test_summary.py $(BUILD); exit $$code

# The rest: all rounds and the long suite, clang, sanitizers, a build without learning. About half an hour.
check: setup-build setup-test setup-check
	@tools/check.sh

# N random problems against counting of all plans, and N forged certificates; SEED numbers the first. About an hour.
attack: setup-build setup-test $(BUILD)/build.ninja
	@meson configure $(BUILD) -Dtests=enabled >/dev/null
	@ninja -C $(BUILD) build.ninja >/dev/null || { cat $(BUILD)/meson-logs/meson-log.txt; exit 1; }
	@$(NINJA)
	@tools/attack.sh $(BUILD)

bench: all
	@bench/run.sh $(BUILD)

# The learned policies and their rivals on the networks of GDP and HSDAG, and what the policy that ships serves;
# continues where the CSV files in the build folder end. Hours.
bench-learned: all
	@python3 bench/learned.py $(BUILD)/situ $(BUILD)/go.csv
	@python3 bench/tables.py learned $(BUILD)/go.csv
	@python3 bench/tables.py learned_effort $(BUILD)/go.csv
	@python3 bench/hsdag.py $(BUILD)/situ $(BUILD)/hsdag_values.csv --table values
	@python3 bench/tables.py hsdag_values $(BUILD)/hsdag_values.csv
	@python3 bench/served.py $(BUILD)/situ $(BUILD)/served_zero_shot.csv --table zero_shot
	@python3 bench/tables.py served_zero_shot $(BUILD)/served_zero_shot.csv

# Claims of the four papers and how they fare here (docs/papers.md), in minutes; DATA is a folder with the public inputs, FETCH=1 clones
# them into it.
papers: setup-build $(BUILD)/build.ninja
	@$(NINJA) situ
	@python3 bench/papers.py --situ $(BUILD)/situ $(if $(DATA),--data $(DATA)) $(if $(FETCH),--fetch)

fuzz: setup-build setup-check
	@tools/fuzz.sh

format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

docs: all
	@python3 tools/man.py $(BUILD)/situ docs/man

install: all
	@meson install -C $(BUILD)

# The documentation site, in build/site.
site: all
	@[ -x $(BUILD)/docs/bin/sphinx-build ] || tools/setup.sh docs $(BUILD)/docs
	@SITU_LIBRARY=$(BUILD)/libsitu.so $(BUILD)/docs/bin/sphinx-build -q -W --keep-going -c docs . $(BUILD)/site
	@cp $(BUILD)/site/README.html $(BUILD)/site/index.html && echo $(BUILD)/site/index.html

# Debian packages of the tool, the library, its headers and the Python face, in build/deb.
deb: setup-deb
	@tools/deb.sh $(BUILD)

clean:
	@rm -rf $(BUILD) $(BUILD)-*
