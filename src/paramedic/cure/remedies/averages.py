"""PM418: a copy of the model follows the model, and not the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedies.copies import first_import, imported
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Source
from paramedic.findings import Finding


@remedy("PM418", compare="nothing")
def load_the_trained_one(finding: Finding, source: Source) -> Iterator[Edit]:
    """The copy loads the weights of the model that is trained."""
    for call in source.calls_at(finding.where.line, "load_state_dict"):
        taken = source.calls("state_dict", call)
        if not taken or source.owner(call) is None:
            continue
        to, of = source.owner(call), source.owner(taken[0])
        if source.code(to) != source.code(of):
            if "was reset" not in finding.what:
                continue
            swapped = source.replace(to, source.code(of)), source.replace(of, source.code(to))
            yield source.edit("load the trained weights into the copy", *swapped)
            continue
        for name in _others(source, source.code(to)):
            yield source.edit(f"load the weights of {name}", source.replace(of, name))


@remedy("PM418", compare="nothing")
def average_the_copy(finding: Finding, source: Source) -> Iterator[Edit]:
    """The update writes into the copy; and the buffers follow as well."""
    statement = source.statement_at(finding.where.line)
    loop = statement if isinstance(statement, cst.For) else source.enclosing(statement, cst.For) if statement else None
    if loop is None:
        return
    pairs = source.calls("zip", loop.iter)
    if "write into" in finding.remedy and pairs and len(pairs[0].args) >= 2:
        one, other = (arg.value for arg in pairs[0].args[:2])
        swapped = source.replace(one, source.code(other)), source.replace(other, source.code(one))
        yield source.edit("write into the copy", *swapped)
    if "copy the buffers" in finding.remedy and pairs and source.indent_of(loop) is not None:
        one, other = (source.code(arg.value) for arg in pairs[0].args[:2])
        if one.endswith("parameters()") and other.endswith("parameters()"):
            new = [re.sub(r"(named_)?parameters\(\)$", "buffers()", text) for text in (one, other)]
            lines = [f"for mine, theirs in zip({new[0]}, {new[1]}):", "    mine.copy_(theirs)"]
            yield source.edit("copy the statistics as well", source.after(loop, *lines))


@remedy("PM418", compare="nothing")
def names_without_prefix(finding: Finding, source: Source) -> Iterator[Edit]:
    """A wrapper puts a prefix before each name: the copy is given what is inside of it."""
    if "prefix" not in finding.remedy:
        return
    wrapped = {
        name: ".module" if source.called(call) != "compile" else "._orig_mod"
        for call in source.calls(("DataParallel", "DistributedDataParallel", "DDP", "compile"))
        if isinstance(source.statement_of(call), cst.SimpleStatementLine)
        for name in source.assigned_names(source.statement_of(call))
    }
    statement = source.statement_at(finding.where.line)
    owner = source.enclosing(statement, cst.ClassDef) if statement is not None else None
    methods = [node.name.value for node in source.all(cst.FunctionDef, owner)] if owner is not None else []
    for call in source.calls(methods):
        for given in call.args:
            name = source.dotted(given.value)
            if name in wrapped:
                new = f"{name}{wrapped[name]}"
                yield source.edit(f"follow {new}, whose names have no prefix", source.replace(given.value, new))


@remedy("PM418", compare="nothing")
def share_of_the_new(finding: Finding, source: Source) -> Iterator[Edit]:
    """`decay` is the share that stays, and `1 - decay` the share that comes in."""
    if "with a decay such as" not in finding.remedy:
        return
    statement = source.statement_at(finding.where.line)
    for call in source.calls(("mul_", "lerp_", "add_"), statement) if statement is not None else []:
        weight = call.args[-1].value if call.args else None
        if source.called(call) == "lerp_" and weight is not None:
            yield source.edit(
                "take a little of it in each step", source.replace(weight, f"1 - {source.operand(weight)}")
            )
        if source.called(call) == "mul_" and weight is not None:
            alpha = [source.argument(add, None, "alpha") for add in source.calls("add_", statement)]
            if alpha and alpha[0] is not None:
                swapped = source.replace(weight, source.code(alpha[0])), source.replace(alpha[0], source.code(weight))
                yield source.edit("take a little of it in each step", *swapped)


@remedy("PM418", "PM517", compare="nothing")
def a_copy_of_its_own(finding: Finding, source: Source) -> Iterator[Edit]:
    """A target network that is the trained one by another name becomes a copy."""
    for assign in source.all(cst.Assign):
        name = source.dotted(assign.targets[0].target).rpartition(".")[2]
        same = isinstance(assign.value, cst.Name | cst.Attribute)
        if same and re.search(r"target|teacher|ema|slow", name) and re.search(r"net|model|q$|actor|critic", name):
            splices = [source.replace(assign.value, f"copy.deepcopy({source.code(assign.value)})")]
            if "copy" not in imported(source):
                splices.append(source.before(first_import(source), "import copy"))
            yield source.edit(f"make {name} a copy", *splices)


def _others(source: Source, name: str) -> list[str]:
    """Attributes of the same object that are called like models, those that are trained by name first."""
    first = name.rpartition(".")[0]
    found = {
        source.dotted(call.func)
        for call in source.all(cst.Call)
        if call.args and source.dotted(call.func).rpartition(".")[0] == first and source.dotted(call.func) != name
    }
    words = ("online", "eval", "policy", "model", "net", "q", "student", "local")
    named = [one for one in sorted(found) if any(word in one.rpartition(".")[2].lower() for word in words)]
    return named[:3]
