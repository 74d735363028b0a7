"""PM401: modules and parameters become known to the model that holds them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

LISTS = (cst.List, cst.ListComp, cst.Tuple)
DICTS = (cst.Dict, cst.DictComp)
CASTS = ("float", "half", "double", "to", "cuda", "cpu", "bfloat16")


@remedy("PM401")
def register(finding: Finding, source: Source) -> Iterator[Edit]:
    """A list becomes a ModuleList, a dict a ModuleDict, a tensor that is trained a Parameter."""
    nn = nn_name(source)
    for value in _values(source, finding):
        text = source.code(value)
        if isinstance(value, LISTS):
            empty = isinstance(value, cst.List) and not value.elements
            yield source.edit(
                "hold the layers in a ModuleList", source.replace(value, f"{nn}.ModuleList({'' if empty else text})")
            )
        elif isinstance(value, DICTS):
            empty = isinstance(value, cst.Dict) and not value.elements
            yield source.edit(
                "hold the layers in a ModuleDict", source.replace(value, f"{nn}.ModuleDict({'' if empty else text})")
            )
        elif isinstance(value, cst.Call):
            yield from _of_call(source, value, nn)


@remedy("PM401")
def build_once(finding: Finding, source: Source) -> Iterator[Edit]:
    """A layer that forward() makes anew at every call is made in __init__."""
    statement = source.statement_at(finding.where.line)
    function = source.function_of(statement) if statement is not None else None
    owner = source.enclosing(function, cst.ClassDef) if function is not None else None
    if owner is None or function is None or function.name.value == "__init__":
        return
    init = next((node for node in source.all(cst.FunctionDef, owner) if node.name.value == "__init__"), None)
    for call in source.all(cst.Call, statement):
        layer = call.func
        if init is None or not isinstance(layer, cst.Call) or not source.called(layer)[:1].isupper():
            continue
        local = {source.dotted(node) for node in source.all(cst.Name, layer)} & _locals(source, function)
        if local:
            continue
        name = f"self.{source.called(layer).lower()}"
        made = source.after(init.body.body[-1], f"{name} = {source.code(layer)}")
        yield source.edit("make the layer once, in __init__", made, source.replace(layer, name))


def nn_name(source: Source) -> str:
    """Under which name torch.nn can be reached."""
    return "nn" if any(source.dotted(call.func).startswith("nn.") for call in source.all(cst.Call)) else "torch.nn"


def _values(source: Source, finding: Finding) -> list[Node]:
    """What is assigned on the line, or to the attribute that the finding names."""
    statement = source.statement_at(finding.where.line)
    found = source.all((cst.Assign, cst.AnnAssign), statement) if isinstance(statement, cst.SimpleStatementLine) else []
    values = [assign.value for assign in found if assign.value is not None]
    name = f"self.{(finding.where.module or '').rpartition('.')[2]}"
    if not values and statement is not None and source.mentions(statement, name):  # where it is filled
        made = [
            s for s in source.all(cst.SimpleStatementLine, source.scope(statement)) if name in source.assigned_names(s)
        ]
        values = [assign.value for s in made for assign in source.all(cst.Assign, s)]
    return values


def _of_call(source: Source, call: Node, nn: str) -> Iterator[Edit]:
    inner = source.owner(call)
    if source.called(call) in CASTS and isinstance(inner, cst.Call) and source.called(inner) == "Parameter":
        data = source.argument(inner, 0, "data")
        if data is not None:
            cast = source.text[source.span(inner)[1] : source.span(call)[1]]
            new = f"{source.code(inner.func)}({source.operand(data)}{cast})"
            yield source.edit("cast first, and make a parameter of what comes out", source.replace(call, new))
    elif source.called(call) in ("list", "dict"):
        kind = "ModuleList" if source.called(call) == "list" else "ModuleDict"
        yield source.edit(f"hold the layers in a {kind}", source.replace(call.func, f"{nn}.{kind}"))
    elif source.argument(call, None, "requires_grad") is not None:
        yield source.edit("make it a parameter", source.replace(call, f"{nn}.Parameter({source.code(call)})"))


def _locals(source: Source, function: Node) -> set[str]:
    names = {param.name.value for param in source.all(cst.Param, function)} - {"self"}
    for statement in source.all(cst.SimpleStatementLine, function):
        names |= set(source.assigned_names(statement))
    return names
