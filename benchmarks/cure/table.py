"""The table of RESULTS.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.cure.running import Row

HEAD = """# What is cured

Written by `python -m benchmarks.cure`: `paramedic cure --unsafe` on sick programs of the real pairs of the accuracy
benchmark whose fault is found, each run to its end. "Cured": the edits were confirmed, and the edited program has no
alarm left. "Like the twin": every metric and loss that both print is in the band of the repaired twin, which is run
with three seeds: no worse than the worst of the three by more than the three differ (and 0.01, or 1 % of a number
above 1). A program whose rule has no remedy is not run and counts as not cured, as does one whose runs take too long.
"""


def write(rows: list[Row], to: Path, *, of: int) -> None:
    found = [row for row in rows if row.found]
    safe = [row for row in found if row.has_safe]
    like = [row.like_twin for row in found if row.cured and row.like_twin is not None]
    lines = [
        HEAD,
        f"{len(rows)} of {of} pairs, chosen by a hash of their names. Of the cured programs, {len(like)} print",
    ]
    lines += [f"a metric or a loss that the twin prints as well; {sum(like)} of them are like the twin.\n"]
    lines += ["| programs | number | cured | cured and like the twin, or nothing to compare |", "|---|---|---|---|"]
    for name, group in (("found", found), ("a safe edit was tried", safe)):
        lines.append(f"| {name} | {len(group)} | {_share(group, _cured)} | {_share(group, _like)} |")
    lines += ["", "| program | rule | cured | like the twin | edit, or why not |", "|---|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: row.program):
        like = {True: "yes", False: "no", None: "nothing to compare"}[row.like_twin] if row.cured else ""
        told = "; ".join(row.edits) if row.cured else row.reason or f"left: {', '.join(row.left)}"
        state = "yes" if row.cured else "no" if row.found else "not found in this run"
        lines.append(f"| {row.program} | {row.code} | {state} | {like} | {told.replace('|', '/')} |")
    to.write_text("\n".join(lines) + "\n")


def _cured(row: Row) -> bool:
    return row.cured


def _like(row: Row) -> bool:
    return row.cured and row.like_twin is not False


def _share(rows: list[Row], holds: Callable[[Row], bool]) -> str:
    count = sum(holds(row) for row in rows)
    return f"{count} of {len(rows)} ({count / len(rows):.0%})" if rows else "none"
