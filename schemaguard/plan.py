"""A profile, compiled: for each set of keywords that a schema can have, what there is to do.

Real documents repeat a handful of key sequences ("type, description", "type, properties,
required"), so the work for one is planned once and looked up by the tuple of keys afterwards. That
is what makes one pass over the rules as quick in Python as a metaschema check is in native code.
"""

from __future__ import annotations

from schemaguard import rules as r
from schemaguard.keywords import DATA, KEYWORDS, RANK, SHAPES, is_encodable
from schemaguard.profiles import Profile, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from schemaguard.profiles import Grounds
    from schemaguard.rules import Rule
    from schemaguard.unenforced import Foretelling

#: Any of these beside `$ref` makes the object rules apply (contract rule 9).
OBJECT_KEYWORDS = frozenset({"properties", "patternProperties", "required", "additionalProperties"})

# When the object rules apply to a schema.
NEVER = 0
IF_TYPED = 1  # when `type` says object
ALWAYS = 2

NO_LIMIT = 1 << 62

#: Budgets that `schemaguard.estimate` counts: see the rules that watch them.
WORK_BUDGETS = (
    "compile-milliseconds",
    "compile-megabytes",
    "grammar-rules",
    "optional-properties",
    "counted-properties",
    "name-patterns",
    "divisors",
    "open-names",
    "live-alternatives",
    "linked-alternatives",
    "all-data-characters",
)

# The plan cache holds key sequences that a stranger chooses: few, and short ones.
_MAX_PLANS = 4096
_MAX_KEYS = 32
_MAX_KEY_CHARACTERS = 1024


class Part:
    """A rule about single schemas, with what a profile set it to.

    Attributes:
        rule: the rule.
        setting: what its check gets beside the schema.
        grounds: how the profile knows it; None where the profile's own grounds for the rule hold.
    """

    __slots__ = ("grounds", "rule", "setting")

    def __init__(self, rule: Rule, setting: Any, grounds: Grounds | None = None) -> None:
        self.rule = rule
        self.setting = setting
        self.grounds = grounds


class Plan:
    """What to do with a schema of one key sequence.

    Attributes:
        sound: every key is a string, and no PRESENCE rule speaks.
        typed: it has `type`.
        texts: annotations and unknown keywords: mostly short strings, and data of any kind.
        shapes: (keyword, predicate) for keywords whose value must have a shape; `type` and
        `required`     are looked at by name.
        values: (keyword, rule, limit) for the VALUE rules of the keywords that are there.
        parts: the PART and KEYWORD rules that such keys can concern.
        closed: when the object rules apply: NEVER, IF_TYPED or ALWAYS.
        object: the keys alone make it an object schema (contract rule 8).
        required, ref, enum, const: it has the keyword.
        patterned: it has patterns, and the profile adds their costs up.
        identifier: it has `$id` or `id`.
        counted: it has something that `schemaguard.measured` counts, beside its type.
        children: (keyword, what it holds) where it holds schemas, in the order of visits.
        simple: nothing but type, shapes, texts and children.
        leaf: nothing but type, shapes and texts.
        annotated: a leaf has texts or shapes to look at.
        only_text: the annotation of a leaf that has `type` and this and nothing else, or None.
        present: (rule, keyword) for the PRESENCE rules that speak, in the profile's order.
    """

    __slots__ = (
        "annotated",
        "children",
        "closed",
        "const",
        "counted",
        "enum",
        "identifier",
        "leaf",
        "object",
        "only_text",
        "parts",
        "patterned",
        "present",
        "ref",
        "required",
        "shapes",
        "simple",
        "sound",
        "texts",
        "typed",
        "values",
    )

    sound: bool
    typed: bool
    texts: tuple[str, ...]
    shapes: tuple[tuple[str, Callable[[object], bool]], ...]
    values: tuple[tuple[str, Rule, int], ...]
    parts: tuple[Part, ...]
    closed: int
    object: bool
    patterned: bool
    required: bool
    ref: bool
    enum: bool
    const: bool
    counted: bool
    identifier: bool
    children: tuple[tuple[str, str], ...]
    simple: bool
    leaf: bool
    annotated: bool
    only_text: str | None
    present: tuple[tuple[Rule, str], ...]


