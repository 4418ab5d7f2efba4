"""Dynamo's policy: `--dyn-structural-tag`, its variable, and the switches that it had before.

Sources: the Structural Tag documentation and the runtime arguments of NVIDIA Dynamo.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from schemaguard.grammar.tags.policy import (
    FALSE,
    TRUE,
    Policy,
    PolicyError,
    bool_text,
    boolean,
    cut_value,
)
from schemaguard.servers import dynamo_pins, dynamo_tags

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from schemaguard.grammar.tags.reading import Asked

_MAX_TEXT = 64 * 1024

#: Field of Dynamo's object → the values that it takes; bool stands for true and false.
_FIELDS: dict[str, tuple[object, ...]] = {
    "scope": ("always", "auto"),
    "schema": ("auto", "strict"),
    "allow_tool_calls_with_structured_output": (False, True),
    "exclude_special_tokens": (None, False, True),
    "reasoning_boundary": ("auto", "structural_tag", "backend"),
    "tool_arguments_any_order": (False, True),
}

_VARIABLE = "DYN_STRUCTURAL_TAG"
_KEEP_VARIABLE = "DYN_EXCLUDE_TOOLS_WHEN_TOOL_CHOICE_NONE"
#: Legacy flag → its variable.
_LEGACY = {
    "--dyn-enable-structural-tag": "DYN_ENABLE_STRUCTURAL_TAG",
    "--dyn-structural-tag-scope": "DYN_STRUCTURAL_TAG_SCOPE",
    "--dyn-structural-tag-schema": "DYN_STRUCTURAL_TAG_SCHEMA",
}


class DynamoPolicy(Policy):
    """Dynamo's `--dyn-structural-tag`. The fields are those of its object.

    A strict tool whose schema fails Dynamo's preflight is refused with the request, as Dynamo
    does. `unfit` is about all others.

    Attributes:
        enabled: False is the setting `false`.
        scope: "always": every request with tools; "auto": as `tag_for` says.
        schema: "auto": schemas of tools whose `strict` is not false; "strict": of all tools.
        allow_tool_calls_with_structured_output, exclude_special_tokens, reasoning_boundary,
            tool_arguments_any_order: as in Dynamo.
        exclude_tools_when_tool_choice_none: Dynamo's flag of that name.
        legacy: names of the legacy switches that were used.
    """

    __slots__ = (
        "allow_tool_calls_with_structured_output",
        "dear",
        "enabled",
        "exclude_special_tokens",
        "exclude_tools_when_tool_choice_none",
        "legacy",
        "reasoning_boundary",
        "schema",
        "scope",
        "tool_arguments_any_order",
        "unfit",
    )

    name = "dynamo"
    enabled: bool
    scope: str
    schema: str
    allow_tool_calls_with_structured_output: bool
    tool_arguments_any_order: bool
    exclude_tools_when_tool_choice_none: bool
    exclude_special_tokens: bool | None
    reasoning_boundary: str
    legacy: tuple[str, ...]

    def __init__(
        self,
        *,
        enabled: bool = True,
        scope: str = "always",
        schema: str = "auto",
        allow_tool_calls_with_structured_output: bool = False,
        exclude_special_tokens: bool | None = None,
        reasoning_boundary: str = "auto",
        tool_arguments_any_order: bool = False,
        exclude_tools_when_tool_choice_none: bool = True,
        legacy: tuple[str, ...] = (),
        unfit: str = "relax",
        dear: str = "loosen",
    ) -> None:
        self._keep(unfit, dear)
        self._fill(
            enabled=boolean("enabled", enabled),
            scope=_field("scope", scope),
            schema=_field("schema", schema),
            allow_tool_calls_with_structured_output=_field(
                "allow_tool_calls_with_structured_output", allow_tool_calls_with_structured_output
            ),
            exclude_special_tokens=_field("exclude_special_tokens", exclude_special_tokens),
            reasoning_boundary=_field("reasoning_boundary", reasoning_boundary),
            tool_arguments_any_order=_field("tool_arguments_any_order", tool_arguments_any_order),
            exclude_tools_when_tool_choice_none=boolean(
                "exclude_tools_when_tool_choice_none", exclude_tools_when_tool_choice_none
            ),
            legacy=tuple(legacy),
        )

    @classmethod
    def parse(cls, text: str, **options: Any) -> Self:
        """The policy of a value of `--dyn-structural-tag`: `true`, `false` or a JSON object.

        Args:
            text: the value.
            options: other arguments of the constructor.

        Raises:
            PolicyError: the text is neither, or has an unknown field or an invalid value.
        """
        words = text.strip().lower()
        if words in TRUE or words in FALSE:
            return cls(enabled=words in TRUE, **options)
        return cls(**_read_object(text), **options)

    @classmethod
    def from_env(cls, environ: Mapping[str, str], **options: Any) -> Self:
        """The policy of `DYN_STRUCTURAL_TAG` and the legacy variables; see `from_arguments`."""
        return cls.from_arguments((), environ, **options)

    @classmethod
    def from_arguments(
        cls, arguments: Sequence[str], environ: Mapping[str, str] | None = None, **options: Any
    ) -> Self:
        """The policy of a worker's arguments and environment; arguments go before variables.

        Read are `--dyn-structural-tag [VALUE]`, the legacy `--[no-]dyn-enable-structural-tag`,
        `--dyn-structural-tag-scope` and `--dyn-structural-tag-schema`, and
        `--[no-]exclude-tools-when-tool-choice-none`, with their variables; all else is left alone.

        Raises:
            PolicyError: an invalid value, an unknown field, or a legacy switch beside the object.
        """
        given = _flags(arguments)
        environ = {} if environ is None else environ
        for flag, variable in {**_LEGACY, "--dyn-structural-tag": _VARIABLE}.items():
            if flag not in given and variable in environ:
                given[flag] = environ[variable]
        keep = given.pop("--exclude-tools-when-tool-choice-none", environ.get(_KEEP_VARIABLE))
        if keep is not None:
            excludes = bool_text(_KEEP_VARIABLE, keep)
            options = {"exclude_tools_when_tool_choice_none": excludes, **options}
        whole = given.pop("--dyn-structural-tag", None)
        if whole is not None:
            if given:
                raise PolicyError(f"{_VARIABLE} cannot be combined with {', '.join(sorted(given))}")
            return cls.parse(whole, **options)
        legacy = tuple(flag for flag in _LEGACY if flag in given)
        enabled, scope, schema = (given.get(flag) for flag in _LEGACY)
        fields: dict[str, Any] = {}
        if enabled is not None:
            fields["enabled"] = bool_text("DYN_ENABLE_STRUCTURAL_TAG", enabled)
        if scope is not None:
            fields["scope"] = scope
        if schema is not None:
            fields["schema"] = schema
        return cls(**fields, legacy=legacy, **options)

    @property
    def any_order(self) -> bool:
        """Dynamo's `tool_arguments_any_order`."""
        return self.tool_arguments_any_order

    @property
    def with_structured_output(self) -> bool:
        """Dynamo's `allow_tool_calls_with_structured_output`."""
        return self.allow_tool_calls_with_structured_output

    @property
    def notes(self) -> tuple[str, ...]:
        """The legacy switches."""
        if not self.legacy:
            return ()
        return (f"{', '.join(self.legacy)}: deprecated; use --dyn-structural-tag",)

    def tag_for(self, asked: Asked, style: str, *, tools_in_prompt: bool) -> tuple[bool, str]:
        """Whether a tag is built for a request, and why."""
        mode = asked.mode
        if not self.enabled:
            # Kimi's calls cannot be forced in any other way.
            if (style, mode) in {("kimi", "required"), ("kimi", "named"), ("kimi_k3", "named")}:
                return True, f"tags are off, but Dynamo forces {style} calls with one all the same"
            return False, "structural tags are off (--dyn-structural-tag false)"
        if mode == "none":
            if self.scope == "auto" and not tools_in_prompt:
                return False, "scope auto: the tools are not in the prompt, so nothing is banned"
            return True, "tool_choice none: a tag that bans the markup of calls"
        if mode != "auto":
            return True, f"tool_choice {mode} is always constrained"
        has_strict = any(tool.strict is True for tool in asked.tools)
        return dynamo_tags(self.scope, has_strict=has_strict, parallel=asked.parallel)

    def pins(self, strict: bool | None) -> tuple[bool, str]:
        """Whether the arguments of a tool with this `strict` are pinned, and why."""
        return dynamo_pins(self.schema, strict)

    def profile_for(self, strict: bool | None) -> str | None:
        """Dynamo checks exactly the tools with `strict: true`."""
        return "dynamo" if strict is True else None

    def tools_stay(self) -> bool:
        """Whether tools stay in the prompt when none may be called."""
        return not self.exclude_tools_when_tool_choice_none


