"""PM108, PM315, PM508: padding is neither read nor all that is left to attend to, and labels are not cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

LENGTHS = re.compile(r"max_(seq_)?len(gth)?|max_tokens|block_size|context_length")
INFINITE = re.compile(r"float\(\s*[\"']-inf[\"']\s*\)|-\s*(math|np|torch)\.inf")


@remedy("PM315", compare="nothing")
def own_last_place(finding: Finding, source: Source) -> Iterator[Edit]:
    """`x[:, -1]` becomes the last place of each row, where the function knows the lengths."""
    statement = source.statement_at(finding.where.line)
    lengths = _known(source, statement, r"len(gth)?s?$|lens$|sizes$") if statement is not None else []
    for node in source.all(cst.Subscript, statement) if statement is not None else []:
        if re.fullmatch(r"\[\s*:\s*,\s*-1\s*(,\s*:\s*)?\]", source.code(node)[len(source.code(node.value)) :]):
            for name in lengths:
                base = source.code(node.value)
                new = f"{base}[torch.arange(len({base})), {name} - 1]"
                yield source.edit("read each row at its own end", source.replace(node, new))


@remedy("PM315", compare="nothing")
def mean_of_what_is_there(finding: Finding, source: Source) -> Iterator[Edit]:
    """A mean over places counts those that the mask keeps."""
    for statement in _around(source, finding):
        for call in source.calls("mean", statement):
            over = source.argument(call, 0 if source.is_method(call) else 1, "dim")
            if over is None or source.code(over) != "1":
                continue
            value = source.operand(source.applied_to(call))
            for name, padding in _masks(source, statement):
                keep = f"(~{name})" if padding else name
                weights = f"{keep}.unsqueeze(-1).float()"
                new = f"({value} * {weights}).sum(1) / {weights}.sum(1).clamp(min=1)"
                yield source.edit("leave padding out of the mean", source.replace(call, new))


@remedy("PM108", compare="metrics")
def something_to_attend_to(finding: Finding, source: Source) -> Iterator[Edit]:
    """A row without any place to attend to is not masked at all; or its mask is a large finite number."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    for call in source.all(cst.Call, statement):
        for given in call.args:
            if given.keyword and given.keyword.value.endswith("key_padding_mask"):
                mask = source.operand(given.value)
                new = f"{mask} & ~{mask}.all(dim=1, keepdim=True)"
                yield source.edit("do not mask a row as a whole", source.replace(given.value, new))
    for call in source.calls("masked_fill", source.scope(statement)):
        value = source.argument(call, 1 if source.is_method(call) else 2, "value")
        if value is not None and INFINITE.search(source.code(value)):
            yield source.edit("mask with a large finite number", source.replace(value, "-1e4"))


@remedy("PM508", safety="unsafe", compare="nothing")
def longer(finding: Finding, source: Source) -> Iterator[Edit]:
    """Sequences that are cut before their first label are cut later."""
    for argument in source.all(cst.Arg):
        name = argument.keyword.value if argument.keyword else ""
        if LENGTHS.fullmatch(name) and isinstance(argument.value, cst.Integer):
            for factor in (2, 4):
                new = str(int(argument.value.value) * factor)
                yield source.edit(f"{name} = {new}", source.replace(argument.value, new))


def _around(source: Source, finding: Finding) -> list[Node]:
    """The statement of the finding; where that calls a model, what the forward() of the file holds."""
    statement = source.statement_at(finding.where.line)
    here = [statement] if statement is not None else []
    functions = [node for node in source.all(cst.FunctionDef) if node.name.value == "forward"]
    return [*here, *functions]


def _known(source: Source, node: Node, pattern: str) -> list[str]:
    """Names of the function that look like what is wanted."""
    function = node if isinstance(node, cst.FunctionDef) else source.scope(node)
    names = [param.name.value for param in source.all(cst.Param, function)]
    names += [name for line in source.all(cst.SimpleStatementLine, function) for name in source.assigned_names(line)]
    return [name for name in dict.fromkeys(names) if re.search(pattern, name.lower())]


def _masks(source: Source, node: Node) -> Iterator[tuple[str, bool]]:
    """Expressions that tell padding from the rest, and whether they are true for padding."""
    function = node if isinstance(node, cst.FunctionDef) else source.scope(node)
    for call in source.all(cst.Call, function):
        for given in call.args:
            if given.keyword and given.keyword.value.endswith("key_padding_mask"):
                yield source.operand(given.value), True
    for name in _known(source, node, r"mask|pad|keep|valid|present"):
        yield name, "pad" in name.lower()
        yield name, "pad" not in name.lower()
