"""PM517."""

import ast
from collections.abc import Iterator

from paramedic.record.facts import AdvantageWithGraph, Backward, LossCall, Similarity, TwinBranches, TwinInputs
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.asked_steps import LeftOut, left_out
from paramedic.rules.lines import edited_at, in_common
from paramedic.rules.support import at, by_place, listed, many
from paramedic.static.history import Link, history
from paramedic.static.program import program
from paramedic.static.signs import repeats_a_value, seeds

_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_BOOTSTRAP = {"Max", "Amax", "Gather", "Index"}


@rule(
    "PM517",
    "gradient-leak-into-target",
    severity="warning",
    coverage=[Backward],
    causes=["PM215", "PM207", "PM209"],
    lasting=True,
)
def check(run: Run, *, fewest: int = 3) -> Iterator[Finding]:
    """The target of a loss comes from the network being trained, and gradients flow into it.

    Or two branches that should be compared are numerically identical: old log-probabilities that are computed with the
    new policy, a next state that is the state itself, two views with the same seed, a view compared with itself while
    the other is unused.

    Or two branches, both of them trained, are pulled together by a cosine until all samples look alike: nothing keeps
    different samples apart.

    The advantage that multiplies a policy's log-probability is such a target as well: the critic learns from its own
    loss, not from the policy's.

    ## Why it hurts
    The loss can be lowered by moving the target instead of the prediction. A value network then chases its own
    estimates; and if both sides are the same tensor, the loss is zero from the start.

    ## What to try first
    `with torch.no_grad():` around the target, or `target.detach()`; `advantage.detach() * log_prob`.

    ## When this is wrong
    When both branches should move, as in some self-supervised methods: only targets that look like the next value of a
    value function, or that are called a target, are reported. Branches that are
    pulled together must have collapsed: samples that do not belong together must have become the same as well.

    ## Options
    `fewest`: fewest examined steps in which two branches must be identical.
    """
    yield from map(_advantage, run.facts(AdvantageWithGraph))
    yield from _twins(run, fewest)
    yield from _collapsed(run)
    yield from map(_left_out, left_out(run))
    for calls in by_place(run.facts(LossCall, phase="train")).values():
        twins = [call for call in calls if call.same]
        if len(twins) == len(calls) and len(calls) > 1:
            yield _same(twins[0])
            continue
        leaks = [call for call in calls if call.target_shares and call.function in _DISTANCES]
        if len(leaks) == len(calls) and len(calls) > 1 and _is_target(leaks[0]):
            yield _leak(leaks[0])


