"""Which rewrites answer which finding, in the order in which they are tried."""

from __future__ import annotations

from schemaguard.fix.rewrites import (
    composition,
    definitions,
    dropping,
    objects,
    references,
    spelling,
    typing,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from schemaguard.fix.rewrites.base import Rewrite

#: name of a rule → rewrites. What changes the most of a schema comes first.
BY_RULE: dict[str, tuple[Rewrite, ...]] = {
    "remote-ref": (references.bring,),
    "anchor-ref": (references.bring,),
    "nested-identifier": (references.drop_identifier,),
    "unknown-type": (typing.lower_type,),
    "not-a-number": (spelling.number_bound,),
    "not-a-count": (spelling.whole_number,),
    "not-unique-strings": (objects.unique_names,),
    "root-not-object": (objects.type_root,),
    "root-untyped": (objects.type_root,),
    "open-object": (objects.close,),
    "optional-property": (objects.require,),
    "undeclared-required": (objects.forget_required,),
    # Of providers.
    "property-not-required": (objects.require,),
    "required-not-declared": (objects.forget_required,),
    "missing-root-type": (objects.type_root,),
    "wrong-root-type": (objects.type_root,),
    "root-without-properties": (objects.declare_none,),
    "root-branch-not-object": (objects.type_branch,),
    "ref-siblings": (references.free_reference,),
    "unusual-ref": (spelling.move_definitions, references.define_target),
    "ref-in-combinator": (references.inline,),
    "conflicting-expansion": (references.inline,),
    "untyped-schema": (typing.name_type,),
    "type-beside-union": (typing.move_type,),
    "boolean-subschema": (typing.spell_boolean,),
    "items-array": (spelling.name_prefix_items,),
    "type-list": (typing.split_types,),
    "mixed-enum": (typing.split_enum,),
    "enum-of-other-values": (typing.split_enum, dropping.drop_enum),
    "pattern-feature": (dropping.drop_pattern,),
    "default-not-scalar": (dropping.drop_default,),
    "constraints-together": (dropping.drop,),
    "array-without-items": (typing.add_items,),
    "open-tuple": (typing.end_tuple,),
    "slash-in-definition-name": (definitions.rename_definition,),
    "nested-definitions": (definitions.move_nested,),
}

#: keyword that is refused → rewrites, before those of the rule that refuses it.
BY_KEYWORD: dict[str, tuple[Rewrite, ...]] = {
    "definitions": (spelling.move_definitions,),
    "items": (spelling.name_prefix_items,),
    "additionalItems": (spelling.name_prefix_items, dropping.drop),
    "nullable": (spelling.say_null,),
    "exclusiveMinimum": (spelling.number_bound, dropping.drop),
    "exclusiveMaximum": (spelling.number_bound, dropping.drop),
    "allOf": (composition.merge_all_of,),
    "oneOf": (composition.loosen_one_of,),
    "not": (composition.drop_impossible, dropping.drop),
    "const": (composition.list_const, dropping.drop),
    "$ref": (references.free_reference,),
}

#: For any other keyword that is refused.
REFUSED = (dropping.drop,)

#: Rules whose findings are about a keyword that is refused where it stands.
REFUSING = frozenset({"unsupported-keyword", "refused-keyword", "unknown-field"})
#: Rules whose findings stand at a property, and are about the object that declares it.
OF_THE_OBJECT = frozenset({"property-not-required"})
#: Rules whose findings may be about a boolean schema.
OF_BOOLEANS = frozenset({"boolean-subschema", "root-branch-not-object"})

#: The order in which findings are answered: structure before objects, objects before names.
ORDER = (
    "unknown-type",
    "remote-ref",
    "anchor-ref",
    "nested-identifier",
    "not-unique-strings",
    "not-a-number",
    "not-a-count",
    "unsupported-keyword",
    "refused-keyword",
    "root-not-object",
    "unknown-field",
    "root-not-object",
    "root-untyped",
    "missing-root-type",
    "wrong-root-type",
)
LAST = (
    "open-object",
    "optional-property",
    "property-not-required",
    "undeclared-required",
    "required-not-declared",
    # Unions with null come from the requirement: what they break is mended after it.
    "ref-siblings",
    "type-beside-union",
    "type-list",
)


def rewrites_for(rule: str, keyword: str) -> tuple[Rewrite, ...]:
    """The rewrites for a finding of a rule, about a keyword or ""."""
    if rule in REFUSING:
        return BY_KEYWORD.get(keyword, REFUSED)
    return BY_RULE.get(rule, ())


def rank(rule: str) -> int:
    """Where a rule's findings stand in the order."""
    if rule in ORDER:
        return ORDER.index(rule)
    return len(ORDER) + (1 + LAST.index(rule) if rule in LAST else 0)
