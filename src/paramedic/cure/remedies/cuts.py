"""PM403, PM506, PM215: what cuts the gradient's path is taken out of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit, Splice
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

CODES = ("PM403", "PM506", "PM215")
HEADS = ("no_grad", "inference_mode")


@remedy(*CODES, compare="metrics")
def let_it_through(finding: Finding, source: Source) -> Iterator[Edit]:
    """Without .detach(), .data, .item() on the line; sampled with rsample()."""
    line = finding.where.line
    for call in source.calls_at(line, ("detach", "item", "numpy", "tolist")):
        if source.is_method(call) and not call.args:
            yield source.edit(
                f"without .{source.called(call)}()", source.replace(call, source.code(source.owner(call)))
            )
    statement = source.statement_at(line)
    for node in source.all(cst.Attribute, statement) if isinstance(statement, cst.SimpleStatementLine) else []:
        if node.attr.value == "data":
            yield source.edit("without .data", source.replace(node, source.code(node.value)))
    for call in source.calls_at(line, "sample"):
        yield source.edit(
            "draw with rsample(), which lets gradients through", source.replace(call.func.attr, "rsample")
        )


@remedy(*CODES, compare="metrics")
def stay_tensors(finding: Finding, source: Source) -> Iterator[Edit]:
    """A number that is made a tensor again further on stays one all the way: in a sum, or in a list."""
    for call in source.calls_at(finding.where.line, ("item", "tolist", "numpy")):
        if not source.is_method(call) or call.args:
            continue
        here = source.replace(call, source.code(source.owner(call)))
        outer = source.parent(source.parent(call))
        grown = isinstance(outer, cst.Call) and source.called(outer) == "append" and source.owner(outer) is not None
        name = source.code(source.owner(outer)) if grown else ""
        again = []
        for made in source.calls(("tensor", "as_tensor", "FloatTensor")):
            value = made.args[0].value if made.args else None
            if name and value is not None and source.code(value) == name:
                again.append(source.replace(made, f"torch.stack({name})"))
            elif value is not None and source.argument(made, None, "requires_grad") is not None:
                again.append(source.replace(made, source.code(value)))
        if again:
            yield source.edit("keep it a tensor all the way", here, *again)


@remedy(*CODES, compare="metrics")
def with_gradients(finding: Finding, source: Source) -> Iterator[Edit]:
    """Without the no_grad() around the line or above the function."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    function = statement if isinstance(statement, cst.FunctionDef) else source.function_of(statement)
    for decorator in function.decorators if function is not None else ():
        name = source.code(decorator.decorator).removesuffix("()").rpartition(".")[2]
        if name in HEADS:
            yield source.edit(f"without @{name}", _without_line(source, decorator))
    around = [node for node in (statement, *source.above(statement)) if isinstance(node, cst.With)]
    for node in around[:1]:
        heads = [item for item in node.items if source.calls(HEADS, item)]
        if heads and len(node.items) == 1:
            new = re.sub(r"(torch\.)?(no_grad|inference_mode)\(\)", "torch.enable_grad()", source.code(heads[0]))
            yield source.edit("with gradients", source.replace(heads[0], new))


@remedy("PM403", "PM506", compare="metrics")
def differentiable(finding: Finding, source: Source) -> Iterator[Edit]:
    """A step function is replaced by one with a slope, a draw by one that is a function of its parameters."""
    line = finding.where.line
    for call in source.calls_at(line, "sign"):
        inner = source.operand(source.applied_to(call))
        new = f"{inner} + ({source.code(call)} - {inner}).detach()"
        tight = not isinstance(source.parent(call), cst.Assign | cst.Return)
        yield source.edit("let the gradient pass straight through", source.replace(call, f"({new})" if tight else new))
    for call in source.calls_at(line, "normal"):
        if len(call.args) >= 2:
            mean, std = source.operand(call.args[0].value), source.operand(call.args[1].value)
            new = f"{mean} + {std} * torch.randn_like({source.code(call.args[0].value)})"
            yield source.edit("draw noise, and make the value of it", source.replace(call, new))
    for comparison in source.all(cst.Comparison, source.statement_at(line)) if source.statement_at(line) else []:
        if source.calls(("sigmoid", "softmax"), comparison.left):
            outer = source.parent(source.parent(comparison))
            whole = outer if isinstance(outer, cst.Call) and source.called(outer) in ("float", "long") else comparison
            yield source.edit(
                "use the probability, not the decision", source.replace(whole, source.code(comparison.left))
            )
    for call in source.calls_at(line, "argmax"):
        over = source.argument(call, 0 if source.is_method(call) else 1, "dim")
        if over is not None and source.code(over) == "1":
            outer = source.parent(source.parent(call))
            whole = outer if isinstance(outer, cst.Call) and source.called(outer) in ("float", "long") else call
            new = f"{source.operand(source.applied_to(call))}.softmax(dim=1)[:, 1]"
            yield source.edit("use the probability of the second class", source.replace(whole, new))
    for call in source.calls_at(line, "checkpoint"):
        flag = source.argument(call, None, "use_reentrant")
        if flag is not None and source.code(flag) == "True":
            yield source.edit("checkpoint without re-entering autograd", source.replace(flag, "False"))


@remedy("PM403", compare="metrics")
def around_the_codebook(finding: Finding, source: Source) -> Iterator[Edit]:
    """The index of the nearest entry has no slope: the gradient of the entry goes to what was looked up."""
    statement = source.statement_at(finding.where.line)
    indices = source.assigned_names(statement) if isinstance(statement, cst.SimpleStatementLine) else []
    if not source.calls_at(finding.where.line, ("argmin", "argmax")) or len(indices) != 1:
        return
    scope = source.scope(statement)
    looked_up = [call.args[0].value for call in source.calls("cdist", scope) if call.args]
    entries = [
        name
        for line in source.all(cst.SimpleStatementLine, scope)
        if source.span(line)[0] > source.span(statement)[0] and source.mentions(line, indices[0])
        for name in source.assigned_names(line)
    ]
    for value in looked_up[:1]:
        for node in [found for back in source.all(cst.Return, scope) for found in source.all(cst.Name, back)]:
            if node.value in entries[:1] and isinstance(source.parent(node), cst.Element | cst.Return):
                new = f"{source.operand(value)} + ({node.value} - {source.operand(value)}).detach()"
                yield source.edit("pass the gradient around the codebook", source.replace(node, new))


@remedy("PM506", compare="metrics")
def derivative_with_graph(finding: Finding, source: Source) -> Iterator[Edit]:
    """A derivative that is part of the loss needs a graph of its own."""
    for call in source.calls_at(finding.where.line, "grad"):
        if source.argument(call, None, "create_graph") is not None:
            continue
        flag = next((arg for arg in call.args if arg.keyword and arg.keyword.value == "retain_graph"), None)
        splice = (
            source.replace(flag.keyword, "create_graph") if flag else source.add_argument(call, "create_graph=True")
        )
        yield source.edit("keep the graph of the derivative: create_graph=True", splice)


def _without_line(source: Source, node: Node) -> Splice:
    start, end = source.span(node)
    start = source.text.rfind("\n", 0, start) + 1
    found = source.text.find("\n", end)
    return Splice(start, len(source.text) if found < 0 else found + 1, "")
