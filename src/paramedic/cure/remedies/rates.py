"""PM202 to PM208, PM217: learning rates and weight decay, changed where they are set. A judgement: the run decides."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
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
        number = _where_set(source, given) if given is not None else None
        if number is not None:
            yield source.edit("weight decay of 1e-4", source.replace(number, "1e-4"))
        elif given is not None:
            yield source.edit("weight decay of 1e-4", source.replace(given, "1e-4"))


def _scaled(finding: Finding, source: Source, name: str, factors: tuple[float, ...]) -> Iterator[Edit]:
    for call in _optimizers(source, finding.where.line):
        given = source.argument(call, 1, name)
        number = _where_set(source, given) if given is not None else None
        if number is None:
            continue
        for factor in factors:
            new = f"{float(source.code(number).replace('_', '')) * factor:g}"
            yield source.edit(f"{name} = {new}", source.replace(number, new))


def _optimizers(source: Source, line: int | None) -> list[Node]:
    """On the line; where the finding is elsewhere, the only one of the file."""
    statement = source.statement_at(line)
    here = [call for call in source.all(cst.Call, statement) if _is_optimizer(source, call)] if statement else []
    everywhere = [call for call in source.all(cst.Call) if _is_optimizer(source, call)]
    return here or (everywhere if len(everywhere) == 1 else [])


def _is_optimizer(source: Source, call: Node) -> bool:
    return source.argument(call, None, "lr") is not None and source.called(call)[:1].isupper()


def _where_set(source: Source, node: Node) -> Node | None:
    """The number itself: in the call, behind a name, as the default of a command-line argument or of a field."""
    if isinstance(node, cst.Float | cst.Integer):
        return node
    name = source.dotted(node).rpartition(".")[2]
    for target, value in _assigned(source):
        if source.dotted(target).rpartition(".")[2] == name and isinstance(value, cst.Float | cst.Integer):
            return value
    for call in source.calls("add_argument"):
        first = call.args[0].value if call.args else None
        option = source.code(first).strip("\"'").lstrip("-").replace("-", "_") if first is not None else ""
        default = source.argument(call, None, "default")
        if option == name and isinstance(default, cst.Float | cst.Integer):
            return default
    for param in source.all(cst.Param):
        if param.name.value == name and isinstance(param.default, cst.Float | cst.Integer):
            return param.default
    return None


def _assigned(source: Source) -> Iterator[tuple[Node, Node]]:
    """Names with what they are given, also those of `A, B = 1, 2`."""
    for node in source.all((cst.Assign, cst.AnnAssign)):
        target = node.target if isinstance(node, cst.AnnAssign) else node.targets[0].target
        if isinstance(target, cst.Tuple) and isinstance(node.value, cst.Tuple):
            yield from ((t.value, v.value) for t, v in zip(target.elements, node.value.elements, strict=False))
        else:
            yield target, node.value
