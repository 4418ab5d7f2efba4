# Everything happens in a virtual environment inside this tree; python3, make and a package index are
# all that is needed. Every target sets up what it needs, once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DASHSCOPE := dashscope==2.0.2
MISTRAL := mistral-common==1.13.1
VOCABULARIES := $(VENV)/vocab/qwen.tiktoken $(VENV)/vocab/tekken.json

.PHONY: demo test lint bench docs capabilities clean

demo: $(VENV)/.ready $(VENV)/.servers $(VENV)/vocab/qwen.tiktoken
	@$(BIN)/python demo/demo.py
	@echo "demo: preflighted real tools, compiled the accepted ones, decoded random logits under their masks"

test: $(VENV)/.ready $(VENV)/.servers $(VOCABULARIES)
	@$(BIN)/python -m pytest
	@echo "test: ran every test that this machine has the means for"

lint: $(VENV)/.ready
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@echo "lint: ruff and mypy have nothing to say"

bench: $(VENV)/.ready $(VOCABULARIES)
	@for script in import_cost cli_startup walk hostile mask_step isolation verdict_store middleware profiles; do $(BIN)/python benchmarks/$$script.py || exit 1; done
	@echo "bench: each script printed its claim and its numbers"

docs: $(VENV)/.ready
	@$(BIN)/python docs/make_profiles.py
	@$(BIN)/python docs/make_rules.py
	@echo "docs: docs/rules says what the rules say, the parsed profiles what the profiles say"

# Minutes: every version of every engine that the tables are about, each in a folder of its own.
capabilities: $(VENV)/.ready
	@$(BIN)/python docs/make_capabilities.py
	@echo "capabilities: schemaguard/capabilities says what the engines do, docs/capabilities.md shows it"

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

# The package and all its extras. torch is pinned to a release with a small CPU build.
$(VENV)/.ready: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[xgrammar,llguidance,outlines,mcp,dev]'
	@touch $@
	@echo "set-up: the package and its tools are in $(VENV)"

# Real MCP servers for the demo, in an environment of their own: they pin their own versions of the SDK.
$(VENV)/.servers: demo/servers.txt
	@test -x $(VENV)/servers/bin/python || $(PYTHON) -m venv $(VENV)/servers
	@$(VENV)/servers/bin/python -m pip install --quiet --disable-pip-version-check -r demo/servers.txt
	@touch $@
	@echo "set-up: real MCP servers are in $(VENV)/servers"

# Real vocabularies, of 151,643 and 131,072 tokens. The file is taken out of the wheel; its code is not
# installed.
$(VENV)/vocab/qwen.tiktoken:
	@$(call take,$(DASHSCOPE),dashscope/resources/qwen.tiktoken,$@)

$(VENV)/vocab/tekken.json:
	@$(call take,$(MISTRAL),mistral_common/data/tekken_240911.json,$@)

# take PACKAGE, MEMBER, FILE: one file of a package's wheel.
define take
	set -e; folder=$$(mktemp -d); mkdir -p $(dir $(3)); \
	$(PYTHON) -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
	  --dest $$folder $(1); \
	$(PYTHON) -m zipfile -e $$folder/*.whl $$folder/wheel; \
	cp $$folder/wheel/$(2) $(3).part; mv $(3).part $(3); rm -r $$folder; \
	echo "set-up: a vocabulary is in $(3)"
endef
