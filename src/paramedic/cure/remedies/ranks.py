"""PM801, PM802, PM804, PM805, PM808: ranks begin alike, read different data, and meet in the wrapper."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

WRAPPERS = ("DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP")


@remedy("PM801", compare="metrics")
def begin_alike(finding: Finding, source: Source) -> Iterator[Edit]:
    """The first rank gives its weights to the others where the model is made."""
    statement = source.statement_at(finding.where.line)
    dist = _name_of(source, "torch.distributed")
    if not isinstance(statement, cst.SimpleStatementLine) or not dist or "broadcast" not in finding.remedy:
        return
    for name in source.assigned_names(statement):
        lines = [f"for parameter in {name}.parameters():", f"    {dist}.broadcast(parameter.data, src=0)"]
        yield source.edit("give all ranks the weights of the first", source.after(statement, *lines))


@remedy("PM801", compare="metrics")
def before_the_wrapper(finding: Finding, source: Source) -> Iterator[Edit]:
    """What the wrapper should hand to all ranks, or know of this pass, is said before it is called."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    while isinstance(source.parent(source.parent(statement)), cst.If):
        statement = source.parent(source.parent(statement))
    block, place = source.siblings(statement)
    flag = isinstance(statement, cst.SimpleStatementLine) and "require_backward_grad_sync" in source.code(statement)
    for other in block[:place] if flag and source.indent_of(statement) is not None else []:
        model = next((n.rpartition(".")[0] for n in source.assigned_names(statement) if n.endswith("grad_sync")), "")
        if any(source.dotted(call.func) == model for call in source.all(cst.Call, other)):
            moved = source.move(statement, source.before(other, ""), indent=source.indent_of(other) or "")
            yield source.edit("say before the forward pass whether gradients meet", *moved)
            return
    for wrapping in block[:place]:
        for call in source.calls(WRAPPERS, wrapping):
            names = source.assigned_names(wrapping) if isinstance(wrapping, cst.SimpleStatementLine) else []
            if len(names) == 1 and call.args and source.indent_of(statement) is not None:
                inner = source.code(call.args[0].value)
                start, end = source.lines_of(statement)
                text = source.text[start:end].replace(f"{names[0]}.module", names[0])
                indent = source.indent_of(statement) or ""
                bare = f"{indent}{names[0]} = {inner}{source.newline}"
                splices = [source.before(wrapping, "")._replace(new=bare + text), source.remove(statement)]
                splices.append(source.replace(call.args[0].value, names[0]))
                yield source.edit("load before the model is wrapped", *splices)


@remedy("PM802", compare="nothing")
def part_of_each_rank(finding: Finding, source: Source) -> Iterator[Edit]:
    """Each rank reads its own part of the data, in another order in each epoch."""
    statement = source.statement_at(finding.where.line)
    for call in source.calls_at(finding.where.line, "DataLoader"):
        data = source.argument(call, 0, "dataset")
        given = [arg.keyword.value for arg in call.args if arg.keyword]
        if not isinstance(data, cst.Name | cst.Attribute) or "sampler" in given or source.indent_of(statement) is None:
            continue
        shuffle = next((arg for arg in call.args if arg.keyword and arg.keyword.value == "shuffle"), None)
        splice = source.add_argument(call, "sampler=sampler")
        splice = source.replace(shuffle, "sampler=sampler") if shuffle is not None else splice
        line = f"sampler = torch.utils.data.DistributedSampler({source.code(data)})"
        loops = _epochs(source, source.assigned_names(statement))
        told = [source.before(inner, f"sampler.set_epoch({name})") for inner, name in loops]
        yield source.edit("give each rank its own part of the data", source.before(statement, line), splice, *told)


@remedy("PM802", compare="nothing")
def seed_of_each_rank(finding: Finding, source: Source) -> Iterator[Edit]:
    """Data that is drawn at random is drawn with a seed per rank."""
    statement = source.statement_at(finding.where.line)
    function = source.function_of(statement) if statement is not None else None
    ranks = [p.name.value for p in source.all(cst.Param, function) if "rank" in p.name.value] if function else []
    for call in source.all(cst.Call, function) if ranks else []:
        if "seed" in source.called(call).lower() and len(call.args) == 1:
            seed = call.args[0].value
            if not source.mentions(seed, ranks[0]) and isinstance(seed, cst.Integer | cst.Name | cst.Attribute):
                new = f"{source.code(seed)} + {ranks[0]}"
                yield source.edit("a seed for each rank", source.replace(seed, new))


@remedy("PM804", compare="metrics")
def without_what_is_unused(finding: Finding, source: Source) -> Iterator[Edit]:
    """A layer that nothing calls is left out; or the wrapper is told to look for such layers."""
    statement = source.statement_at(finding.where.line)
    if isinstance(statement, cst.SimpleStatementLine):
        for name in source.assigned_names(statement):
            used = [node for node in source.all(cst.Attribute) if source.dotted(node) == name]
            if len(used) == 1 and source.indent_of(statement) is not None:
                yield source.edit(f"without {name}, which nothing uses", source.remove(statement))
    for call in source.calls(WRAPPERS[:2]):
        if source.argument(call, None, "find_unused_parameters") is None:
            argument = source.add_argument(call, "find_unused_parameters=True")
            yield source.edit("let the wrapper find what is unused", argument)


@remedy("PM805", compare="metrics")
def through_the_wrapper(finding: Finding, source: Source) -> Iterator[Edit]:
    """The wrapped model is called, not the model inside."""
    statement = source.statement_at(finding.where.line)
    for wrapped in source.calls(WRAPPERS) if statement is not None else []:
        made = source.statement_of(wrapped)
        names = source.assigned_names(made) if isinstance(made, cst.SimpleStatementLine) else []
        inner = source.code(wrapped.args[0].value) if wrapped.args else ""
        for call in source.all(cst.Call, statement):
            called = source.dotted(call.func)
            if len(names) == 1 and called in (inner, f"{names[0]}.module") and called != names[0]:
                yield source.edit(f"call {names[0]}", source.replace(call.func, names[0]))


@remedy("PM808", compare="nothing")
def one_seed_for_all(finding: Finding, source: Source) -> Iterator[Edit]:
    """Samplers of all ranks permute alike, or their parts overlap."""
    for call in source.calls_at(finding.where.line, "DistributedSampler"):
        seed = source.argument(call, None, "seed")
        if seed is not None and not isinstance(seed, cst.Integer):
            yield source.edit("one seed for the samplers of all ranks", source.replace(seed, "0"))


def _epochs(source: Source, loaders: list[str]) -> list[tuple[Node, str]]:
    """Loops over these loaders inside a loop that counts, with the name of its counter."""
    found = []
    for inner in source.all(cst.For):
        outer = source.enclosing(inner, cst.For)
        over = any(source.mentions(inner.iter, name) for name in loaders)
        if over and outer is not None and isinstance(outer.target, cst.Name) and source.indent_of(inner) is not None:
            found.append((inner, outer.target.value))
    return found


def _name_of(source: Source, module: str) -> str:
    for node in source.all(cst.Import):
        for alias in node.names:
            if source.dotted(alias.name) == module:
                return source.dotted(alias.asname.name) if alias.asname else module
    for node in source.all(cst.ImportFrom):
        parts = node.names if not isinstance(node.names, cst.ImportStar) else ()
        for alias in parts:
            if f"{source.dotted(node.module) if node.module else ''}.{source.dotted(alias.name)}" == module:
                return source.dotted(alias.asname.name) if alias.asname else source.dotted(alias.name)
    return ""
