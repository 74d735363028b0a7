"""PM105, PM211, PM301, PM302, PM305: weights that start apart, inputs of a usual size, classes that count alike."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit, Splice
from paramedic.cure.origins import origins
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

PIXELS = 255.0


@remedy("PM211", safety="unsafe")
def random_weights(finding: Finding, source: Source) -> Iterator[Edit]:
    """Weights that are all alike are drawn at random."""
    for call in source.calls_at(finding.where.line, ("constant_", "zeros_", "ones_")):
        before, dot, _ = source.code(call.func).rpartition(".")
        if call.args:
            new = f"{before}{dot}xavier_uniform_({source.code(call.args[0].value)})"
            yield source.edit("draw the weights at random", source.replace(call, new))
    for call in source.calls_at(finding.where.line, ("zeros", "ones", "full")):
        if call.args and not source.is_method(call):
            arguments = call.args[:1] if source.called(call) == "full" else call.args
            sizes = ", ".join(source.code(argument) for argument in arguments)
            yield source.edit("draw the weights at random", source.replace(call, f"torch.randn({sizes}) * 0.02"))


@remedy("PM301", safety="unsafe")
def small_pixels(finding: Finding, source: Source) -> Iterator[Edit]:
    """Pixels from 0 to 255 become numbers from 0 to 1."""
    facts = {fact.name: fact.value for fact in finding.evidence}
    most = facts.get("max")
    if not isinstance(most, int | float) or not 1.5 < most <= PIXELS:
        return
    for call in source.calls_at(finding.where.line, ("astype", "float", "from_numpy", "tensor")):
        yield source.edit("divide the pixels by 255", source.replace(call, f"{source.code(call)} / 255"))


@remedy("PM105")
def divide_by_no_zero(finding: Finding, source: Source) -> Iterator[Edit]:
    """A column that is constant has a spread of 0: a little is added before it divides."""
    statement = source.statement_at(finding.where.line)
    for node in source.all(cst.BinaryOperation, statement) if statement is not None else []:
        if isinstance(node.operator, cst.Divide) and not isinstance(node.right, cst.Integer | cst.Float):
            new = f"({source.code(node.right)} + 1e-6)"
            start, end = source.span(node.right)
            around = len(node.right.lpar), len(node.right.rpar)
            yield source.edit("divide by no zero", Splice(start - around[0], end + around[1], new))


@remedy("PM105", safety="unsafe")
def numbers_only(finding: Finding, source: Source) -> Iterator[Edit]:
    """Values that are missing count as 0."""
    makers = ("from_numpy", "tensor", "as_tensor")
    reading = [node for node in source.all(cst.FunctionDef) if node.name.value in ("__getitem__", "__iter__")]
    for call in source.calls_at(finding.where.line, makers) or [
        c for node in reading for c in source.calls(makers, node)
    ]:
        yield source.edit(
            "put 0 where a value is missing", source.replace(call, f"torch.nan_to_num({source.code(call)})")
        )


@remedy("PM301", compare="metrics")
def divided_once(finding: Finding, source: Source) -> Iterator[Edit]:
    """Pixels that are from 0 to 1 already are not divided again, wherever the same line stands."""
    if "only once" not in finding.remedy:
        return
    alike: dict[str, list[Node]] = {}
    for node in source.all(cst.BinaryOperation):
        if isinstance(node.operator, cst.Divide) and source.code(node.right) in ("255", "255.0", "255."):
            alike.setdefault(source.code(node), []).append(node)
    for nodes in alike.values():
        splices = [source.replace(node, source.code(node.left)) for node in nodes]
        yield source.edit("divide by 255 only once", *splices)


@remedy("PM301", safety="unsafe", compare="metrics")
def standardise(finding: Finding, source: Source) -> Iterator[Edit]:
    """Columns of very different size get a mean of 0 and a standard deviation of 1."""
    statement = source.statement_at(finding.where.line)
    calls = source.all(cst.Call, statement) if statement is not None else []
    inputs = [call.args[0].value for call in calls if len(call.args) == 1 and isinstance(call.args[0].value, cst.Name)]
    for value in inputs:
        for origin in origins(source, value):
            home, made = origin.source, origin.source.statement_of(origin.node)
            names = home.assigned_names(made) if isinstance(made, cst.SimpleStatementLine) else []
            first = [name for name in names if "." not in name][:1]
            if first and home.indent_of(made) is not None and not home.calls("DataLoader", made):
                line = f"{first[0]} = ({first[0]} - {first[0]}.mean(0)) / ({first[0]}.std(0) + 1e-6)"
                yield home.edit(f"standardise {first[0]}", home.after(made, line))


@remedy("PM302", compare="metrics")
def labels_as_they_are(finding: Finding, source: Source) -> Iterator[Edit]:
    """A map of classes is no picture: it is not divided by 255."""
    statement = source.statement_at(finding.where.line)
    loaded = [call.args[0].value for call in source.calls_at(finding.where.line, "DataLoader") if call.args]
    made = [origin for value in loaded for origin in origins(source, value)]
    nodes = [(source, statement)] if statement is not None else []
    for home, node in [*nodes, *((origin.source, origin.node) for origin in made)]:
        for call in home.all(cst.Call, node):
            outer = home.parent(home.parent(call))
            named = home.called(call) in ("to_tensor", "ToTensor", "pil_to_tensor") and len(call.args) == 1
            if named and isinstance(outer, cst.Call) and home.called(outer) in ("squeeze", "long"):
                whole = outer if home.called(outer) == "squeeze" else call
                new = f"torch.as_tensor({home.code(call.args[0].value)})"
                yield home.edit("take the classes as they are", home.replace(whole, new))


@remedy("PM305", safety="unsafe", compare="metrics")
def weigh_the_rare(finding: Finding, source: Source) -> Iterator[Edit]:
    """The rare class counts as much as the frequent one."""
    weight = re.search(r"pos_weight=(\d+)", finding.remedy)
    for call in source.calls_at(finding.where.line, ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits")):
        if weight and source.argument(call, None, "pos_weight") is None:
            argument = source.add_argument(call, f"pos_weight=torch.tensor([{weight[1]}.0])")
            yield source.edit("weigh the rare class", argument)
