"""PM504."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Ctc, LossCall
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import at, by_place, measured

_LAYERS = tuple(f"({name})" for name in ("Linear", "Conv1d", "Conv2d", "Conv3d", "Bilinear", "BatchNorm1d"))
_SCORES = ("Addmm", "Mm", "Bmm", "Mv", "Convolution", "Relu", "Gelu", "Sigmoid", "Tanh", "Softmax", "LeakyRelu")


@rule(
    "PM504",
    "wrong-loss-input",
    severity="error",
    coverage=[Backward],
    causes=["PM101", "PM103", "PM104", "PM507"],
    lasting=True,
)
def check(run: Run, *, tolerance: float = 1e-2) -> Iterator[Finding]:
    """Raw scores or probabilities reach a loss that expects log-probabilities, or vice versa.

    `F.nll_loss`, `F.ctc_loss` and the first argument of `F.kl_div` must be log-probabilities: at most 0, and their
    exponentials sum to 1. The second argument of `F.kl_div` must be probabilities, unless `log_target=True` is given.
    `F.poisson_nll_loss` takes the logarithm of a rate by default, and binary cross-entropy takes the prediction first
    and the labels second.

    ## Why it hurts
    Otherwise the formula is no longer a likelihood or a divergence. The loss becomes negative, or falls without bound
    while the predictions collapse.

    ## What to try first
    `F.log_softmax(logits, dim=-1)` before the loss; or `F.cross_entropy` on logits instead of `F.nll_loss`.

    ## When this is wrong
    Unnormalised log-scores in `nll_loss` are reported only if they are probabilities, or positive and straight from a
    layer: the log-densities of a generative classifier may be positive as well.

    ## Options
    `tolerance`: how far sums may be from 1.
    """
    yield from _ctc(run, tolerance)
    yield from _rates(run)
    yield from _swapped(run)
    for group in by_place(measured(run.facts(LossCall), "nll_loss", "kl_div")).values():
        if _is_log(group, tolerance):
            yield _log_target(group[0])
            continue
        problem = _problem(group, tolerance)
        if problem is None:
            continue
        call = next((call for call in group if call.made_at), group[0])
        values = call.numbers
        got, why = problem
        yield Finding(
            what=f"F.{call.function} expects log-probabilities but received {got}",
            why=why,
            remedy="apply F.log_softmax(logits, dim=-1) to the first argument"
            + (", or use F.cross_entropy on the logits" if call.function == "nll_loss" else ""),
            where=at(call, None),
            evidence=(
                Evidence(name="input_min", value=values.input_min),
                Evidence(name="input_max", value=values.input_max, limit="≤ 0"),
                Evidence(name="sum_of_exp_max", value=values.row_exp_max, limit=f"1 ± {tolerance:g}"),
            ),
            confidence=0.97,
        )


def _is_log(calls: list[LossCall], tolerance: float) -> bool:
    """Whether the second argument of kl_div is also a logarithm, without log_target=True."""
    plain = [call for call in calls if call.function == "kl_div" and not call.log_target]
    low = [call.numbers.target_min for call in plain if call.numbers.target_min is not None]
    return bool(plain) and len(low) == len(calls) and max(low) < -tolerance


def _log_target(call: LossCall) -> Finding:
    return Finding(
        what=f"F.kl_div expects probabilities as its target but received values down to {call.numbers.target_min:.3g}",
        why="a probability is never negative; the logarithm that kl_div takes is NaN",
        remedy="exponentiate the target: F.softmax instead of F.log_softmax; or pass log_target=True",
        where=at(call, None),
        evidence=(Evidence(name="target_min", value=call.numbers.target_min, limit="≥ 0"),),
        confidence=0.98,
    )


def _ctc(run: Run, tolerance: float) -> Iterator[Finding]:
    for group in by_place(run.facts(Ctc)).values():
        totals = [event.total for event in group if event.total is not None]
        if not totals or min(abs(total - 1) for total in totals) <= 10 * tolerance:
            continue
        yield Finding(
            what=f"F.ctc_loss expects log-probabilities; the exponentials of a frame sum to {totals[0]:.3g}, not 1",
            why="without log_softmax the loss falls when all scores grow, whatever is predicted",
            remedy="apply F.log_softmax(logits, dim=-1) to the first argument",
            where=group[0].where,
            evidence=(Evidence(name="sum_of_exp", value=round(totals[0], 4), limit=f"1 ± {10 * tolerance:g}"),),
            confidence=0.97,
        )


def _rates(run: Run) -> Iterator[Finding]:
    """A rate, which is already positive, where its logarithm is expected."""
    for group in by_place(measured(run.facts(LossCall, phase="train"), "poisson_nll_loss")).values():
        made = {call.input.made_by for call in group}
        if not made <= {"ExpBackward0", "SoftplusBackward0"} or not all(call.log_input for call in group):
            continue
        function = "exp" if "ExpBackward0" in made else "softplus"
        yield Finding(
            what=f"F.poisson_nll_loss receives the output of {function}, a rate, but expects its logarithm",
            why="with log_input=True, the default, it applies the exponential again",
            remedy=f"remove {function}, or pass log_input=False",
            where=at(group[0], None),
            evidence=(Evidence(name="input_min", value=group[0].numbers.input_min, limit="negative, too"),),
            confidence=0.93,
        )


def _swapped(run: Run) -> Iterator[Finding]:
    """The labels come first, the prediction second."""
    functions = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
    for group in by_place(measured(run.facts(LossCall, phase="train"), *functions)).values():
        if not all(_is_swapped(call) for call in group):
            continue
        yield Finding(
            what=f"F.{group[0].function} gets the labels as its first argument and the model's output as its second",
            why="the logarithm is taken of the labels, where it is 0 or clamped, instead of the predictions",
            remedy="swap them: the prediction first, the labels second",
            where=group[0].where,
            evidence=(Evidence(name="gradient_flows_into", value="the second argument", limit="the first"),),
            confidence=0.96,
        )


def _is_swapped(call: LossCall) -> bool:
    values = call.numbers
    mean, spread = values.input_mean, values.input_std
    only_0_and_1 = values.input_min == 0 and values.input_max == 1 and abs(spread**2 - mean * (1 - mean)) < 1e-4
    return only_0_and_1 and not call.input.requires_grad and call.target.requires_grad


def _are_scores(call: LossCall) -> bool:
    """Whether the values come straight from a layer; sums and differences may be log-densities, which can be > 0."""
    made_by = (call.input.made_by or "").partition("Backward")[0]
    layer = (call.maker or "").endswith(_LAYERS)
    return call.function == "kl_div" or layer or call.made_at is not None or made_by in _SCORES


def _problem(calls: list[LossCall], tolerance: float) -> tuple[str, str] | None:
    values = [call.numbers for call in calls]
    low = min(v.input_min for v in values)
    sums = [total for v in values for total in (v.row_sum_min, v.row_sum_max)]
    if low >= 0 and all(abs(total - 1) <= tolerance for total in sums):
        return (
            "probabilities: every row sums to 1",
            "the logarithm is missing, so the loss is linear and has no minimum",
        )
    high = max((call.numbers.input_max for call in calls if _are_scores(call)), default=0.0)
    if high > tolerance:
        kind = "probabilities" if low >= 0 and high <= 1 else "raw scores"
        return f"{kind} up to {high:.3g}", "a log-probability is never positive; this loss can fall without bound"
    return None
