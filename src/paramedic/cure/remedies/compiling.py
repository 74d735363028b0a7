"""PM705: a compiled function gets what changes as a tensor."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding


@remedy("PM705")
def number_as_tensor(finding: Finding, source: Source) -> Iterator[Edit]:
    """A number that is another one at every call becomes a tensor where it is made."""
    guard = re.search(r"failed last: (?:L\[['\"])?(\w+)(?:['\"]\])? == -?[\d.e+-]+", finding.what)
    if guard is None:
        return
    for call in source.all(cst.Call):
        given = source.argument(call, _place(source, call, guard[1]), guard[1])
        if given is None:
            continue
        if isinstance(given, cst.Name):
            for statement in source.assignments(given.value, call)[-1:]:
                for assign in source.all(cst.Assign, statement):
                    if source.code(assign.targets[0].target) == given.value:
                        new = f"torch.tensor({source.code(assign.value)})"
                        yield source.edit(f"make {given.value} a tensor", source.replace(assign.value, new))
        yield source.edit(f"pass {guard[1]} as a tensor", source.replace(given, f"torch.tensor({source.code(given)})"))


@remedy("PM705")
def any_size(finding: Finding, source: Source) -> Iterator[Edit]:
    """Sizes that change are left open."""
    for call in [*source.calls_at(finding.where.line, "compile"), *source.calls("compile")]:
        flag = source.argument(call, None, "dynamic")
        if "size" in f"{finding.what} {finding.remedy}" or flag is not None:
            splice = source.replace(flag, "True") if flag is not None else source.add_argument(call, "dynamic=True")
            yield source.edit("compile for any size", splice)


def _place(source: Source, call: Node, name: str) -> int | None:
    """Where a function that is compiled under another name has this parameter."""
    called = source.dotted(call.func)
    compiled = {
        inner
        for assign in source.all(cst.Assign)
        if source.code(assign.targets[0].target) == called
        for found in source.calls("compile", assign.value)
        for inner in [source.code(argument.value) for argument in found.args[:1]]
    }
    for function in source.all(cst.FunctionDef):
        if function.name.value in compiled | {called}:
            names = [param.name.value for param in function.params.params]
            return names.index(name) if name in names else None
    return None
