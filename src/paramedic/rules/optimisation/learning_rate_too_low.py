"""PM206."""

import ast
from collections.abc import Iterator
from statistics import mean, median

from paramedic.findings import Where
from paramedic.record.facts import Backward, Load, Optimizer, Schedule
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.curves import Curve
from paramedic.rules.lines import argument_history, edited_at
from paramedic.rules.outcome import optimizer_of, outcome, pushes, rates_of
from paramedic.rules.rates import higher_helps, warming_up
from paramedic.rules.support import parameter_histories
from paramedic.rules.tried_steps import too_small
from paramedic.static.history import Link
from paramedic.static.program import arguments_at, program


@rule(
    "PM206",
    "learning-rate-too-low",
    severity="warning",
    needs=[Backward, Optimizer],
    causes=["PM207", "PM209", "PM213", "PM305"],
    symptom=True,
)
def check(run: Run, *, push: float = 1e-4, fewest: int = 50, patience: float = 10.0) -> Iterator[Finding]:
    """The loss falls, but far too slowly; or the learning rate is zero.

    ## Why it hurts
    At this pace training would need many times as long to converge, and it looks as if nothing were learnt.

    ## What to try first
    A learning rate ten times higher, then again, until the loss falls clearly within the first hundred steps.

    ## When this is wrong
    Fine-tuning starts from a model that already knows something and is not judged; neither is a warm-up. If the loss is
    a sum of terms or hand-written, updates are tried on a copy: a step a hundred times as long must still be a small
    one in the right direction.

    ## Options
    `push`: typical size of an update relative to the weight; `fewest`: steps that must have been taken; `patience`: how
    many times the run's length it would take to halve the loss.
    """
    back = list(_brought_back(run, fewest))
    if back:
        yield from back
        return
    tried = higher_helps(run)
    if tried is not None:
        yield tried
        return
    optimizer = optimizer_of(run)
    if optimizer is None:
        raise Abstain("the run uses several optimizers")
    if run.steps < fewest:
        raise Abstain(f"only {run.steps} steps; {fewest} are needed")
    if _is_zero(run):
        yield _zero(run, optimizer)
        return
    ratios = [ratio for _, ratio in pushes(run)]
    if len(ratios) < 3:
        raise Abstain("the optimizer's updates were not sampled")
    ratio, small = median(ratios), too_small(run)
    if small is not None and small.curve.task is None:
        if 0 < ratio < push and _is_slow(small.curve, patience) and not warming_up(run):
            yield _slow(run, small.curve, optimizer, ratio, push, small.told)
        return
    judged = outcome(run)
    curve = judged.curve
    untrained = curve.start >= 0.8 * judged.prior if judged.prior is not None else not run.facts(Load)
    slow = _is_slow(curve, patience)
    # So little movement cannot have changed anything, whether or not the loss's noise lets a trend be seen.
    still = ratio * run.steps < 0.01 and judged.bad
    if ratio >= push or ratio == 0 or not (untrained and slow and (curve.trend_down or still)):
        return
    if _gathers_pace(curve):  # it leaves a plateau, so the pace so far says nothing of what comes
        return
    yield _slow(run, curve, optimizer, ratio, push)


def _is_slow(curve: Curve, patience: float) -> bool:
    return curve.improvement <= 0 or 0.5 / curve.improvement > patience


def _gathers_pace(curve: Curve, *, faster: float = 3.0, visibly: float = 0.01) -> bool:
    """Whether the loss fell visibly in the last third, several times as much as before: too low a rate is even."""
    third = len(curve.values) // 3
    first, middle, last = (mean(curve.values[i * third : (i + 1) * third or None]) for i in range(3))
    return middle - last > max(faster * (first - middle), visibly * abs(first))


