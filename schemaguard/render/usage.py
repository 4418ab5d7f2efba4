"""The budgets of a schema as a table: used, limit, a bar, and what uses most."""

from __future__ import annotations

from schemaguard.budgets import SAME, WARNED
from schemaguard.errors import cut
from schemaguard.measured import READINGS
from schemaguard.render.common import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schemaguard.lint import CheckedTool
    from schemaguard.report import BudgetUse

#: Columns of a whole bar, and of a budget's name at the least.
_BAR = 20
_NAME = 13
#: The budget that has the name of a reading, and says where it is used.
_OWN = "properties"
#: How many contributors are shown, and how much of the pointer of one.
_TOP = 3
_SHOWN = 60


def table(where: str, tool: CheckedTool, paint: Callable[[str, str], str]) -> Iterator[str]:
    """The lines of one schema's table. Pointers of contributors start at the schema's root.

    Args:
        where: the file, safe to print.
        tool: whose schema.
        paint: see `color.painter`.
    """
    name = "" if tool.name is None else f"tool '{cut(tool.name, _SHOWN)}' > "
    heading = safe(f"{name}#{cut(tool.pointer, _SHOWN)}")
    yield f"{paint('path', where)}: {heading}: budgets of {tool.report.profile}"
    named = {use.name.removesuffix(WARNED) for use in tool.report.budgets}
    # What a provider counts by another name has its limit there.
    budgets = [
        use
        for use in tool.report.budgets
        if use.limit is not None or SAME.get(use.name) not in named
    ]
    width = max([_NAME, *(len(use.name) for use in budgets)])
    for use in budgets:
        yield _row(use, width, paint)
        top = [f"{c.amount:,} at #{cut(c.pointer, _SHOWN)}" for c in use.top[:_TOP] if c.amount]
        what = None if use.name == _OWN else READINGS.get(use.name.removesuffix(WARNED))
        if top or what:
            yield paint("dim", safe(f"      {', '.join(top) or what}"))


def _row(use: BudgetUse, width: int, paint: Callable[[str, str], str]) -> str:
    used = "?" if use.used is None else f"{use.used:,}"
    limit = "-" if use.limit is None else f"{use.limit:,}"
    row = f"  {use.name:<{width}}{used:>11} of {limit:>10}"
    if use.used is None or use.limit is None:
        return row
    over = use.used > use.limit
    # Rounded up: only nothing has an empty bar.
    filled = _BAR if over else -(-use.used * _BAR // max(use.limit, 1))
    share = "" if not use.limit else f"{100 * use.used / use.limit:>8.1f} %"
    bar = f"[{'=' * filled}{'.' * (_BAR - filled)}]{share}"
    return f"{row}  {paint('error', bar + '  over') if over else bar}"