class Plans:
    """A profile, compiled.

    Attributes:
        profile: the profile.
        cache: key sequence → plan; bounded, shared between threads (each use is one dict
        operation).
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.cache: dict[tuple[Any, ...], Plan] = {}
        on = [rule for code, rule in sorted(r.RULES.items()) if code in profile.severities]
        self.by_name = {rule.name: rule for rule in on}
        self.not_a_schema = next((rule for rule in on if rule.on[0] == r.NODE), None)
        self.object_rules = tuple(rule for rule in on if rule.on == (r.OBJECT,))
        self.member_rules = tuple(rule for rule in on if rule.on == (r.OBJECT, "members"))
        self.object_checks = tuple(rule.check for rule in self.object_rules)
        self.member_checks = tuple(rule.check for rule in self.member_rules)
        #: What the object rules find in a leaf that says object: it has no keyword that they look
        #: at.
        self.leaf_findings = tuple(
            (rule, len(rule.check({}))) for rule in self.object_rules if rule.check({})
        )
        self.checks_root = any(rule.on[0] == r.ROOT for rule in on)
        self._parts: list[tuple[tuple[str, ...], Part]] = []
        tops: list[Part] = []
        measures: list[Part] = []
        refused = set()
        for rule in on:
            kind, *arguments = rule.on
            if kind in (r.PART, r.TOP, r.MEASURE):
                for part in _set(rule, profile):
                    if kind == r.TOP:
                        tops.append(part)
                    elif kind == r.MEASURE:
                        measures.append(part)
                    else:
                        self._parts.append((tuple(arguments), part))
            elif kind == r.KEYWORD:
                for remark in profile.remarks.get(arguments[0], ()):
                    part = Part(rule, remark, remark.grounds)
                    if remark.root:
                        tops.append(part)
                    else:
                        self._parts.append(((remark.keyword,), part))
                    if remark.always and arguments[0] == "refused":
                        refused.add(remark.keyword)
        #: What it wants of tools besides their schemas: see `schemaguard.toolsets`.
        self.about_tools = tuple(
            part for rule in on if rule.on[0] in (r.TOOL, r.TOOLSET) for part in _set(rule, profile)
        )
        #: What is asked of the root alone, once everything else was looked at.
        self.tops = tuple(tops)
        #: What is asked of the document as a whole, once it is counted.
        self.measures = tuple(measures)
        #: The same without the rules that compare readings (`measured.READINGS`) with limits, and
        #: of each reading the least limit: below it, none of those speaks.
        self.measures_without_readings = tuple(
            part for part in measures if "readings" not in part.setting
        )
        least: dict[str, int] = {}
        for part in measures:
            for reading in part.setting.get("readings", ()):
                limit = part.setting["limit"]
                least[reading] = min(limit, least.get(reading, limit))
        self.least_limits = tuple(least.items())
        #: Says what the profile's engine will not enforce; None where it has no such rules.
        self.enforcement = _foretelling(on, profile)
        self.budget_rules = {rule.on[1]: rule for rule in on if rule.on[0] == r.BUDGET}
        self.shape_rules: dict[str, list[Rule]] = {}
        self._value_rules: dict[str, list[tuple[Rule, int]]] = {}
        self._presence: list[tuple[Rule, str]] = []
        for rule in on:
            kind, *arguments = rule.on
            if kind == r.SHAPE:
                for shape in arguments:
                    self.shape_rules.setdefault(shape, []).append(rule)
            elif kind == r.VALUE:
                for keyword in arguments[1:]:
                    limit = profile.budgets[arguments[0]]
                    self._value_rules.setdefault(keyword, []).append((rule, limit))
            elif kind == r.PRESENCE:
                for keyword in profile.lists.get(arguments[0], ()):
                    self._presence.append((rule, keyword))
        refused -= {"$defs", "definitions"}  # a reference leads into them all the same
        refused.update(keyword for _, keyword in self._presence)
        #: Keywords whose values are entered: those that hold schemas and are not refused outright.
        self.entered = {
            name: keyword.holds
            for name, keyword in KEYWORDS.items()
            if keyword.holds != DATA and name not in refused
        }
        self.depth_limit = self._limit("object-depth")
        self.property_limit = self._limit("properties")
        self.enum_limit = self._limit("enum-entries")
        self.character_limit = self._limit("characters")
        self.long_enum_limit = self._limit("long-enum-characters")
        self.long_enum_entries = profile.budgets.get("long-enum-entries", 0)
        self.nesting_limit = self._limit("nesting")
        self.patterns_limit = self._limit("patterns-cost")
        self.reference_limit = self._limit("reference-levels")
        #: Budgets of what an engine would have to make of the document; most profiles have none.
        self.work_limits = {
            budget: self._limit(budget)
            for budget in WORK_BUDGETS
            if self._limit(budget) != NO_LIMIT
        }
        #: The root is all that is left to look at, once everything else is clean.
        self.ends_with_root = self.checks_root and not (
            self.work_limits or self.tops or self.measures
        )

    def _limit(self, budget: str) -> int:
        """The profile's limit when a rule of the profile watches it."""
        if budget not in self.budget_rules:
            return NO_LIMIT
        return self.profile.budgets.get(budget, NO_LIMIT)

    def learn(self, keys: tuple[Any, ...]) -> Plan:
        """The plan of a key sequence, kept when it is short enough to keep."""
        plan = self._make(keys)
        if plan.sound and len(keys) <= _MAX_KEYS and sum(map(len, keys)) <= _MAX_KEY_CHARACTERS:
            if len(self.cache) >= _MAX_PLANS:
                self.cache.clear()
            self.cache[keys] = plan
        return plan

    def _make(self, keys: tuple[Any, ...]) -> Plan:
        plan = Plan()
        names = {key for key in keys if isinstance(key, str)}
        plan.present = tuple(
            (rule, keyword) for rule, keyword in self._presence if keyword in names
        )
        plan.sound = not plan.present and len(names) == len(keys) and all(map(is_encodable, names))
        refused = {keyword for _, keyword in plan.present}
        known = sorted((name for name in names if name in RANK), key=RANK.__getitem__)
        plan.typed = "type" in names
        plan.required = "required" in names
        plan.ref = "$ref" in names
        plan.enum = "enum" in names
        plan.const = "const" in names
        plan.identifier = "$id" in names or "id" in names
        plan.shapes = tuple(
            (name, SHAPES[shape])
            for name in known
            if name not in ("type", "required")
            and name not in refused
            and (shape := KEYWORDS[name].shape) is not None
            and shape in self.shape_rules
            and KEYWORDS[name].holds == DATA
        )
        plan.values = tuple(
            (name, rule, limit) for name in known for rule, limit in self._value_rules.get(name, ())
        )
        plan.parts = tuple(part for wanted, part in self._parts if _concerns(wanted, names))
        plan.object = "properties" in names or "patternProperties" in names
        if plan.ref:
            plan.closed = ALWAYS if names & OBJECT_KEYWORDS else NEVER
        else:
            plan.closed = ALWAYS if plan.object else IF_TYPED
        plan.children = tuple((name, self.entered[name]) for name in known if name in self.entered)
        plan.texts = tuple(key for key in keys if isinstance(key, str) and self._is_plain_data(key))
        plan.patterned = self.patterns_limit != NO_LIMIT and (
            "pattern" in names or "patternProperties" in names
        )
        plan.simple = plan.sound and not (
            plan.values
            or plan.parts
            or plan.patterned
            or plan.object
            or plan.required
            or plan.enum
            or plan.const
            or plan.ref
            or plan.identifier
        )
        plan.leaf = plan.simple and not plan.children
        plan.counted = bool(plan.children or plan.enum or plan.ref or "maxItems" in names)
        plan.annotated = bool(plan.texts or plan.shapes)
        plan.only_text = None
        if plan.leaf and plan.typed and not plan.shapes and len(plan.texts) == 1:
            plan.only_text = plan.texts[0]
        return plan

    def _is_plain_data(self, name: str) -> bool:
        """Whether nothing but the rule "it is JSON" looks at the value."""
        if name in ("type", "required", "enum") or name in self.entered:
            return False
        keyword = KEYWORDS.get(name)
        return keyword is None or keyword.shape is None or keyword.shape not in self.shape_rules


