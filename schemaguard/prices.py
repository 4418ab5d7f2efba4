"""What a grammar compiler's work costs: measured constants, as data.

Fitted by `benchmarks/cost_model.py` to real schemas and hostile shapes, three of four rows; its
error on the fourth is in docs/compile-cost.md. Times are processor time of one core over a
vocabulary of 151,643 tokens, with a compiler that has compiled nothing yet. On another machine all
of them change by about one factor; caps and crossover are stated on this one.
"""

from __future__ import annotations

ENGINE = "xgrammar 0.2.9"
DATE = "2026-11-30"
MACHINE = "x86-64, one of two shared cores of a virtual machine, Linux"
VOCABULARY = 151_643

#: Repetitions are written out up to here; longer ones are kept as a count.
WRITTEN_OUT = 128
#: Between bounds as far apart every multiple is spelt out.
WIDEST_RANGE = 10_000
#: A larger divisor is ignored.
LARGEST_DIVISOR = 1_024

#: States of the grammar's automaton. The unit is one byte of a literal (0.26 KB when compiled).
STATES = {
    "alternative": 2,
    "array": 13,
    "basic": 2,
    "bounded string": 18,
    "copy": 2.5,  # of an array's item, where their number is bounded
    "digit": 2.2,  # of the bounds of a range
    "enum character": 0.75,  # members share ends as well as beginnings
    "object": 6,
    "open name": 16,
    "open object": 25,
    "optional": 8,
    "own string": 6,
    "prefix item": 3,
    "property": 5,
    "reference": 8,
    "residue": 5,
}

#: Rules of the grammar, before it is optimised.
RULES = {
    "any grammar": 33,
    "array": 6,
    "bounded string": 1,
    "digits squared": 0.037,
    "may be empty": 2,
    "name pattern": 1,
    "object": 3,
    "open names": 9,
    "open object": 3,
    "pattern": 1,
    "property": 1,
}

#: Milliseconds for one of a kind. States cost more the more there are: see `STATE_SQUARED`.
MILLISECONDS = {
    "digits squared": 0.001,
    "enum": 0.0015,  # a character
    "name characters": 3.4e-6,  # of the name of a definition, for each rule in it
    "name patterns squared": 1e-4,
    "open names": 25.0,
    "optional squared": 0.006,
    "pattern": 0.4,  # a unit of schemaguard.patterns
    "state": 0.006,
    "text": 8e-6,  # a character, times the square of its level
}
#: For any grammar; more when it has a number anywhere, a string, or one with bounds on its length.
ANY_GRAMMAR = 2.0
ANY_NUMBER = 3.5
ANY_STRING = 20.0
ANY_BOUNDED_STRING = 20.0
#: Milliseconds for the square of all states, and for the cube of alternatives of alternatives.
STATE_SQUARED = 3e-7
LINK_CUBED = 2e-8

#: Kilobytes at the peak for one of a kind.
KILOBYTES = {
    "name characters": 0.0023,
    "name patterns squared": 0.024,
    "open names memory": 15,
    "optional squared": 0.04,
    "pattern memory": 2.5,
    "state": 0.65,
}
#: For any grammar; and for the square of alternatives of alternatives.
ANY_KILOBYTES = 13_000.0
LINK_SQUARED_KILOBYTES = 0.004

#: The formats that the engine enforces: (milliseconds for the first, for each; kilobytes, states
#: and rules for each).
FORMATS = {
    "date": (2, 0.2, 3, 12, 5),
    "date-time": (2, 0.3, 6, 25, 11),
    "duration": (3, 0.7, 64, 100, 35),
    "email": (45, 0.9, 980, 60, 11),
    "hostname": (12, 0.3, 118, 30, 5),
    "ipv4": (3, 0.2, 33, 60, 9),
    "ipv6": (5, 1.0, 108, 200, 51),
    "json-pointer": (20, 0.3, 96, 30, 5),
    "relative-json-pointer": (20, 0.3, 97, 30, 7),
    "time": (2, 0.2, 5, 20, 8),
    "uri": (30, 1.2, 580, 60, 25),
    "uri-reference": (30, 1.2, 700, 60, 29),
    "uri-template": (60, 110, 900, 100, 22),
    "uuid": (3, 0.2, 7, 20, 7),
}
#: Milliseconds of a mask, of formats whose expression matches in too many ways.
FORMAT_MASKS = {"uri-template": 230}
#: The same, of formats that are so dear in values alone that hardly anyone writes: of `email`
#: inside a quoted local part. In any other address a mask takes 1 ms.
RARE_FORMAT_MASKS = {"email": 250}
