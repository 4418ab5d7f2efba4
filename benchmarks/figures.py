"""The curves of `compile_caps.py` as PNG, one figure a cap. Needs matplotlib (extra `bench`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

#: Column → (title of its axis, the target).
COLUMNS = {
    "compile_ms": ("compile, ms", 1_000),
    "mask_ms": ("worst mask, ms", 20),
    "peak_mb": ("memory, MB", 512),
}


def draw(rows: list[dict[str, Any]], folder: Path) -> None:
    """Write one figure for each cap.

    Args:
        rows: of `compile_caps.families`.
        folder: where the files go: `CAP.png`.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    folder.mkdir(parents=True, exist_ok=True)
    for cap in dict.fromkeys(row["cap"] for row in rows):
        figure, axes = plt.subplots(1, len(COLUMNS), figsize=(12, 3.6), layout="constrained")
        members = [row for row in rows if row["cap"] == cap]
        for axis, (column, (title, target)) in zip(axes, COLUMNS.items(), strict=True):
            for number, family in enumerate(dict.fromkeys(row["family"] for row in members)):
                own = [row for row in members if row["family"] == family and column in row]
                color = f"C{number % 10}"
                x, y = [row["n"] for row in own], [max(row[column], 0.01) for row in own]
                axis.plot(x, y, color=color, linewidth=1, label=family)
                for row, value in zip(own, y, strict=True):
                    full = {} if not row["refused"] else {"markerfacecolor": "white"}
                    axis.plot([row["n"]], [value], "o", color=color, markersize=4, **full)
            axis.axhline(target, color="black", linewidth=0.6, linestyle="--")
            axis.set(title=title, xscale="log", yscale="log", xlabel="N")
            axis.tick_params(labelsize=7)
            for line in (axis.xaxis, axis.yaxis):  # labels of minor ticks run into each other
                line.set_minor_formatter(NullFormatter())
        axes[0].legend(fontsize=6, loc="upper left")
        figure.suptitle(f"{cap}: full points pass, empty ones are refused", fontsize=9)
        figure.savefig(folder / f"{cap}.png", dpi=80)
        plt.close(figure)
