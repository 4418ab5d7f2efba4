# Everything happens in a virtual environment inside this tree; python3, make and a package index are
# all that is needed. Every target sets up what it needs, once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DASHSCOPE := dashscope==2.0.2
VOCABULARY := $(VENV)/vocab/qwen.tiktoken

.PHONY: demo test lint bench clean

demo: $(VENV)/.ready $(VENV)/.servers $(VOCABULARY)
	@$(BIN)/python demo/demo.py
	@echo "demo: preflighted real tools, compiled the accepted ones, decoded random logits under their masks"

test: $(VENV)/.ready $(VENV)/.servers $(VOCABULARY)
	@$(BIN)/python -m pytest
	@echo "test: ran every test"

lint: $(VENV)/.ready
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@echo "lint: ruff and mypy have nothing to say"

bench: $(VENV)/.ready $(VOCABULARY)
	@for script in import_cost walk hostile mask_step; do $(BIN)/python benchmarks/$$script.py || exit 1; done
	@echo "bench: each script printed its claim and its numbers"

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

# The package and all its extras. torch is pinned to a release with a small CPU build.
$(VENV)/.ready: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[xgrammar,mcp,dev]'
	@touch $@
	@echo "set-up: the package and its tools are in $(VENV)"

# Real MCP servers for the demo, in an environment of their own: they pin their own versions of the SDK.
$(VENV)/.servers: demo/servers.txt
	@test -x $(VENV)/servers/bin/python || $(PYTHON) -m venv $(VENV)/servers
	@$(VENV)/servers/bin/python -m pip install --quiet --disable-pip-version-check -r demo/servers.txt
	@touch $@
	@echo "set-up: real MCP servers are in $(VENV)/servers"

# A real vocabulary of 151,643 tokens. The file is taken out of the wheel; its code is not installed.
$(VOCABULARY):
	@mkdir -p $(VENV)/vocab
	@$(PYTHON) -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
	  --dest $(VENV)/vocab $(DASHSCOPE)
	@$(PYTHON) -m zipfile -e $(VENV)/vocab/dashscope-*.whl $(VENV)/vocab/wheel
	@cp $(VENV)/vocab/wheel/dashscope/resources/qwen.tiktoken $@
	@rm -r $(VENV)/vocab/wheel $(VENV)/vocab/dashscope-*.whl
	@echo "set-up: the vocabulary is $@"
