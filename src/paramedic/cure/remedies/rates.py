"""PM202 to PM208, PM217: learning rates and weight decay, changed where they are set. A judgement: the run decides."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.cure.values import set_to, settings
from paramedic.findings import Finding

LOWER, HIGHER = (0.1, 0.01, 0.001), (10.0, 100.0, 1000.0)


@remedy("PM205", "PM208", "PM203", "PM202", safety="unsafe")
def lower_rate(finding: Finding, source: Source) -> Iterator[Edit]:
    yield from _scaled(finding, source, "lr", LOWER)


@remedy("PM206", safety="unsafe")
def higher_rate(finding: Finding, source: Source) -> Iterator[Edit]:
    yield from _scaled(finding, source, "lr", HIGHER)


@remedy("PM217", safety="unsafe")
def less_decay(finding: Finding, source: Source) -> Iterator[Edit]:
    for call in _optimizers(source, finding.where.line):
        given = source.argument(call, None, "weight_decay")
        if given is not None:
            yield from set_to(source, given, "weight decay of 1e-4", "1e-4")


def _scaled(finding: Finding, source: Source, name: str, factors: tuple[float, ...]) -> Iterator[Edit]:
    for call in _optimizers(source, finding.where.line):
        given = source.argument(call, 1, name)
        groups = [entry.value for entry in source.all(cst.DictElement) if source.code(entry.key).strip("\"'") == name]
        values = groups if given is None else [given]
        places = [place for value in values for place in settings(source, value)]
        for factor in factors:
            for place in places:
                new = f"{place.value * factor:g}"
                yield place.change(f"{name} = {new}", new)


def _optimizers(source: Source, line: int | None) -> list[Node]:
    """On the line; where the finding is elsewhere, the only one of the file."""
    statement = source.statement_at(line)
    here = [call for call in source.all(cst.Call, statement) if _is_optimizer(source, call)] if statement else []
    everywhere = [call for call in source.all(cst.Call) if _is_optimizer(source, call)]
    return here or (everywhere if len(everywhere) == 1 else [])


def _is_optimizer(source: Source, call: Node) -> bool:
    """By its name, `torch.optim.SGD`, or by being given a rate."""
    package, _, name = source.dotted(call.func).rpartition(".")
    known = package.rpartition(".")[2] == "optim" or source.argument(call, None, "lr") is not None
    return known and name[:1].isupper()
