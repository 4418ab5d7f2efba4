"""Who decides what is constrained: what the settings of all servers have in common.

A policy answers two questions: is a tag built for this request, and are this tool's arguments
pinned to its schema? Each answer comes with its reason. Settings are read from the very strings
that the servers take; a field or value that the server would refuse is a `PolicyError` here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemaguard._frozen import Frozen
from schemaguard.errors import SchemaguardError, cut, printable

if TYPE_CHECKING:
    from typing import ClassVar

    from schemaguard.grammar.tags.reading import Asked

#: What is done with a tool whose schema cannot go into a tag: its arguments are left free, the
#: request is refused, or the tool is left out of the tag (with the tag, it cannot be called).
UNFIT = ("relax", "refuse", "absent")

#: What is done with a constraint that is too dear in a style, or has values that could be read as
#: its markup: it is taken out, or makes its tool unfit.
DEAR = ("loosen", "unfit")

TRUE = frozenset({"true", "1", "yes", "on"})
FALSE = frozenset({"false", "0", "no", "off"})


class PolicyError(SchemaguardError, ValueError):
    """A setting that the server would refuse, too; the message names it."""


class Policy(Frozen):
    """What the three policies share; the defaults are those of a server that has no such setting.

    Attributes:
        unfit: one of `UNFIT`.
        dear: one of `DEAR`.
    """

    __slots__ = ()  # a subclass names all fields, for `Frozen`

    name: ClassVar[str] = ""
    unfit: str
    dear: str

    def _keep(self, unfit: str, dear: str) -> None:
        self._fill(
            unfit=one_of("unfit", unfit, UNFIT),
            dear=one_of("dear", dear, DEAR),
        )

    @property
    def any_order(self) -> bool:
        """Arguments may come in any order."""
        return False

    @property
    def exclude_special_tokens(self) -> bool | None:
        """Markers are kept out of free text; None is the style's default."""
        return None

    @property
    def reasoning_boundary(self) -> str:
        """Who ends reasoning: "auto", "structural_tag" or "backend"."""
        return "auto"

    @property
    def with_structured_output(self) -> bool:
        """With `tool_choice: auto` and a schema for the answer: a call, or that answer."""
        return False

    @property
    def notes(self) -> tuple[str, ...]:
        """What the settings themselves give rise to say."""
        return ()

    def tag_for(self, asked: Asked, style: str, *, tools_in_prompt: bool) -> tuple[bool, str]:
        """Whether a tag is built for a request, and why."""
        raise NotImplementedError

    def pins(self, strict: bool | None) -> tuple[bool, str]:
        """Whether the arguments of a tool with this `strict` are pinned, and why."""
        raise NotImplementedError

    def profile_for(self, _strict: bool | None) -> str | None:
        """The profile that the server checks such a tool with, before any tag; None for none."""
        return None

    def tools_stay(self) -> bool:
        """Whether the server leaves tools in the prompt when none may be called."""
        return True


def bool_text(name: str, text: str) -> bool:
    """The boolean of a text, in the words that servers take for one.

    Raises:
        PolicyError: it is none.
    """
    word = text.strip().lower()
    if word in TRUE or word in FALSE:
        return word in TRUE
    raise PolicyError(f"{name}: {cut_value(text)} is neither true nor false")


def boolean(name: str, value: bool) -> bool:
    """A value that has to be a boolean.

    Raises:
        PolicyError: it is none.
    """
    if value is True or value is False:
        return value
    raise PolicyError(f"{name}: {cut_value(value)} is neither true nor false")


def one_of(name: str, value: str, values: tuple[str, ...]) -> str:
    """A value that has to be one of a few words.

    Raises:
        PolicyError: it is none.
    """
    if value in values:
        return value
    raise PolicyError(f"{name}: {cut_value(value)} is none of {', '.join(values)}")


def cut_value(value: object) -> str:
    """A value for a message: one short printable line between quotes."""
    return f"'{printable(cut(str(value), 60))}'"
