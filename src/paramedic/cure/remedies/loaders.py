"""PM306, PM309, PM319, PM707, PM803, PM808: what a DataLoader, its sampler and its workers are told."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit, Splice
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.cure.values import set_to, settings
from paramedic.findings import Finding


@remedy("PM306", "PM319", compare="metrics")
def shuffle(finding: Finding, source: Source) -> Iterator[Edit]:
    """`shuffle=True`."""
    for call in source.calls_at(finding.where.line, "DataLoader"):
        given = source.argument(call, 2, "shuffle")
        if given is not None:
            yield from set_to(source, given, "shuffle the training data", "True")
        elif source.argument(call, None, "sampler") is None and source.argument(call, None, "batch_sampler") is None:
            yield source.edit("shuffle the training data", source.add_argument(call, "shuffle=True"))


@remedy("PM309", compare="nothing")
def seed_workers(finding: Finding, source: Source) -> Iterator[Edit]:
    """Each worker's generator gets a seed of its own."""
    attribute = re.search(r"dataset\.(\w+) \(Generator\)", finding.what)
    if attribute:
        body = ["info = torch.utils.data.get_worker_info()"]
        body.append(f"info.dataset.{attribute[1]} = {_numpy(source)}.random.default_rng(info.seed)")
    else:
        body = [f"{_numpy(source)}.random.seed(torch.initial_seed() % 2**32)"]
    for call in source.calls_at(finding.where.line, "DataLoader"):
        if source.argument(call, None, "worker_init_fn") is not None or not _numpy(source):
            continue
        lines = ["def seed_worker(worker_id):", *(f"    {line}" for line in body), "", ""]
        above = _before_top_level(source, call, lines)
        argument = source.add_argument(call, "worker_init_fn=seed_worker")
        yield source.edit("seed each worker with a number of its own", above, argument)


@remedy("PM309", compare="nothing")
def share_of_each_worker(finding: Finding, source: Source) -> Iterator[Edit]:
    """Each worker goes over its own part of what the stream goes over."""
    statement = source.statement_at(finding.where.line)
    function = source.function_of(statement) if statement is not None else None
    functions = [function] if function is not None else []
    functions += [found for found in source.all(cst.FunctionDef) if found not in functions]
    for found in [found for found in functions if found.name.value == "__iter__"]:
        for loop in source.all(cst.For, found)[:1]:
            if isinstance(loop.iter, cst.Name) and source.indent_of(loop) is not None:
                name = loop.iter.value
                part = f"{name} = {name}[info.id :: info.num_workers]"
                lines = ["info = torch.utils.data.get_worker_info()", "if info is not None:", f"    {part}"]
                if not source.calls("get_worker_info", found):
                    yield source.edit("give each worker its own part", source.before(loop, *lines))


@remedy("PM803", compare="nothing")
def leave_the_seed(finding: Finding, source: Source) -> Iterator[Edit]:
    """A seed that is set at every evaluation makes every epoch alike."""
    statement = source.statement_at(finding.where.line)
    if isinstance(statement, cst.SimpleStatementLine) and source.function_of(statement) is not None:
        calls = source.all(cst.Call, statement)
        if len(calls) == 1 and "seed" in source.called(calls[0]).lower() and source.indent_of(statement) is not None:
            yield source.edit("do not set the seed again", source.remove(statement))


@remedy("PM306", "PM319", safety="unsafe", compare="metrics")
def larger_buffer(finding: Finding, source: Source) -> Iterator[Edit]:
    """A stream is shuffled as far as its buffer reaches."""
    for call in source.calls_at(finding.where.line, "DataLoader"):
        for node in source.all((cst.Name, cst.Attribute), call):
            if "buffer" in source.dotted(node).lower():
                for setting in settings(source, node):
                    new = f"{setting.value * 32:.0f}"
                    yield setting.change(f"a buffer of {new}", new)


@remedy("PM803", compare="nothing")
def set_epoch(finding: Finding, source: Source) -> Iterator[Edit]:
    """`sampler.set_epoch(epoch)` in front of the loop over the loader."""
    statement = source.statement_at(finding.where.line)
    samplers = [name for call in source.calls("DistributedSampler") for name in _names(source, call)]
    if statement is None or not samplers:
        return
    loop = statement if isinstance(statement, cst.For) else source.enclosing(statement, cst.For)
    epochs = source.enclosing(loop, cst.For) if loop is not None else None
    if epochs is None or not isinstance(epochs.target, cst.Name) or source.indent_of(loop) is None:
        return
    line = f"{samplers[0]}.set_epoch({epochs.target.value})"
    if not source.calls("set_epoch"):
        yield source.edit("tell the sampler which epoch it is", source.before(loop, line))


@remedy("PM707")
def no_workers(finding: Finding, source: Source) -> Iterator[Edit]:
    """Workers that cost more than they do are left out."""
    for call in source.calls_at(finding.where.line, "DataLoader"):
        given = source.argument(call, None, "num_workers")
        if given is not None:
            yield from set_to(source, given, "load in the process itself", "0")


@remedy("PM808", compare="nothing")
def split_alike(finding: Finding, source: Source) -> Iterator[Edit]:
    """A split that is drawn with a generator of its own is the same on every rank and in every run."""
    for call in source.calls_at(finding.where.line, "random_split"):
        if source.argument(call, 2, "generator") is None:
            argument = source.add_argument(call, "generator=torch.Generator().manual_seed(0)")
            yield source.edit("split alike everywhere", argument)


def _numpy(source: Source) -> str:
    """The name under which numpy is imported; empty if it is not."""
    for node in source.all(cst.Import):
        for alias in node.names:
            if source.dotted(alias.name) == "numpy":
                return source.dotted(alias.asname.name) if alias.asname else "numpy"
    return ""


def _names(source: Source, call: Node) -> list[str]:
    statement = source.statement_of(call)
    return source.assigned_names(statement) if isinstance(statement, cst.SimpleStatementLine) else []


def _before_top_level(source: Source, node: Node, lines: list[str]) -> Splice:
    """New lines before the statement of the module that holds the node, its decorators and comments below them."""
    above = [found for found in source.above(node) if source.parent(found) is source.module]
    statement = above[0]
    decorators = getattr(statement, "decorators", ())
    return source.before(decorators[0] if decorators else statement, *lines)
