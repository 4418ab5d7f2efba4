"""`schemaguard completion SHELL`: a completion script, made from the parser itself."""

from __future__ import annotations

import argparse

from schemaguard.cli.output import Output
from schemaguard.profiles import names
from schemaguard.rules import BY_NAME, RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PROGRAM = "schemaguard"
#: What takes a path, by its metavar.
_PATHS = frozenset({"FILE", "PATH"})


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = (
        "Print a completion script, for example: "
        'bash: eval "$(schemaguard completion bash)"; '
        "zsh: schemaguard completion zsh > ~/.zfunc/_schemaguard; "
        "fish: schemaguard completion fish > ~/.config/fish/completions/schemaguard.fish"
    )
    parser.add_argument("shell", choices=tuple(_SHELLS))
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    from schemaguard.cli import parser  # noqa: PLC0415  (it imports this module)

    with Output(None) as output:
        output.write("".join(f"{line}\n" for line in _SHELLS[options.shell](_commands(parser()))))
    return 0


class _Option:
    """One option or positional.

    Attributes:
        flags: as they are typed; none for a positional.
        many: a positional that takes what is left.
        words: what it can be, where that is a few words.
        takes: it takes a value.
        paths: the value is a path.
        help: what it is for.
    """

    def __init__(self, action: argparse.Action) -> None:
        self.flags = tuple(action.option_strings)
        self.takes = action.nargs != 0
        self.many = action.nargs in ("*", "+")
        self.words = tuple(str(choice) for choice in action.choices or ())
        if action.metavar in _WORDS:
            self.words = _WORDS[action.metavar]()
        self.paths = self.takes and action.metavar in _PATHS
        self.help = " ".join((action.help or "").split()).replace("%%", "%")


def _rules() -> tuple[str, ...]:
    return (*sorted(RULES), *sorted(BY_NAME))


#: What else is one of a few words, by its metavar.
_WORDS: dict[str | tuple[str, ...] | None, Callable[[], tuple[str, ...]]] = {
    "NAME": names,
    "RULE": _rules,
}
#: What can be said instead of a subcommand.
_INSTEAD = ("--help", "--version")


def _commands(parser: argparse.ArgumentParser) -> dict[str, tuple[str, list[_Option]]]:
    """Subcommand → (what it is for, its options)."""
    found = {}
    for action in parser._actions:  # noqa: SLF001  (argparse has no other way to ask)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  (the same)
            purposes = {sub.dest: sub.help or "" for sub in action._choices_actions}  # noqa: SLF001
            for name, own in action.choices.items():
                options = [_Option(option) for option in own._actions]  # noqa: SLF001  (the same)
                found[name] = (purposes[name], options)
    return found


def _bash(commands: dict[str, tuple[str, list[_Option]]]) -> Iterator[str]:
    yield f"# bash completion of {_PROGRAM}"
    yield f"_{_PROGRAM}() {{"
    yield "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}"
    yield "  COMPREPLY=()"
    yield "  if (( COMP_CWORD == 1 )); then"
    yield f'    COMPREPLY=($(compgen -W "{" ".join((*commands, *_INSTEAD))}" -- "$cur"))'
    yield "    return"
    yield "  fi"
    yield '  case "${COMP_WORDS[1]}" in'
    for name, (_, options) in commands.items():
        yield f"    {name})"
        yield '      case "$prev" in'
        for option in options:
            if option.flags and option.takes:
                complete = ":"
                if option.words:
                    complete = f'COMPREPLY=($(compgen -W "{" ".join(option.words)}" -- "$cur"))'
                elif option.paths:
                    complete = 'mapfile -t COMPREPLY < <(compgen -f -- "$cur")'
                yield f"        {'|'.join(option.flags)}) {complete}; return ;;"
        yield "      esac"
        flags = [flag for option in options for flag in option.flags]
        words = [word for option in options if not option.flags for word in option.words]
        yield "      if [[ $cur == -* ]]; then"
        yield f'        COMPREPLY=($(compgen -W "{" ".join(flags)}" -- "$cur"))'
        # `-o default` of the last line offers files where this offers nothing.
        yield f'      else COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$cur")); fi ;;'
    yield "  esac"
    yield "}"
    yield f"complete -o default -F _{_PROGRAM} {_PROGRAM}"


def _zsh(commands: dict[str, tuple[str, list[_Option]]]) -> Iterator[str]:
    yield f"#compdef {_PROGRAM}"
    yield f"_{_PROGRAM}() {{"
    yield "  local -a commands"
    yield "  commands=("
    for name, (purpose, _) in commands.items():
        yield f"    {_quoted(f'{name}:{purpose}')}"
    yield "  )"
    yield "  if (( CURRENT == 2 )); then"
    yield f"    if [[ $words[2] == -* ]]; then compadd -- {' '.join(_INSTEAD)}"
    yield "    else _describe command commands; fi"
    yield "    return"
    yield "  fi"
    yield "  local command=$words[2]"
    yield "  shift words"
    yield "  (( CURRENT-- ))"
    yield '  case "$command" in'
    for name, (_, options) in commands.items():
        yield f"    {name})"
        yield "      _arguments \\"
        place = 0
        for option in options:
            place += not option.flags
            yield from (f"        {_quoted(spec)} \\" for spec in _specs(option, place))
        yield "        && return ;;"
    yield "  esac"
    yield "}"
    yield f'if [[ $funcstack[1] == _{_PROGRAM} ]]; then _{_PROGRAM} "$@"'
    yield f"else compdef _{_PROGRAM} {_PROGRAM}; fi"


def _specs(option: _Option, place: int) -> Iterator[str]:
    """Specifications for zsh's `_arguments`; `place` is that of a positional, from 1."""
    value = f"({' '.join(option.words)})" if option.words else "_files" if option.paths else " "
    if not option.flags:
        yield f"{'*' if option.many else place}: :{value}"
        return
    about = option.help.replace("[", "(").replace("]", ")").replace(":", " ")
    for flag in option.flags:
        yield f"*{flag}[{about}]" + (f":value:{value}" if option.takes else "")


def _fish(commands: dict[str, tuple[str, list[_Option]]]) -> Iterator[str]:
    yield f"# fish completion of {_PROGRAM}"
    for flag in _INSTEAD:
        yield f"complete -c {_PROGRAM} -f -n __fish_use_subcommand -l {flag[2:]}"
    for name, (purpose, options) in commands.items():
        yield (
            f"complete -c {_PROGRAM} -f -n __fish_use_subcommand -a {name} -d {_quoted(purpose)}"
        )
        here = f"complete -c {_PROGRAM} -n '__fish_seen_subcommand_from {name}'"
        for option in options:
            if not option.flags:
                if option.words:
                    yield f"{here} -f -a {_quoted(' '.join(option.words))}"
                continue
            flags = (f"-l {f[2:]}" if f.startswith("--") else f"-s {f[1:]}" for f in option.flags)
            parts = [here, *flags]
            if option.takes:
                parts.append("-r -F" if option.paths else "-x")
            if option.words:
                parts.append(f"-a {_quoted(' '.join(option.words))}")
            parts.append(f"-d {_quoted(option.help)}")
            yield " ".join(parts)


def _quoted(text: str) -> str:
    """In single quotes, for all three shells: none of our texts needs one inside."""
    return "'" + text.replace("'", " ").replace("\\", " ") + "'"


_SHELLS: dict[str, Callable[[dict[str, tuple[str, list[_Option]]]], Iterator[str]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
