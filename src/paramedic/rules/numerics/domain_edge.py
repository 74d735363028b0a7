"""PM107."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Clip, Edge
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.bad_values import operation

_ROOT = "keep the argument away from 0, or add a larger constant under the root: (x + 1e-4).sqrt()"
_REMEDIES = {
    "div": "keep the denominator away from 0: add 1e-3, or clamp(min=1e-3)",
    "reciprocal": "keep the denominator away from 0: add 1e-3, or clamp(min=1e-3)",
    "log": "take the logarithm earlier (log_softmax, logsigmoid, logsumexp), or log(x + 1e-4)",
    "acos": "keep the argument inside the domain: x.clamp(-1 + 1e-4, 1 - 1e-4); or use atan2",
    "asin": "keep the argument inside the domain: x.clamp(-1 + 1e-4, 1 - 1e-4); or use atan2",
    "atanh": "keep the argument inside the domain: x.clamp(-1 + 1e-4, 1 - 1e-4)",
}
_REMEDIES |= {"log2": _REMEDIES["log"], "log10": _REMEDIES["log"]}
_CAUSES = ["PM101", "PM102", "PM103", "PM109", "PM202", "PM205", "PM207", "PM208"]


@rule("PM107", "domain-edge", severity="warning", coverage=[Backward], causes=_CAUSES)
def check(run: Run) -> Iterator[Finding]:
    """A logarithm, root or division so close to its singularity that the gradient explodes.

    ## Why it hurts
    Everything is still finite, so nothing fails. But the derivative of 1/x at 1e-8 is 1e16, and the next step wipes out
    what the model has learnt. A little closer to the singularity, the same line produces NaN.

    ## What to try first
    Keep the argument away from the singularity where it is computed: `softplus(v) + 1e-3` for a standard deviation, `x
    + 1e-8` under a root, `clamp(min=...)` for a denominator. Clipping only hides the problem: the direction of the
    gradient is wrong as well.

    ## When this is wrong
    This is reported only if a gradient jumped to hundreds of times its previous maximum and re-running the step without
    this one derivative gives a gradient of ordinary size. If gradients are clipped, it is a note.
    """
    for event in run.facts(Edge)[:1]:
        one, leap = event.near == 1, event.leap
        times = f"{leap:,.0f}" if leap < 1e6 else f"{leap:.0e}"
        slope = f"its derivative is {event.slope:.2g} there"
        yield Finding(
            what=f"{operation(event)} got {event.near:,} value{'s' * (not one)} close to its singularity (down to "
            f"{event.closest:.2g} away), and the gradient jumped to {times} times its previous maximum",
            why=f"{slope}; without it, this step's gradient is {event.without:.2g} instead of {event.gradient:.2g}",
            remedy=_REMEDIES.get(event.op, _ROOT),
            where=event.where,
            evidence=(
                Evidence(name="operation", value=event.op),
                Evidence(name="closest", value=event.closest, limit="away from 0"),
                Evidence(name="near", value=event.near, limit=f"0 of {event.size}"),
                Evidence(name="gradient", value=event.gradient),
                Evidence(name="gradient_without_it", value=event.without),
            ),
            confidence=0.95,
            severity="note" if run.facts(Clip) else "warning",
        )