def _brought_back(run: Run, fewest: int, share: float = 0.01) -> Iterator[Finding]:
    """A loaded optimizer state replaces the rate given with one that a finished schedule had decayed."""
    for load in run.facts(Load):
        if load.into != "optimizer" or len(load.rates) < 2 or load.rates[1] > share * load.rates[0]:
            continue
        given, loaded = load.rates
        later = [o for o in run.facts(Optimizer) if o.step >= load.step and o.class_ == load.class_]
        number = later[0].number if later else None
        course = run.series(f"lr:{number}")
        resumed = any(schedule.optimizer == number for schedule in run.facts(Schedule))  # its schedule goes on
        if not course or resumed or max(rate for _, rate in course) > 10 * loaded or run.steps - load.step < fewest:
            continue
        yield Finding(
            what=f"the optimizer was built with a learning rate of {given:g}, but loading its state restored "
            f"{loaded:.1g}, where an earlier training ended",
            why="an optimizer's state includes the learning rate, and no schedule raises it again",
            remedy=f'reset it after loading: for group in optimizer.param_groups: group["lr"] = {given:g}; or do not '
            "load the state",
            where=load.where,
            evidence=(
                Evidence(name="learning_rate", value=float(f"{loaded:.3g}"), limit=f"{given:g}"),
                Evidence(name="steps_since", value=run.steps - load.step),
            ),
            confidence=0.93,
        )


def _is_zero(run: Run) -> bool:
    """No parameter that got a gradient was ever given a rate above zero."""
    trained = [history for history in parameter_histories(run) if history.nonzero]
    rates = [value for points in run.curves("lr").values() for _, value in points]
    return bool(trained) and not any(history.rate for history in trained) and bool(rates) and not any(rates)


def _zero(run: Run, optimizer: Optimizer) -> Finding:
    return Finding(
        what=f"the learning rate was 0 in all {run.steps:,} steps",
        why="the optimizer steps, but no weight ever moves",
        remedy="give the optimizer a learning rate, or look for a schedule that multiplies it by 0",
        **edited_at(optimizer.where, next(iter(_factors(run)), None)),
        evidence=(Evidence(name="learning_rate", value=0.0, limit="> 0"),),
        confidence=0.98,
    )


def _factor(run: Run, optimizer: Optimizer) -> Link | None:
    """Where a LambdaLR's function includes the learning rate; its result is a factor, so the rate is applied twice."""
    given = arguments_at(program(run), optimizer.where, [optimizer.class_], 1, "lr")
    rates = {ast.unparse(node) for node in given if not isinstance(node, ast.Constant)}
    for link in _factors(run):
        if rates & {ast.unparse(inner) for inner in ast.walk(link.node) if isinstance(inner, ast.expr)}:
            return link
    return None


def _factors(run: Run) -> list[Link]:
    """What the functions passed to schedulers return."""
    found = []
    for schedule in run.facts(Schedule):
        born = Where(file=schedule.born.file, line=schedule.born.line)
        made = argument_history(run, born, ("LambdaLR", "MultiplicativeLR"), 1, "lr_lambda")
        found += [link for link in made if link.kind == "returned" and not isinstance(link.node, ast.Name)]
    return found


def _slow(run: Run, curve: Curve, optimizer: Optimizer, ratio: float, limit: float, told: str = "") -> Finding:
    rate = max(rates_of(optimizer), default=0.0)
    times = 0.5 / curve.improvement if curve.improvement > 0 else float("inf")
    falls = "falls, but only" if curve.trend_down else "hardly moves:"
    factor = _factor(run, optimizer)
    remedy = f"raise the learning rate until the loss falls clearly: lr={rate * 10:g}, then lr={rate * 100:g}"
    return Finding(
        what=f"the loss {falls} from {curve.start:.4g} to {curve.end:.4g} in "
        f"{curve.steps:,} steps at a learning rate of {rate:g}",
        why=f"each step changes the weights by {ratio:.1e} of their size, where about 1e-3 is usual"
        + (f"; at this pace, halving the loss would take {times:,.0f} times as long" if times < 1e4 else "")
        + told,
        remedy=remedy
        if factor is None
        else "remove the learning rate here: LambdaLR multiplies the optimizer's rate by what this returns",
        **edited_at(optimizer.where, factor),
        evidence=(
            Evidence(name="update_to_weight", value=float(f"{ratio:.3g}"), limit=f"≥ {limit:g}"),
            Evidence(name="improvement", value=round(curve.improvement, 4)),
        ),
        confidence=0.88,
    )
