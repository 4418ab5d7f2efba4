"""Names that two schemas of one object speak of: a pattern and a declared name, or two patterns.

JSON Schema holds the value of such a name to both, engines go by one. An instance that reaches a
place below a pattern by any name does not show that; the same one under a shared name does.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from schemaguard.grammar.audit import regexes
from schemaguard.grammar.audit.constraints import SAME_PLACE
from schemaguard.grammar.audit.maker import Template
from schemaguard.grammar.audit.parts import NoInstance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.grammar.audit.constraints import Place
    from schemaguard.grammar.audit.maker import Maker

#: Shared names that are tried for a pattern.
MOST = 4


def renamed(template: Template, place: Place, maker: Maker) -> Iterator[Template]:
    """The template under other names: those that a pattern on its route shares.

    What the other schema says of the name is added to what holds in the hole, where that is the
    value of the name itself.

    Args:
        template: an instance that reaches the place by its first route.
        place: the place.
        maker: makes names that match two patterns.
    """
    depth = sum(step[0] not in SAME_PLACE for step in place.route())
    if depth != len(template.path):
        return
    for above in place.way():
        keyword, pattern = above.step
        if keyword in SAME_PLACE or above.parent is None:
            continue
        depth -= 1
        if keyword != "patternProperties" or not isinstance(above.parent.schema, dict):
            continue
        last = depth == len(template.path) - 1
        for name, member in _shared(above.parent.schema, pattern, maker):
            if name != template.path[depth]:
                extra = [member] if last and isinstance(member, dict) else []
                yield _with_name(template, depth, name, extra, above.parent.schema)


def _shared(schema: dict[str, Any], pattern: str, maker: Maker) -> Iterator[tuple[str, Any]]:
    """Names that a pattern shares, and what else is said of each."""
    found = 0
    for name, member in (schema.get("properties") or {}).items():
        if regexes.search(pattern, name) and found < MOST:
            found += 1
            yield name, member
    for other, member in (schema.get("patternProperties") or {}).items():
        if other == pattern or found >= MOST:
            continue
        rng = random.Random(f"{maker.seed} {pattern} {other}")  # noqa: S311 - reproducible
        both = [{"type": "string", "pattern": pattern}, {"type": "string", "pattern": other}]
        try:
            name = maker.value(both, rng, full=False)
        except NoInstance:
            continue
        if isinstance(name, str) and name not in (schema.get("properties") or {}):
            found += 1
            yield name, member


def _with_name(
    template: Template, depth: int, name: str, extra: list[dict[str, Any]], schema: dict[str, Any]
) -> Template:
    """The template with another name at a depth of its path."""
    path = (*template.path[:depth], name, *template.path[depth + 1 :])
    container = template.instance
    for key in template.path[:depth]:
        container = container[key]
    members = {key: value for key, value in container.items() if key != template.path[depth]}
    members[name] = container[template.path[depth]]
    declared = schema.get("properties") or {}
    order = [key for key in declared if key in members]
    order += [key for key in members if key not in declared]
    whole = Template(template.instance, template.path[:depth], True, []).filled(
        {key: members[key] for key in order}
    )
    return Template(whole, path, template.own, [*template.others, *extra])
