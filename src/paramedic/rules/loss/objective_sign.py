"""PM516."""

from collections.abc import Iterator
from statistics import median

from paramedic.record.facts import (
    Backward,
    ClippedSurrogate,
    Entropy,
    LogProb,
    Optimizer,
    OverlapTerm,
    Pushed,
    RankedDistance,
    TargetAsked,
)
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.asked_steps import driven_apart, pushed_away, similarity_minimised, without_effect
from paramedic.rules.lines import edited_at, first_link
from paramedic.rules.outcome import optimizer_of
from paramedic.rules.support import at
from paramedic.rules.tried_steps import uphill
from paramedic.static.history import Link, history
from paramedic.static.program import program, statement_at
from paramedic.static.signs import subtracts
from paramedic.static.sums import added_at


@rule("PM516", "objective-sign", severity="warning", coverage=[Backward])
def check(run: Run) -> Iterator[Finding]:
    """An objective has the wrong sign: a distance, an overlap, a ranking, a clipped surrogate, an entropy.

    ## Why it hurts
    Maximising a distance to the targets teaches the model to be wrong; so does a ranking that pushes positive pairs
    apart and pulls negative ones together. With the wrong sign the clipped objective of PPO takes the optimistic side,
    so nothing limits the policy; and minimising the entropy makes the policy deterministic before it has explored
    anything.

    ## What to try first
    torch losses are minimised: no minus sign in front; overlaps are maximised: `1 - dice`. A margin between distances:
    `relu(margin + pos - neg)`. For PPO `-torch.min(ratio * adv, ratio.clamp(1 - eps, 1 + eps) * adv).mean()`, or
    `torch.max` of the negated products; and `loss - 0.01 * entropy`.

    ## When this is wrong
    When the entropy should be minimised: only policies whose `log_prob` is trained as well are judged. A distance may
    be maximised alongside other terms, or by one of two optimizers (adversaries do so): only one that is the whole
    loss, and that rises, is reported. A hand-written loss is re-run on a copy, and reported if it pushes nearly all
    predictions away from the only target of the step; or if it is larger, and takes the outputs apart, where those with
    one label lie together. Outputs that should stay apart rightly minimise their overlap;
    only overlaps with given data are judged.
    """
    maximised = list(_maximised(run))
    yield from maximised or _pushed_away(run)
    yield from _similarity_minimised(run)
    yield from _without_effect(run)
    yield from _uphill(run)
    yield from _overlap_minimised(run)
    ranked = list(_ranked_the_wrong_way(run))
    yield from ranked or _driven_apart(run)
    policies = run.facts(LogProb)
    pushed: list[ClippedSurrogate | Entropy] = [*run.facts(ClippedSurrogate), *run.facts(Entropy)]
    for op in sorted(pushed, key=lambda op: op.id):
        if isinstance(op, ClippedSurrogate):
            wrong = (op.which == "min") == (op.slope > 0) and op.slope != 0
            if wrong:
                better = "-torch.min(a, b)" if op.which == "min" else "-torch.min(a, b), or torch.max(-a, -b)"
                yield Finding(
                    what=f"torch.{op.which} of a ratio and its clipped version is "
                    f"{'minimised' if op.slope > 0 else 'maximised'} ({op.count} times)",
                    why="PPO should take the pessimistic side; here the unclipped side always wins",
                    remedy=f"move the minus sign outside: {better}.mean()",
                    where=op.where,
                    evidence=(Evidence(name="slope_of_the_loss", value=op.slope, limit=str(-op.slope)),),
                    confidence=0.92,
                )
        elif op.slope > 0 and policies and _both_ways(policies):
            yield Finding(
                what=f"the entropy of the policy ({op.class_}) is minimised ({op.count} times)",
                why="an entropy bonus should be subtracted from the loss; added, it stops exploration",
                remedy="loss = policy_loss - 0.01 * entropy",
                **edited_at(op.where, added_at(program(run), op.where)),
                evidence=(Evidence(name="slope_of_the_loss", value=1, limit="-1"),),
                confidence=0.85,
            )


