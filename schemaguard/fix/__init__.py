"""Make a schema acceptable to a profile, without changing what it means.

::

    from schemaguard import fix

    result = fix.to_profile(schema, "openai-strict")
    send(result.schema)
    ...
    tool(**result.adapt_arguments(arguments_of_the_call))

What keeps the meaning is done; what would drop something only with `lossy=True`; what cannot be
done is in `result.remaining`, with the reason. Keys stay in their order, because models write
arguments in it.
"""

from __future__ import annotations

from schemaguard.fix.engine import to_profile
from schemaguard.fix.result import Edit, FixResult, Remaining

__all__ = ["Edit", "FixResult", "Remaining", "to_profile"]
