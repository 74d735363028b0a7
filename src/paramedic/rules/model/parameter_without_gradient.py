"""PM403."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from paramedic.findings import Where
from paramedic.record.facts import Asked, Backward, Census, Cut, Drawn, Flat, Freeze, ModuleCall, Offered, Rates
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import ParameterHistory, at, common_path, listed, many, parameter_histories
from paramedic.static.blocks import block_without_gradients, without_gradients
from paramedic.static.program import called, own_nodes, program

_NO_CALLS = ("parameters", "named_parameters", "state_dict", "load_state_dict", "to", "train", "eval", "zero_grad")


@rule(
    "PM403",
    "parameter-without-gradient",
    severity="error",
    needs=[Census],
    coverage=[Backward],
    causes=["PM405", "PM506", "PM610"],
)
def check(run: Run, *, fewest: int = 4) -> Iterator[Finding]:
    """Parameters in an optimizer never receive a gradient, although their module is used.

    Each phase is judged separately: weights that another optimizer trained before, or that were frozen before, are
    reported if no gradient reaches them from then on.

    Or they receive one that is exactly zero in every step, because every path to the loss goes through a step function
    (`sign`, `round`, `floor`), or the path from the loss ends at `.sample()` or `torch.normal()`.

    ## Why it hurts
    Part of the network is not trained. The rest adapts to it, so the loss still falls, but less far.

    ## What to try first
    Remove what cuts the path to the loss: `.detach()`, `.data`, `.item()`, `.numpy()`, `torch.no_grad()` around or on
    the module, `argmax` and other operations without a gradient. To train through a step function, use a
    straight-through estimator: `h + (torch.sign(h) - h).detach()`.

    ## When this is wrong
    A part that is frozen on purpose should say so with `requires_grad_(False)`. Modules that are never called are a
    note (PM412), and branches that are used occasionally get gradients occasionally. Additional outputs of a module
    (the pooler of a language model, an auxiliary head) need not be used.

    ## Options
    `fewest`: examined steps without any gradient before it is reported.
    """
    histories = [h for h in parameter_histories(run) if h.examined >= fewest and h.trainable == h.examined]
    reached = _reached(run)
    cut_off = [
        history
        for history in parameter_histories(run)
        if history.trainable >= fewest and not history.with_gradient and not _elsewhere(history, reached)
    ]
    calls = _calls(run)
    offered = tuple(f"{event.module}." for event in run.facts(Offered))
    groups: dict[str, list[ParameterHistory]] = defaultdict(list)
    for history in cut_off:
        if not history.name.startswith("a tensor of"):
            groups[_reason_key(run, history, calls)].append(history)
    groups.pop("", None)  # never called: PM412 speaks of it
    for key, members in groups.items():
        if key.startswith("called "):  # no line cuts them off: returned beside others, and left there
            members = [history for history in members if not history.name.startswith(offered)]
        if not members:
            continue
        yield _finding(run, key, members, calls)
    yield from _flattened(run, histories)
    yield from _drawn(run)


def _reached(run: Run) -> dict[str, list[tuple[int, int]]]:
    """When each parameter was trained: the first and the last step of the optimizers that found a gradient in it."""
    spans: dict[int, tuple[int, int]] = {}
    for census in run.facts(Census):
        first, last = spans.get(census.optimizer, (census.step, census.step))
        spans[census.optimizer] = min(first, census.step), max(last, census.last_step)
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    used = {(event.optimizer, name) for event in run.facts(Rates) for name in event.used}
    used |= {(h.optimizer, h.name) for h in parameter_histories(run) if h.with_gradient}
    for optimizer, name in used:
        found[name].append(spans.get(optimizer, (0, run.steps)))
    return found


def _elsewhere(history: ParameterHistory, reached: dict[str, list[tuple[int, int]]]) -> bool:
    """Whether it is trained at the time, perhaps by another optimizer. Earlier phases do not matter."""
    return any(last >= history.first_step for _, last in reached.get(history.name, []))


def _drawn(run: Run) -> Iterator[Finding]:
    """The path from the loss to a distribution's parameters ends at the draw; only other terms reach them."""
    for op in run.facts(Drawn):
        if op.count < 2:
            continue
        yield Finding(
            what=f"{op.function} lets no gradient through: {listed(op.behind)} learn nothing from what is computed "
            "from the values drawn here",
            why="only the other terms of the loss reach them, such as the divergence from the prior",
            remedy="draw with .rsample(), or mu + std * torch.randn_like(std)",
            where=op.where,
            evidence=(Evidence(name="passes_without_gradient", value=op.count, limit="0"),),
            confidence=0.93,
        )


