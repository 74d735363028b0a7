"""PM612."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from paramedic.record.facts import Average, EvalForward, Mode, ModePart, ModuleCall, TrainForward
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import listed


@rule("PM612", "train-mode-in-evaluation", severity="error", needs=[EvalForward, TrainForward])
def check(run: Run) -> Iterator[Finding]:
    """The model, or a part of it, is evaluated while it is in train mode.

    ## Why it hurts
    Dropout makes the metric random and too low. BatchNorm normalises with the statistics of the evaluation batch and,
    worse, updates its running statistics with evaluation data.

    ## What to try first
    `model.eval()` before the evaluation and `model.train()` after it.

    ## When this is wrong
    Monte-Carlo dropout is recognised if only the dropout modules are in train mode, or if the same input is passed
    several times. Calls whose output is not compared with labels or passed to a loss (samples of a generator, a
    teacher's pseudo-labels) are not evaluations and are not reported; nor are outputs that a training loss was computed
    from, nor calls with gradients on the training batches themselves, once per step, whose loss is unused. A model that
    was trained and used on one image at a time has a BatchNorm that normalises each image separately, as pix2pix does
    on purpose. Nor are calls with substituted weights (`torch.func.functional_call`), such as a model that has just
    been adapted to a task: running statistics do not belong to those.
    """
    trained = {event.module for event in run.facts(TrainForward)}
    trained |= {event.module for event in run.facts(Average) if event.kind != "still"}  # as much as its source
    reported: set[str | None] = set()
    sampled = {(e.where.file, e.where.line) for e in run.facts(EvalForward) if e.repeated}
    taught = {(e.where.file, e.where.line) for e in run.facts(EvalForward) if "training" in e.uses}
    single = _one_at_a_time(run)
    fed = {event.loader for event in run.facts(TrainForward) if event.loader is not None}
    for event in run.facts(EvalForward):
        affected = [m for m in event.moody if m.training]
        uncalled = _uncalled(run, event) if event.training and not event.grad else None
        if not affected or not (event.uses or uncalled) or event.borrowed:
            continue
        if not event.training and not _torn(event.moody):
            continue
        if (event.where.file, event.where.line) in taught or any(m.path in single for m in affected):
            continue
        if event.module not in trained or event.module in reported:
            continue
        if event.grad and (event.count < 2 or _within_training(event, fed)):
            continue
        if (event.where.file, event.where.line) in sampled and not any(m.norm for m in affected):
            continue
        reported.add(event.module)
        whole = "" if event.training else "a part of "
        active = listed([_name(m) for m in affected])
        switch = _switched_here(run, event)
        yield Finding(
            what=f"evaluation{f' ({event.line})' if switch else ''} ran with {whole}{event.module} in train mode: "
            f"{active} active",
            why="dropout randomises the result, and BatchNorm uses and stores the evaluation batch's statistics"
            if any(m.norm for m in affected)
            else "dropout removes part of the network at random, so the result is noisy and too low",
            remedy="add the parentheses: eval is referenced here, but not called"
            if uncalled
            else f"call {event.module}.eval() here for evaluation: {event.module}.train(training), with a flag"
            if switch
            else f"call {event.module}.eval() before the evaluation and {event.module}.train() after it"
            if event.training
            else f"find out why eval() does not reach {affected[0].path}: an overridden train(), or a later call",
            where=replace(event.where, line=uncalled) if uncalled else switch.where if switch else event.where,
            evidence=(
                Evidence(name="modules_in_train_mode", value=len(affected), limit="0 while evaluating"),
                Evidence(name="calls", value=event.count),
            ),
            confidence=0.93,
        )


def _uncalled(run: Run, event: EvalForward) -> int | None:
    """The line before this call, in the same function, that has `model.eval` without the parentheses."""
    try:
        tree = ast.parse(run.meta.get("code", {}).get(event.where.file, ""))
    except SyntaxError:
        return None
    here = event.where.line or 0
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    around = [node for node in functions if node.lineno <= here <= (node.end_lineno or 0)]
    scope = max(around, key=lambda node: node.lineno, default=tree)
    named = [
        node.lineno
        for node in ast.walk(scope)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute) and node.value.attr == "eval"
    ]
    return max((line for line in named if line < here), default=None)


def _switched_here(run: Run, event: EvalForward) -> Mode | None:
    """The train() of a function whose one call of the model serves training and evaluation."""
    place = (event.where.file, event.where.function)
    trained = {e.where.line for e in run.facts(TrainForward) if (e.where.file, e.where.function) == place}
    if trained != {event.where.line} or not event.training:
        return None
    switches = [
        mode
        for mode in run.facts(Mode)
        if mode.training
        and mode.module == event.module
        and (mode.where.file, mode.where.function) == place
        and (mode.where.line or 0) < (event.where.line or 0)
    ]
    return switches[-1] if switches else None


def _torn(modules: Sequence[ModePart]) -> bool:
    """Some BatchNorms in train mode and others not: adapting them to test data on purpose would use all of them."""
    return len({bool(module.training) for module in modules if module.norm}) > 1


def _within_training(event: EvalForward, fed: set[int]) -> bool:
    """On a batch that is trained on in the same step: an evaluation goes over many batches between two steps."""
    return event.loader in fed and event.count <= event.last_step - event.step + 1


def _name(module: ModePart) -> str:
    return f"{module.path} ({module.class_})"


def _one_at_a_time(run: Run) -> set[str]:
    """BatchNorms that only ever saw single samples in train mode."""
    batches: dict[str, set[int]] = {}
    trained = set()
    for call in run.facts(ModuleCall):
        if call.norm and call.training and call.inputs and call.module:
            batches.setdefault(call.module, set()).add(call.inputs[0].shape[0])
            if call.grad:
                trained.add(call.module)
    return {path for path, found in batches.items() if path in trained and found == {1}}
