"""A second opinion on audits, from xgrammar and jsonschema alone: nothing of this project is used.

Every witness is checked for what it is said to show. As a program it reads lines of JSON,
`{"schema": …, "audit": …}` with the audit as `schemaguard audit --output-format json` writes it,
prints what does not hold, and ends with status 1 if anything does not.
"""

from __future__ import annotations

import json
import sys

import jsonschema
import referencing
import style_outputs
import xgrammar

END = 256

_info = xgrammar.TokenizerInfo(
    [bytes([value]) for value in range(256)] + [b""],
    xgrammar.VocabType.RAW,
    vocab_size=257,
    stop_token_ids=[END],
)


def faults(schema, audit):
    """What of an audit's result does not hold, in words."""
    if audit["verdict"] == "refused":
        return []
    text = schema if isinstance(schema, str) else json.dumps(schema)
    # Another one each time: what a compiler has made it keeps.
    compiler = xgrammar.GrammarCompiler(_info, max_threads=1)
    if audit["style"] != "json":
        return _faults_of_calls(json.loads(text), audit, compiler)
    grammar = compiler.compile_json_schema(text, strict_mode=True, max_whitespace_cnt=2)
    validator = _validator(json.loads(text))
    found = []
    for row in audit["constraints"]:
        where = f"{row['pointer']} {row['keyword']}"
        if row["verdict"] == "dropped":
            if not accepts(grammar, row["witness"]):
                found.append(f"{where}: {row['witness']} does not get through")
            elif validator.is_valid(json.loads(row["witness"])):
                found.append(f"{where}: {row['witness']} is valid")
        elif row["verdict"] == "over-constrained":
            value = json.loads(row["witness"])
            if not validator.is_valid(value):
                found.append(f"{where}: {row['witness']} is not valid")
            found.extend(
                f"{where}: {spelt} can be written"
                for spelt in {row["witness"], *spellings(value)}
                if accepts(grammar, spelt)
            )
        elif row["witness"] is not None:
            found.append(f"{where}: {row['verdict']} with a witness")
    for row in audit["spelling"]:
        value = json.loads(row["witness"])
        if accepts(grammar, row["witness"]):
            found.append(f"spelling {row['freedom']}: {row['witness']} can be written")
        if not accepts(grammar, row["written"]) or json.loads(row["written"]) != value:
            found.append(f"spelling {row['freedom']}: {row['written']} is no way to write it")
    if audit["verdict"] == "broken-json":
        if not accepts(grammar, audit["witness"]):
            found.append(f"{audit['witness']} does not get through")
        if is_json(audit["witness"]):
            found.append(f"{audit['witness']} is JSON")
    if audit["verdict"] == "dead-end":
        found.extend(ends(grammar, audit["witness"]))
    return found


def _faults_of_calls(schema, audit, compiler):
    """The same for a style of calls: outputs have to say what they are said to say."""
    style = audit["style"]
    tag = style_outputs.tag(xgrammar, style, schema)
    grammar = compiler.compile_structural_tag(json.dumps(tag))
    validator = _validator(schema)
    found = []
    for row in audit["constraints"]:
        where, output = f"{row['pointer']} {row['keyword']}", row["output"]
        if row["verdict"] not in ("dropped", "over-constrained"):
            if row["witness"] is not None or output is not None:
                found.append(f"{where}: {row['verdict']} with a witness")
            continue
        value = json.loads(row["witness"])
        if row["verdict"] == "dropped":
            if not accepts(grammar, output):
                found.append(f"{where}: {output!r} does not get through")
            read = _readings(style, output, schema)
            if not any(map(_same, read, [value] * len(read))):
                found.append(f"{where}: {output!r} does not say {row['witness']}")
            found.extend(f"{where}: {v!r} is valid" for v in read if validator.is_valid(v))
            continue
        if not validator.is_valid(value):
            found.append(f"{where}: {row['witness']} is not valid")
        written = style_outputs.texts(style, value)
        if output is not None:
            if not any(_same(read, value) for read in _readings(style, output, schema)):
                found.append(f"{where}: {output!r} does not say {row['witness']}")
            written.append(output)
        found.extend(
            f"{where}: {text!r} can be written and says it"
            for text in written
            if accepts(grammar, text)
            and any(_same(read, value) for read in _readings(style, text, schema))
        )
    before, after = style_outputs.around(style)
    for row in audit["spelling"]:
        refused, written = (before + row[name] + after for name in ("witness", "written"))
        where = f"spelling {row['freedom']}"
        if accepts(grammar, refused):
            found.append(f"{where}: {refused!r} can be written")
        if not accepts(grammar, written):
            found.append(f"{where}: {written!r} cannot be written")
        values = _readings(style, refused, schema)
        if not any(_same(a, b) for a in values for b in _readings(style, written, schema)):
            found.append(f"{where}: {refused!r} and {written!r} say different things")
    if audit["verdict"] == "broken-json":
        if not accepts(grammar, audit["witness"]):
            found.append(f"{audit['witness']!r} does not get through")
        if _readings(style, audit["witness"], schema):
            found.append(f"{audit['witness']!r} can be read")
    if audit["verdict"] == "dead-end":
        found.extend(ends(grammar, audit["witness"]))
    return found


def _readings(style, output, schema):
    try:
        return style_outputs.readings(style, output, schema)
    except style_outputs.Unreadable:
        return []


def _same(one, other):
    """Whether values are equal as JSON has it."""
    return _canonical(one) == _canonical(other)


def _canonical(value):
    if isinstance(value, dict):
        return ("object", {key: _canonical(member) for key, member in value.items()})
    if isinstance(value, list):
        return ("array", [_canonical(member) for member in value])
    return (type(value) is bool, value)


def _validator(schema):
    dialect = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    return dialect(schema, registry=referencing.Registry(), format_checker=dialect.FORMAT_CHECKER)


def accepts(grammar, text):
    """Whether a text can be written, to its end."""
    matcher = xgrammar.GrammarMatcher(grammar)
    return matcher.accept_string(text) and matcher.is_completed()


def spellings(value):
    """Ways of writing a value that `json` has."""
    for ascii_only in (True, False):
        for separators in ((",", ":"), (", ", ": ")):
            yield json.dumps(value, ensure_ascii=ascii_only, separators=separators)


def is_json(text):
    """Whether a text is JSON."""
    try:
        json.loads(text, parse_constant=int)
    except ValueError:
        return False
    return True


def ends(grammar, prefix, most=3000):
    """A way to finish a text that is said to have none; nothing when none is found."""
    matcher = xgrammar.GrammarMatcher(grammar)
    if prefix and not matcher.accept_string(prefix):
        return [f"{prefix} cannot be written"]
    mask = xgrammar.allocate_token_bitmask(1, 257)
    written = []
    while len(written) < most:
        if matcher.is_completed():
            return [f"{prefix} can be finished: {bytes(written)!r}"]
        matcher.fill_next_token_bitmask(mask, 0)
        bits = [t for t in range(256) if int(mask[0][t // 32]) >> (t % 32) & 1]
        if not bits:
            return []
        closing = [t for t in b'"}]0' if t in bits]
        written.append((closing or bits)[0])
        matcher.accept_token(written[-1])
    return []


if __name__ == "__main__":
    wrong = 0
    for line in sys.stdin:
        row = json.loads(line)
        for fault in faults(row["schema"], row["audit"]):
            wrong += 1
            print(fault)
    sys.exit(1 if wrong else 0)