def _set(rule: Rule, profile: Profile) -> list[Part]:
    """A rule with each of its settings; one without settings is there once."""
    settings = profile.settings.get(rule.code, ())
    if not settings:
        return [Part(rule, {}, profile.grounds.get(rule.code))]
    return [Part(rule, setting.values, setting.grounds) for setting in settings]


def _foretelling(on: list[Rule], profile: Profile) -> Foretelling | None:
    """The rules about what an engine enforces, by the versions that the profile sets."""
    found: dict[str | None, dict[str, Rule]] = {}
    for rule in on:
        if rule.on[0] == r.ENFORCEMENT:
            for part in _set(rule, profile):
                found.setdefault(part.setting.get("version"), {})[rule.name] = rule
    if not found:
        return None
    from schemaguard.unenforced import Foretelling  # noqa: PLC0415  (few profiles need it)

    return Foretelling(found)


def _concerns(wanted: tuple[str, ...], names: set[str]) -> bool:
    """Whether a rule about such keywords (see `rules.PART`) can speak of a schema of these keys."""
    present = [keyword for keyword in wanted if not keyword.startswith("-")]
    absent = {keyword[1:] for keyword in wanted if keyword.startswith("-")}
    return names.isdisjoint(absent) and (not present or not names.isdisjoint(present))


_compiled: dict[str | Profile, Plans] = {}


def compiled(profile: str | Profile) -> Plans:
    """The compiled form of a profile, or of the profile of a name; made once.

    Raises:
        ProfileError: there is no profile of that name.
    """
    plans = _compiled.get(profile)
    if plans is None:
        read = load(profile) if isinstance(profile, str) else profile
        plans = _compiled.get(read) or Plans(read)
        _compiled[read] = _compiled[profile] = plans
    return plans


__all__ = [
    "ALWAYS",
    "IF_TYPED",
    "NEVER",
    "NO_LIMIT",
    "OBJECT_KEYWORDS",
    "Plan",
    "Plans",
    "compiled",
]
