"""PM611, PM612, PM613, PM614, PM420: train mode and gradients in training, eval mode and no graph in evaluation."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedies.registration import nn_name
from paramedic.cure.remedy import remedy
from paramedic.cure.source import LOOPS, Node, Source
from paramedic.findings import Finding


@remedy("PM611", compare="nothing")
def train_mode(finding: Finding, source: Source) -> Iterator[Edit]:
    """`model.train()` before the loop over the batches; or before the statement, where evaluation lies between."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    for call in source.calls("eval", statement) if isinstance(statement, cst.SimpleStatementLine) else []:
        block, place = source.siblings(statement)
        last = block[-1]
        if source.all(cst.Return, last) and place < len(block) - 1:
            switch = f"{source.code(source.owner(call))}.train()"
            yield source.edit("switch back to train mode before it is handed over", source.before(last, switch))
    for model in models_called(source, statement, finding):
        loop = source.enclosing(statement, LOOPS)
        for node in (loop, statement):
            if (
                node is not None
                and source.indent_of(node) is not None
                and source.scope(node) is source.scope(statement)
            ):
                when = "before each pass over the batches" if node is loop else "before this line"
                yield source.edit(f"switch {model} to train mode {when}", source.before(node, f"{model}.train()"))


@remedy("PM612", compare="nothing")
def eval_mode(finding: Finding, source: Source) -> Iterator[Edit]:
    """`model.eval()` in front of the evaluation, and `model.train()` behind it where nothing else switches back."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    yield from _call_it(source, statement)
    yield from _by_gradient(source, statement)
    for model in models_called(source, statement, finding):
        outermost = _evaluation(source, statement)
        if source.indent_of(outermost) is None:
            continue
        begin = source.before(outermost, f"{model}.eval()")
        # The evaluation is over before a return, and a loop that trains may switch back by itself.
        if not source.all(cst.Return, outermost) and not _switches_back(source, outermost):
            end = source.after(outermost, f"{model}.train()")
            yield source.edit(f"evaluate {model} in eval mode, then train on", begin, end)
        yield source.edit(f"evaluate {model} in eval mode", begin)


@remedy("PM612", "PM611", compare="nothing")
def all_parts_switch(finding: Finding, source: Source) -> Iterator[Edit]:
    """A train() of the model's own leaves no part out if it calls the one of nn.Module."""
    for function in source.all(cst.FunctionDef):
        params = [param.name.value for param in function.params.params]
        if function.name.value != "train" or len(params) != 2 or source.enclosing(function, cst.ClassDef) is None:
            continue
        if "super().train" in source.code(function) or not isinstance(function.body, cst.IndentedBlock):
            continue
        line = source.before(function.body.body[0], f"super().train({params[1]})")
        yield source.edit("switch all parts, as nn.Module does", line)


@remedy("PM613", compare="nothing")
def dropout_in_training(finding: Finding, source: Source) -> Iterator[Edit]:
    """Dropout asks the module whether it is being trained."""
    statement = source.statement_at(finding.where.line)
    function = source.function_of(statement) if statement is not None else None
    if function is None:
        return
    splices = [
        source.add_argument(call, "training=self.training")
        for call in source.calls(("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"), function)
        if source.argument(call, 2, "training") is None and not source.code(call.func).startswith("self.")
    ]
    if splices:
        yield source.edit("drop values only in training", *splices)
    for call in source.all(cst.Call, statement):
        layer = call.func
        if isinstance(layer, cst.Call) and source.called(layer) == "Dropout" and call.args:
            rate = source.argument(layer, 0, "p")
            share = source.code(rate) if rate is not None else "0.5"
            new = f"{nn_name(source)}.functional.dropout({source.code(call.args[0].value)}, {share}, self.training)"
            yield source.edit("drop values only in training", source.replace(call, new))


@remedy("PM613", compare="nothing")
def rate_of_the_mode(finding: Finding, source: Source) -> Iterator[Edit]:
    """The rate is chosen at each call; what evaluation overwrites, training would miss."""
    statement = source.statement_at(finding.where.line)
    names = source.assigned_names(statement) if isinstance(statement, cst.SimpleStatementLine) else []
    condition = source.parent(source.parent(statement)) if statement is not None else None
    if len(names) != 1 or not isinstance(condition, cst.If) or "training" not in source.code(condition.test):
        return
    function = source.scope(condition)
    read = [
        node
        for node in source.all(cst.Attribute, function)
        if source.dotted(node) == names[0] and not source.inside(node, condition)
    ]
    if read and source.indent_of(condition) is not None and condition.orelse is None:
        chosen = f"({names[0]} if self.training else 0.0)"
        splices = [source.replace(node, chosen) for node in read]
        yield source.edit("drop values only in training", source.remove(condition), *splices)


