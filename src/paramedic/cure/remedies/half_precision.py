"""PM106, PM104: constants and epsilons that half precision can hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Source
from paramedic.cure.values import set_to
from paramedic.findings import Finding

LARGE, SMALL = "1e4", "1e-4"


@remedy("PM106", compare="metrics")
def constant_in_range(finding: Finding, source: Source) -> Iterator[Edit]:
    """The constant itself, on the line or where it has its name."""
    value = next((fact.value for fact in finding.evidence if fact.name == "constant"), None)
    if value is None:
        found = re.search(r"constant (-?[\d.e+-]+)", finding.what)
        value = float(found[1]) if found else None
    statement = source.statement_at(finding.where.line)
    if value is None or statement is None:
        return
    wanted = abs(float(value))
    for place in (statement, source.module):
        for node in source.all((cst.Float, cst.Integer), place):
            if _number(source.code(node)) == wanted and wanted not in (0, 1):
                new = LARGE if wanted > 1 else SMALL
                yield source.edit(f"a constant that float16 can hold: {new}", source.replace(node, new))
                return


@remedy("PM104", compare="metrics")
def larger_epsilon(finding: Finding, source: Source) -> Iterator[Edit]:
    """Adam's eps=1e-8 is 0 in float16."""
    statement = source.statement_at(finding.where.line)
    for name in ("Adam", "AdamW", "RMSprop", "NAdam", "Adagrad"):
        calls = [c for c in source.calls(name) if statement is None or source.statement_of(c) is statement]
        for call in calls or source.calls(name):
            given = source.argument(call, None, "eps")
            if given is not None:
                yield from set_to(source, given, "an epsilon that float16 can hold", SMALL)
            else:
                argument = source.add_argument(call, f"eps={SMALL}")
                yield source.edit("an epsilon that float16 can hold", argument)


def _number(text: str) -> float | None:
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return None