def _read_object(text: str) -> dict[str, Any]:
    if len(text) > _MAX_TEXT:
        raise PolicyError(f"{_VARIABLE}: more than {_MAX_TEXT} characters")
    try:
        value = json.loads(text, object_pairs_hook=_no_repeats)
    except RecursionError as error:
        raise PolicyError(f"{_VARIABLE}: nested too deeply") from error
    except PolicyError:
        raise
    except ValueError as error:
        raise PolicyError(
            f"{_VARIABLE}: not true, false or a JSON object: {cut_value(text)}"
        ) from error
    if not isinstance(value, dict):
        raise PolicyError(f"{_VARIABLE}: not true, false or a JSON object: {cut_value(text)}")
    for name, given in value.items():
        if name not in _FIELDS:
            raise PolicyError(f"{_VARIABLE}: no field {cut_value(name)}: {', '.join(_FIELDS)}")
        _field(name, given)
    return value


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise PolicyError(f"{_VARIABLE}: a field is given twice")
    return made


def _field(name: str, value: Any) -> Any:
    values = _FIELDS[name]
    if not any(value is known or (isinstance(known, str) and value == known) for known in values):
        shown = ", ".join(json.dumps(known).strip('"') for known in values)
        raise PolicyError(f"{name}: {cut_value(value)} is none of {shown}")
    return value


def _flags(arguments: Sequence[str]) -> dict[str, str]:
    """The flags that matter here, each with its text; the last one counts."""
    given: dict[str, str] = {}
    words = list(arguments)
    switches = ("--dyn-enable-structural-tag", "--exclude-tools-when-tool-choice-none")
    values = ("--dyn-structural-tag-scope", "--dyn-structural-tag-schema")
    while words:
        flag, equals, value = words.pop(0).partition("=")
        positive = flag.replace("--no-", "--", 1)
        if positive in switches and not equals:
            given[positive] = "false" if positive != flag else "true"
        elif flag in values or flag == "--dyn-structural-tag":
            if not equals and words and not words[0].startswith("--"):
                value = words.pop(0)
            elif not equals and flag in values:
                raise PolicyError(f"{flag} needs a value")
            given[flag] = value if equals or value else "true"
    return given