def _flattened(run: Run, histories: list[ParameterHistory]) -> Iterator[Finding]:
    """The gradient is zero in every step because of a step function. PM215 if that holds for all parameters."""
    zero = {h.name for h in histories if h.with_gradient == h.examined and not h.nonzero}
    if not any(h.nonzero for h in histories):
        return
    for op in run.facts(Flat):
        names = [name for name in op.behind if name in zero]
        if not names:
            continue
        zero -= set(names)
        part, function = common_path(names), op.function
        steps = max(h.examined for h in histories if h.name in names)
        yield Finding(
            what=f"the gradient of {many(len(names), 'tensor')} of {part} was exactly zero in {steps} examined steps: "
            f"{listed(names)}",
            why=f"{function} at {op.line} is flat, so nothing before it can learn",
            remedy=f"use a straight-through estimator: h + ({function.strip('.()')}(h) - h).detach()",
            where=Where(file=op.where.file, line=op.where.line, function=op.where.function, module=part, step=op.step),
            evidence=(
                Evidence(name="steps_with_nonzero_gradient", value=0, limit="≥ 1"),
                Evidence(name="examined_steps", value=steps),
            ),
            confidence=0.95,
        )


def _calls(run: Run) -> dict[str, ModuleCall]:
    """The examined call of each module in training, without gradients if there was such a call."""
    found: dict[str, ModuleCall] = {}
    for call in run.facts(ModuleCall):
        if call.training or not call.grad:
            known = found.get(call.module or "")
            if known is None or (call.cut and not known.cut):
                found[call.module or ""] = call
    return found | _by_part(run, found)


def _by_part(run: Run, calls: dict[str, ModuleCall]) -> dict[str, ModuleCall]:
    """Calls of a part by itself, `self.net(z)` in a method that is not forward(): the whole is never called, so the
    part is known by its own name there. It counts for the only whole with such a part that has no calls itself."""
    owners = {history.name.rpartition(".")[0] for history in parameter_histories(run)}
    silent = [owner for owner in owners if owner not in calls]
    found = {}
    for path, call in calls.items():
        wholes = [owner for owner in silent if owner.endswith(f".{path}")] if path not in owners else []
        if len(wholes) == 1:
            found[wholes[0]] = call
    return found


def _reason_key(run: Run, history: ParameterHistory, calls: dict[str, ModuleCall]) -> str:
    lines: dict[object, list[Cut]] = defaultdict(list)
    for cut in run.facts(Cut):
        lines[cut.where.file, cut.where.line, cut.op].append(cut)
    here = [cuts for cuts in lines.values() if any(history.name in cut.parameters for cut in cuts)]
    if here:  # of several cuts the one that most lies behind
        # A draw has to cut its path, an action for example; what else does may not have been meant.
        widest = max(here, key=lambda cs: (len({n for cut in cs for n in cut.parameters}), cs[0].op != ".sample()"))
        return f"cut {widest[0].id}"
    owner = history.name.rpartition(".")[0]
    call = calls.get(owner)
    if call is None:
        return ""
    if call.cut:
        return f"no_grad {call.cut[0]}:{call.cut[1]}"
    return f"called {owner.partition('.')[0]}" if call.phase == "train" else ""


def _switched_off(run: Run, names: list[str]) -> Freeze | None:
    """The last line that froze all of them."""
    frozen = [e for e in run.facts(Freeze) if e.target == "parameter" and not e.value]
    return next((event for event in reversed(frozen) if set(names) <= set(event.names)), None)


