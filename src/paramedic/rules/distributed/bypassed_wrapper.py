"""PM805."""

import ast
from collections.abc import Iterator
from dataclasses import replace

from paramedic.findings import Where
from paramedic.record.facts import Exchange, TrainForward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at
from paramedic.rules.support import parameter_histories
from paramedic.rules.teams import Parting, exchanges, parted, team_of
from paramedic.static.blocks import without_gradients
from paramedic.static.history import Link
from paramedic.static.program import own_nodes, program
from paramedic.static.signs import name_of, names_any


@rule("PM805", "bypassed-wrapper", severity="error", needs=[Exchange, TrainForward], causes=["PM801"], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """Training bypasses DistributedDataParallel, so gradients are not averaged.

    `ddp.module(x)`, a method of `ddp.module`, or the model under its old name: the wrapper is bypassed and synchronises
    nothing.

    ## Why it hurts
    Each rank trains its own model on its share of the data. They start equal and drift apart; the one that is saved has
    seen only part of the data. Nothing fails.

    ## What to try first
    Call the wrapper: `loss = criterion(ddp(x), y)`. Move the code of other methods into `forward`.

    ## When this is wrong
    Evaluation and generation with `ddp.module` are fine. If the script averages gradients itself, the ranks stay equal
    and nothing is reported: only weights that differ between ranks count.
    """
    team = team_of(run)
    if run is not team[0]:
        raise Abstain("reported on the first rank only")
    for exchange in exchanges(run):
        if exchange.entered or not _trained(run, exchange.name or ""):
            continue
        parting = next((p for member in team[1:] if (p := parted(run, member, exchange))), None)
        if parting is not None:
            yield _finding(run, exchange, parting)


def _trained(run: Run, name: str) -> bool:
    return any(h.with_gradient for h in parameter_histories(run) if h.name.startswith(f"{name}."))


def _around_it(run: Run, shown: Where, name: str) -> Link | None:
    """The line in training that reaches into the wrapper: `ddp.module.training_step(x, y)`."""
    for scope in program(run).scopes():
        for call in (node for node in own_nodes(scope.body) if isinstance(node, ast.Call)):
            inner = name_of(call.func) == "module" or names_any(call.func, ("module",))
            if inner and names_any(call.func, (name.rpartition(".")[2],)) and not without_gradients(scope, call.lineno):
                return Link(call.lineno, call, scope, "called")
    return None


def _finding(run: Run, exchange: Exchange, parting: Parting) -> Finding:
    name = exchange.name or ""
    passes = run.facts(TrainForward)
    root = name.partition(".")[0]
    where = next((call.where for call in passes if (call.module or "").partition(".")[0] == root), passes[0].where)
    return Finding(
        what=f"{name} was trained without calling its DistributedDataParallel wrapper: at step {parting.step} "
        f"{parting.name} differs between ranks {run.rank} and {parting.member.rank}",
        why="gradients are averaged only in calls through the wrapper, so each rank trains its own model",
        remedy=f"call {name}(...) itself here, not {name}.module or the wrapped model",
        **edited_at(replace(where, module=name), _around_it(run, where, name)),
        evidence=(
            Evidence(name="calls_of_the_wrapper", value=0, limit="≥ 1"),
            Evidence(name=f"norm_on_rank_{run.rank}", value=parting.mine),
            Evidence(name=f"norm_on_rank_{parting.member.rank}", value=parting.theirs, limit="the same"),
        ),
        confidence=0.96,
    )