@remedy("PM614")
def without_graph(finding: Finding, source: Source) -> Iterator[Edit]:
    """`torch.no_grad()` around the evaluation."""
    statement = source.statement_at(finding.where.line)
    if statement is None or source.indent_of(statement) is None or not models_called(source, statement, finding):
        return
    around = [node for node in source.above(statement) if isinstance(node, cst.With)]
    if any(source.calls("no_grad", item) for node in around for item in node.items):
        return
    function = source.function_of(statement)
    if (
        function is not None
        and not source.calls(("backward", "step"), function)
        and source.indent_of(function) is not None
    ):
        first = function.decorators[0] if function.decorators else function
        yield source.edit("evaluate without gradients", source.before(first, "@torch.no_grad()"))
    outermost = _evaluation(source, statement)
    if not source.calls(("backward", "step"), outermost) and source.indent_of(outermost) is not None:
        yield source.edit("evaluate without gradients", source.nest(outermost, "with torch.no_grad():"))


@remedy("PM420", compare="nothing")
def frozen_stays_frozen(finding: Finding, source: Source) -> Iterator[Edit]:
    """A frozen part stays in eval mode after the rest is switched to training."""
    statement = source.statement_at(finding.where.line)
    module = finding.where.module or ""
    for call in source.calls_at(finding.where.line, "train"):
        owner = source.owner(call)
        if owner is None or call.args or source.indent_of(statement) is None:
            continue
        name, (root, _, rest) = source.code(owner), module.partition(".")
        if rest and rest.partition(".")[0]:
            line = f"{name}.{rest.partition('.')[0]}.eval()"
            yield source.edit("keep the frozen part in eval mode", source.after(statement, line))
        if not rest or name.rpartition(".")[2] == root:  # as a whole it may be known by another name
            yield source.edit(f"keep {name} in eval mode", source.replace(call.func.attr, "eval"))


def models_called(source: Source, statement: Node, finding: Finding) -> list[str]:
    """Names that are called like a model on the line; the one that the finding names comes first."""
    named = (finding.where.module or "").partition(".")[0]
    assigned = {name for line in source.all(cst.SimpleStatementLine) for name in source.assigned_names(line)}
    assigned |= {param.name.value for param in source.all(cst.Param)}
    names = [source.dotted(call.func) for call in source.all(cst.Call, statement) if call.args]
    exact = [name for name in names if name and named in (name, name.removeprefix("self."))]
    alike = [name for name in names if name in assigned and not any(w in name for w in ("loss", "crit"))]
    return list(dict.fromkeys([*exact, *alike]))


def _evaluation(source: Source, statement: Node) -> Node:
    """The outermost loop or `with` of the function that holds no training."""
    best = statement
    for node in source.above(statement):
        if isinstance(node, cst.FunctionDef | cst.ClassDef | cst.Module):
            break
        trains = bool(source.calls(("backward", "step"), node))
        if isinstance(node, (*LOOPS, cst.With)) and not trains:
            best = node
    return best


def _switches_back(source: Source, evaluation: Node) -> bool:
    """Whether some loop calls train() at every pass."""
    return any(source.enclosing(call, LOOPS) is not None for call in source.calls("train") if not call.args)


def _call_it(source: Source, statement: Node) -> Iterator[Edit]:
    """`model.eval` without brackets."""
    function = source.scope(statement)
    for node in source.all(cst.Expr, function):
        if isinstance(node.value, cst.Attribute) and node.value.attr.value in ("eval", "train"):
            yield source.edit(
                f"call {node.value.attr.value}()", source.replace(node.value, f"{source.code(node.value)}()")
            )


def _by_gradient(source: Source, statement: Node) -> Iterator[Edit]:
    """One function for both: its mode follows what it says of gradients."""
    for switch in source.calls("train", statement) if isinstance(statement, cst.SimpleStatementLine) else []:
        for call in source.calls("set_grad_enabled", source.scope(statement)):
            if not switch.args and call.args:
                wanted = source.code(call.args[0].value)
                yield source.edit("train mode only where it trains", source.add_argument(switch, wanted))