def _both_ways(policies: list[LogProb]) -> bool:
    """Whether actions become both more and less likely, as with rewards; a likelihood is only ever raised."""
    return any(op.both_ways for op in policies) or {op.slope for op in policies} >= {-1, 1}


def _maximised(run: Run) -> Iterator[Finding]:
    pushed, optimizers = run.facts(Pushed), run.facts(Optimizer)
    if len(pushed) < 5 or len(optimizers) != 1 or not all(event.slope < 0 for event in pushed):
        return
    if not optimizers[0].in_models:
        return  # it moves the model's inputs: an attack
    first, last = pushed[0].value, pushed[-1].value
    if not last > 1.5 * first + 0.1:
        return
    function = pushed[0].function
    yield Finding(
        what=f"{function} is maximised: it rose from {first:.3g} to {last:.3g} by step {pushed[-1].step:,}",
        why="the minus sign in front makes training push the model away from its targets",
        remedy=f"loss = {function}(...), without the minus sign",
        where=pushed[0].where,
        evidence=(
            Evidence(name="slope_of_the_loss", value=round(pushed[0].slope, 6), limit="> 0"),
            Evidence(name="value_at_first_and_last", value=f"{first:.4g}, {last:.4g}", limit="falls"),
        ),
        confidence=0.95,
    )


def _pushed_away(run: Run) -> Iterator[Finding]:
    """Works for any loss: it was re-run on a copy with the original predictions."""
    for step, target, rounds in pushed_away(run):
        share = f"{target.away:.0%} of {target.elements:,} predictions"
        yield Finding(
            what=f"the loss pushes {share} away from their targets ({target.name!r})",
            why="to lower it the model must be wrong: its sign is reversed, or its two sides are swapped",
            remedy="add or remove a minus sign: the loss must be lowest at the targets",
            where=at(step, target.number_at or target.met_at),
            evidence=(
                Evidence(name="share_pushed_away", value=round(target.away, 3), limit="0"),
                Evidence(name="times_asked", value=rounds),
            ),
            confidence=0.93,
        )


def _similarity_minimised(run: Run) -> Iterator[Finding]:
    for step, target, rounds in similarity_minimised(run):
        assert target.optimum is not None
        perfect, opposite = target.optimum.perfect[0] or 0.0, target.optimum.opposite[0] or 0.0
        yield Finding(
            what=f"predictions equal to their targets ({target.name!r}) give a loss of {perfect:.3g}, their exact "
            f"opposite {opposite:.3g}; it is {step.loss:.3g} now",
            why="a similarity is minimised: training turns the predictions away from the targets",
            remedy="minimise 1 - similarity, or put a minus sign in front",
            where=at(step, target.number_at or target.met_at),
            evidence=(
                Evidence(name="loss_at_the_targets", value=perfect, limit="the lowest"),
                Evidence(name="loss_at_the_opposite", value=opposite, limit="the highest"),
                Evidence(name="times_asked", value=rounds),
            ),
            confidence=0.93,
        )


def _without_effect(run: Run) -> Iterator[Finding]:
    for step, target, rounds in without_effect(run):
        yield Finding(
            what=f"the targets ({target.name!r}) change the value of the loss, but not its gradient",
            why="the loss pulls every prediction the same way whatever its target: it falls without bound, and nothing "
            "is learnt",
            remedy="compare each prediction with its target before the mean: a square or an absolute value is missing",
            where=at(step, target.met_at),
            evidence=(
                Evidence(name="gradient_depends_on_targets", value="no", limit="yes"),
                Evidence(name="times_asked", value=rounds),
            ),
            confidence=0.9,
        )