def _overwritten(run: Run, made: Where) -> int | None:
    """The line that overwrites the result of this one."""
    lost = [place for event in run.facts(Asked) for place in (event.lost or {}).values()]
    return next((place.line for place in lost if (place.file, place.begun) == (made.file, made.line)), None)


def _turned_off(run: Run, shown: Where) -> Where:
    """The `with torch.no_grad():` around a line, else the line itself."""
    scope = program(run).scope(shown.file, shown.line)
    block = block_without_gradients(scope, shown.line) if scope is not None and shown.line is not None else None
    return shown if block is None else replace(shown, line=block.lineno)


def _detached(run: Run, part: str) -> Where | None:
    """`fake = gen(noise).detach()` wherever it is called in training: the first of these lines."""
    root = part.partition(".")[0]
    calls, cut = [], []
    for scope in program(run).scopes():
        nodes = [node for node in own_nodes(scope.body) if isinstance(node, ast.Call | ast.Attribute)]
        calls += [n for n in nodes if _calls_it(n, root) and not without_gradients(scope, n.lineno)]
        cut += [(scope, n) for n in nodes if isinstance(n, ast.Attribute) and n.attr == "detach"]
    lost = [(scope, node) for scope, node in cut if node.value in calls]
    return lost[0][0].where(lost[0][1].lineno) if lost and len(lost) == len(calls) else None


def _calls_it(node: ast.AST, root: str) -> bool:
    """`gen(noise)`, or a method of it: `gen.sample(n)`."""
    if not isinstance(node, ast.Call):
        return False
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    return called(node) == root or (isinstance(owner, ast.Name) and owner.id == root and called(node) not in _NO_CALLS)


def _finding(run: Run, key: str, members: list[ParameterHistory], calls: dict[str, ModuleCall]) -> Finding:
    names = [member.name for member in members]
    part = common_path(names)
    steps = max(member.trainable for member in members)
    first = calls.get(names[0].rpartition(".")[0])
    where = first.where if first is not None else Where(module=part)
    why, remedy = (
        "no path leads back to them from the loss",
        "follow their output to the loss and remove whatever cuts it off",
    )
    confidence = 0.85
    if key.startswith("cut "):
        cut = next(event for event in run.facts(Cut) if f"cut {event.id}" == key)
        where = cut.where
        why = f"{cut.op} at {cut.line} returns a value without its graph"
        remedy = f"remove {cut.op} on the way to the loss"
        confidence = 0.96
        if cut.op == ".sample()":
            remedy = "draw with .rsample(), which lets gradients through"
    elif key.startswith("no_grad ") and first is not None:
        where = _turned_off(run, at(first, first.cut))
        why = f"{part} runs with gradients disabled (torch.no_grad, inference_mode or detach)"
        remedy = f"remove torch.no_grad() there, or freeze on purpose with {part}.requires_grad_(False)"
        confidence = 0.96
    elif switched := _switched_off(run, names):
        where = switched.where
        why = "requires_grad is False when the backward pass runs, and True again only at the step"
        remedy = "leave requires_grad on from the forward pass to the step"
        confidence = 0.93
    elif lost := _overwritten(run, where):
        why = f"what line {where.line} computes with them is overwritten before it is used"
        remedy = f"use the result of line {where.line} here"
        where = replace(where, line=lost)
    elif detached := _detached(run, part):
        where = detached
        why = f"the output of {part} is detached immediately"
        remedy = "detach it only where it is used for another model's loss"
    return Finding(
        what=f"{many(len(names), 'tensor')} of {part} in the optimizer got no gradient in {steps} examined steps: "
        f"{listed(names)}",
        why=why,
        remedy=remedy,
        where=Where(file=where.file, line=where.line, function=where.function, module=part, step=members[0].first_step),
        evidence=(
            Evidence(name="steps_with_gradient", value=0, limit="≥ 1"),
            Evidence(name="examined_steps", value=steps),
        ),
        confidence=confidence,
    )