def _collapsed(run: Run, *, alike: float = 0.98, fewest: int = 8) -> Iterator[Finding]:
    for looks in by_place(run.facts(Similarity)).values():
        late = looks[len(looks) // 2 :]
        if len(late) < fewest or not all(look.both for look in looks):
            continue
        if min(min(look.partners, look.strangers) for look in late) < alike or looks[0].strangers > alike:
            continue
        last = late[-1]
        yield Finding(
            what=f"all samples have become the same: the cosine of two that do not belong together is "
            f"{last.strangers:.3f}, that of partners {last.partners:.3f}; it was {looks[0].strangers:.3f} at first",
            why="gradients flow into both sides, and the cheapest way to make partners alike is to make all alike",
            remedy="let only one side learn: cosine_similarity(p, z.detach()), as SimSiam and BYOL do, or add a term "
            "that keeps different samples apart",
            where=last.where,
            evidence=(
                Evidence(name="cosine_of_strangers", value=round(last.strangers, 4), limit=f"< {alike:g}"),
                Evidence(name="examined_calls", value=len(late)),
            ),
            confidence=0.92,
        )
        return


def _is_target(call: LossCall) -> bool:
    bootstrapped = bool(_BOOTSTRAP & set(call.target_kinds)) and call.chosen
    return bootstrapped or "target" in (call.target_name or "").lower()


def _same(call: LossCall) -> Finding:
    return Finding(
        what=f"F.{call.function} compares a tensor with itself",
        why="prediction and target share memory, so the loss is meaningless",
        remedy="check what the target should be; copy a tensor with x.detach().clone()",
        where=call.where,
        severity="error",
        evidence=(Evidence(name="shared_memory", value="all of it", limit="none"),),
        confidence=0.95,
    )


def _twins(run: Run, fewest: int) -> Iterator[Finding]:
    for facts in by_place(run.facts(TwinBranches)).values():
        steps = sum(fact.count for fact in facts if fact.same)
        if steps >= fewest and all(fact.same for fact in facts):
            made = facts[0].made_at
            yield Finding(
                what=f"both sides of this difference are identical in all {steps} examined steps"
                + (f" (line {facts[0].where.line})" if made else ""),
                why="both are computed by the current network, with a graph: the difference is always 0, and the "
                "gradients cancel out",
                remedy="compute the old values once, before the updates, under torch.no_grad()",
                where=at(facts[0], made),
                severity="error",
                evidence=(Evidence(name="equal_steps", value=steps, limit=f"< {fewest}"),),
                confidence=0.95,
            )
    pairs: dict[tuple[str, str], list[TwinInputs]] = {}
    for given in run.facts(TwinInputs):
        pairs.setdefault((given.first, given.second), []).append(given)
    for (first, second), inputs in pairs.items():
        # Other numbers in every step: a batch that never changes, as of a bandit, says nothing.
        if len({given.digest for given in inputs}) >= fewest and all(given.same for given in inputs):
            yield Finding(
                what=f"{first} and {second}, passed to the model in the same step, are identical in all "
                f"{len(inputs)} examined steps",
                why="comparing them is meaningless: they should differ, like a state and the next one, or two views "
                "of a "
                "sample",
                remedy=f"look at how {second} is created: an array stored without .copy() and modified later, or "
                "two draws from the same seed",
                **edited_at(inputs[0].where, _one_object(run, inputs[0])),
                evidence=(Evidence(name="equal_batches", value=len(inputs), limit="0"),),
                confidence=0.9,
            )


def _one_object(run: Run, given: TwinInputs) -> Link | None:
    """The statement that makes both the same: `[view] * 2`, `return view, view`, one seed for two draws."""
    code = program(run)
    scope = code.scope(given.where.file, given.where.line)
    if scope is None or given.where.line is None:
        return None
    names = [ast.Name(name, lineno=given.where.line) for name in (given.first, given.second)]
    one, other = (history(code, scope, name) for name in names)
    repeated = next((link for link in in_common(one, other) if repeats_a_value(link.node)), None)
    return repeated or _same_seed(one, other)


def _same_seed(one: list[Link], other: list[Link]) -> Link | None:
    """Where a function that is called once for each of the two makes a generator from a seed: the same each time."""
    calls = {(link.where.file, link.line): link.calls for link in other}
    twice = [link for link in one if calls.get((link.where.file, link.line), link.calls) != link.calls]
    return next((link for link in twice if seeds(link.node)), None)


def _advantage(op: AdvantageWithGraph) -> Finding:
    return Finding(
        what=f"the advantage that multiplies log_prob has a graph: the policy loss changes "
        f"{many(op.tensors, 'tensor')} of the critic, {listed(op.parameters)}",
        why="the critic is pulled towards values that lower the policy loss, and away from the returns",
        remedy="detach it: (returns - values).detach() * log_prob",
        where=op.where,
        evidence=(Evidence(name="shared_parameters", value=op.tensors, limit="0"),),
        confidence=0.92,
    )


def _left_out(found: LeftOut) -> Finding:
    shape = list(next(s for s, used in zip(found.call.answers, found.call.used, strict=True) if not used))
    which = f"of {found.input!r}" if found.input else f"of the second call of {found.call.class_}"
    return Finding(
        what=f"the loss does not depend on the output {which} (shape {shape}): only the other one is used",
        why="one output is compared with itself: replacing the other left the loss exactly "
        f"the same, in {found.rounds} steps re-run on a copy",
        remedy="look for a variable that is passed twice, or overwritten by the other one",
        where=at(found.step, found.step.passed_over_at),
        evidence=(
            Evidence(name="answers_used", value=sum(found.call.used), limit=str(len(found.call.used))),
            Evidence(name="times_asked", value=found.rounds),
        ),
        confidence=0.92,
    )


def _leak(call: LossCall) -> Finding:
    name = call.target_name or "the target"
    return Finding(
        what=f"{name} of F.{call.function} has a graph: gradients flow into "
        f"{many(call.target_shares, 'parameter')} that the prediction depends on as well",
        why="the loss also falls by moving the target towards the prediction",
        remedy=f"{name}.detach(), or compute it under torch.no_grad()" if call.target_name else "detach it",
        where=call.where,
        evidence=(Evidence(name="shared_parameters", value=call.target_shares, limit="0"),),
        confidence=0.88,
    )