def _uphill(run: Run) -> Iterator[Finding]:
    """The loss is right, but the optimizer goes the wrong way."""
    found, optimizer = uphill(run), optimizer_of(run)
    if found is None or optimizer is None:
        return
    tried, (tries, curve) = found
    yield Finding(
        what=f"every update of {optimizer.class_} raises the loss it was computed from: {tried.loss:.4g} before, "
        f"{tried.losses[2]:.4g} after the one at step {tried.step:,}",
        why="the weights move along the gradient instead of against it"
        + (f"; the loss rose from {curve.values[0]:.3g} to {curve.end:.3g}" if curve is not None else ""),
        remedy="remove maximize=True; in your own optimizer, subtract the gradient: p.add_(grad, alpha=-lr)",
        where=optimizer.where,
        evidence=(
            Evidence(name="cosine_with_steepest_descent", value=round(tried.downhill or 0.0, 3), limit="> 0"),
            Evidence(name="steps_tried", value=len(tries)),
        ),
        confidence=0.93,
    )


def _overlap_minimised(run: Run) -> Iterator[Finding]:
    found = [op for op in run.facts(OverlapTerm) if not op.between_outputs]
    wrong = [op for op in found if op.slope > 0]
    if sum(op.count for op in wrong) < 3 or any(op.slope < 0 for op in found):
        return
    yield Finding(
        what=f"the overlap {wrong[0].name!r} is minimised ({sum(op.count for op in wrong)} times)",
        why="1 is a perfect overlap and 0 is none at all: this trains the model to miss its targets",
        remedy=f"loss = 1 - {wrong[0].name}",
        where=wrong[0].where,
        evidence=(Evidence(name="slope_of_the_loss", value=1, limit="-1"),),
        confidence=0.92,
    )


def _ranked_the_wrong_way(run: Run) -> Iterator[Finding]:
    """Both must always go the wrong way: positive pairs are pushed apart and negative ones pulled together."""
    found = [op for op in run.facts(RankedDistance) if op.slope]
    pos, neg = ([op for op in found if op.side == side] for side in ("pos", "neg"))
    if min(sum(op.count for op in side) for side in (pos, neg)) < 3:
        return
    if any(op.slope > 0 for op in pos) or any(op.slope < 0 for op in neg):
        return
    near, far = pos[0].name, neg[0].name
    yield Finding(
        what=f"the distance {near!r} is increased and {far!r} decreased ({sum(op.count for op in pos)} times)",
        why="matching pairs should be close; here they are pushed apart",
        remedy=f"swap them: relu(margin + {near} - {far})",
        where=pos[0].where,
        evidence=(Evidence(name=f"slope_of_the_loss_along_{near}", value=-1, limit="1"),),
        confidence=0.9,
    )


def _driven_apart(run: Run) -> Iterator[Finding]:
    """Works for any loss that compares samples with each other by their labels: triplets, pairs."""
    for step, target, rounds in driven_apart(run):
        assert target.grouping is not None and target.grouping.apart is not None
        together, dealt = (median(values) for values in (target.grouping.together, target.grouping.dealt))
        yield Finding(
            what=f"the loss is {together:.3g} if samples with the same label ({target.name!r}) lie together, and "
            f"{dealt:.3g} if they are mixed",
            why="to lower it the model must push samples of one class apart: followed down its slope on a copy, it "
            "took them apart again",
            remedy="swap the two distances, relu(margin + positive - negative), or turn the sign of the similarity",
            **edited_at(at(step, target.number_at or target.met_at), _difference(run, target)),
            evidence=(
                Evidence(name="loss_of_classes_together", value=round(together, 5), limit=f"< {dealt:.3g}"),
                Evidence(name="width_of_classes_after_before", value=round(target.grouping.apart, 2), limit="≤ 2"),
                Evidence(name="times_asked", value=rounds),
            ),
            confidence=0.92,
        )


def _difference(run: Run, target: TargetAsked) -> Link | None:
    """The nearest statement, from the line on which the loss becomes a number, that takes a difference."""
    code = program(run)
    site = target.number_at
    scope = code.scope(site[0], site[1]) if site is not None else None
    statement = statement_at(scope, site[1]) if site is not None and scope is not None and site[1] is not None else None
    value = getattr(statement, "value", None)
    if scope is None or value is None or subtracts(value):
        return None
    return first_link(history(code, scope, value), subtracts)
