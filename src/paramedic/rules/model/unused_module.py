"""PM412."""

import ast
from collections.abc import Iterator
from dataclasses import replace

from paramedic.findings import Where
from paramedic.record.facts import Census, Model, ModuleCall
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.lines import call_of, edited_at
from paramedic.rules.support import parameter_histories
from paramedic.static.blocks import around
from paramedic.static.history import Link
from paramedic.static.signs import names_any


@rule("PM412", "unused-module", severity="note", needs=[Model, Census, ModuleCall])
def check(run: Run, *, fewest: int = 4) -> Iterator[Finding]:
    """A registered, trainable module is never called.

    ## Why it hurts
    It costs memory, misleads the reader, and makes distributed training fail, which expects its gradients. Perhaps a
    line in `forward` got lost.

    ## What to try first
    Call it, or remove it.

    ## When this is wrong
    Heads of pretrained models that a task does not need are common and harmless. Modules whose weights are used by
    others (`F.linear(x, self.embedding.weight)`) get gradients and are not reported.

    ## Options
    `fewest`: fewest examined steps before it is reported.
    """
    called = {call.module for call in run.facts(ModuleCall)}
    without = {h.name for h in parameter_histories(run) if h.examined >= fewest and h.trainable and not h.with_gradient}
    reported: set[str] = set()
    for model in run.facts(Model):
        if not any(module.path in called for module in model.modules):
            continue  # a model that stands by as a whole misses no line in its forward
        for module in model.modules:
            path = module.path
            names = [f"{path}.{name}" for name in module.own_parameters]
            if not names or path in called or not all(name in without for name in names):
                continue
            if any(path.startswith(f"{done}.") for done in reported):
                continue
            reported.add(path)
            yield Finding(
                what=f"{path} ({module.class_}) has trainable parameters but is never called",
                why="it never gets a gradient; perhaps a line in forward is missing",
                remedy=f"call {path.partition('.')[2] or path} in forward, or remove it",
                **edited_at(Where(file=module.file, line=module.line, module=path, step=0), _never_entered(run, path)),
                evidence=(Evidence(name="calls", value=0, limit="≥ 1"),),
                confidence=0.9,
            )


def _never_entered(run: Run, path: str) -> Link | None:
    """The function whose optional argument was never given: the module is called only if it is."""
    call = call_of(run, path) or call_of(run, path.rpartition(".")[0])
    function = call.scope.function if call is not None else None
    if call is None or function is None:
        return None
    given = (*function.args.args[1:], *function.args.kwonlyargs, function.args.kwarg)
    optional = {argument.arg for argument in given if argument is not None}
    tests = [block.test for block in around(call.scope, call.line) if isinstance(block, ast.If)]
    asked = any(names_any(test, optional) for test in tests)
    return replace(call, line=function.lineno) if asked else None
