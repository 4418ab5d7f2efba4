"""The policies of vLLM and SGLang: three levels of strictness.

Sources: vLLM, `--tool-strict-level` (vllm-project/vllm#56268) and its environment variables;
SGLang, `SGLANG_TOOL_STRICT_LEVEL`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemaguard.grammar.tags.policy import Policy, PolicyError, bool_text, boolean, cut_value
from schemaguard.servers import LEVELS, level_pins, level_tags

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from schemaguard.grammar.tags.reading import Asked


class _Levels(Policy):
    __slots__ = ()

    level: int

    @property
    def level_name(self) -> str:
        """The level as vLLM calls it: "auto", "function" or "parameter"."""
        return LEVELS[self.level]

    def tag_for(self, asked: Asked, style: str, *, tools_in_prompt: bool) -> tuple[bool, str]:  # noqa: ARG002 - neither matters here
        """Whether a tag is built for a request, and why."""
        if asked.mode == "none":
            return False, "tool_choice none: the server builds no tag"
        if asked.mode != "auto":
            return True, f"tool_choice {asked.mode} is always constrained"
        has_strict = any(tool.strict is True for tool in asked.tools)
        return level_tags(self.level_name, has_strict=has_strict)

    def pins(self, strict: bool | None) -> tuple[bool, str]:
        """Whether the arguments of a tool with this `strict` are pinned, and why."""
        return level_pins(self.level_name, strict)


class VllmPolicy(_Levels):
    """vLLM's `--tool-strict-level`: "auto" (0), "function" (1) or "parameter" (2).

    vLLM answers 400 when xgrammar does not take the tag, so `unfit` is "refuse" by default.

    Attributes:
        level: 0, 1 or 2.
        enabled: `VLLM_ENFORCE_STRICT_TOOL_CALLING`.
    """

    __slots__ = ("dear", "enabled", "level", "unfit")

    name = "vllm"
    enabled: bool

    def __init__(
        self,
        level: str | int = "auto",
        *,
        enabled: bool = True,
        unfit: str = "refuse",
        dear: str = "loosen",
    ) -> None:
        self._keep(unfit, dear)
        self._fill(level=_level(level, LEVELS), enabled=boolean("enabled", enabled))

    @classmethod
    def parse(cls, text: str, **options: Any) -> Self:
        """The policy of a value of `--tool-strict-level`: a name in any case, or its number.

        Raises:
            PolicyError: there is no such level.
        """
        return cls(text.strip(), **options)

    @classmethod
    def from_env(cls, environ: Mapping[str, str], **options: Any) -> Self:
        """The policy of `VLLM_ENFORCE_STRICT_TOOL_CALLING`; the level has no variable.

        Raises:
            PolicyError: the variable is no boolean.
        """
        variable = "VLLM_ENFORCE_STRICT_TOOL_CALLING"
        if variable in environ:
            options = {"enabled": bool_text(variable, environ[variable]), **options}
        return cls(**options)

    def tag_for(self, asked: Asked, style: str, *, tools_in_prompt: bool) -> tuple[bool, str]:
        """Whether a tag is built for a request, and why."""
        if not self.enabled:
            return False, "VLLM_ENFORCE_STRICT_TOOL_CALLING is false: no structural tags"
        return super().tag_for(asked, style, tools_in_prompt=tools_in_prompt)


class SglangPolicy(_Levels):
    """SGLang's `SGLANG_TOOL_STRICT_LEVEL`: 0, 1 or 2, with the meaning that they have in vLLM.

    SGLang goes on without any constraint when its builder fails. Here a tool that is unfit is
    relaxed, and the others stay as they are.

    Attributes:
        level: 0, 1 or 2.
    """

    __slots__ = ("dear", "level", "unfit")

    name = "sglang"

    def __init__(self, level: str | int = 0, *, unfit: str = "relax", dear: str = "loosen") -> None:
        self._keep(unfit, dear)
        self._fill(level=_level(level, ()))

    @classmethod
    def parse(cls, text: str, **options: Any) -> Self:
        """The policy of a value of `SGLANG_TOOL_STRICT_LEVEL`.

        Raises:
            PolicyError: there is no such level.
        """
        return cls(text.strip(), **options)

    @classmethod
    def from_env(cls, environ: Mapping[str, str], **options: Any) -> Self:
        """The policy of `SGLANG_TOOL_STRICT_LEVEL`.

        Raises:
            PolicyError: the variable is no level.
        """
        return cls(environ.get("SGLANG_TOOL_STRICT_LEVEL", "0").strip(), **options)


def _level(value: str | int, names: tuple[str, ...]) -> int:
    if isinstance(value, str):
        if value.lower() in names:
            return names.index(value.lower())
        if value in ("0", "1", "2"):
            return int(value)
    elif not isinstance(value, bool) and value in (0, 1, 2):
        return value
    raise PolicyError(f"level {cut_value(value)} is none of {', '.join((*names, '0', '1', '2'))}")
