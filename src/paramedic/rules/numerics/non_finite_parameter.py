"""PM104."""

from collections.abc import Iterator, Sequence

from paramedic.record.facts import Backward, BadParameter, Census
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.bad_values import cases
from paramedic.rules.support import listed

TINY_IN_HALF = 3e-8  # what float16 rounds to zero


@rule(
    "PM104",
    "non-finite-parameter",
    severity="error",
    coverage=[Backward],
    causes=["PM101", "PM102", "PM103"],
    lasting=True,
)
def check(run: Run) -> Iterator[Finding]:
    """A weight, buffer or optimizer state is NaN or infinite although the gradients were finite.

    ## Why it hurts
    The gradients are fine and the weights are not: either the step itself did it, or the weights were never
    initialised. Typical causes: Adam with `eps=0`, or with the default `eps=1e-8` on float16 weights, where it rounds
    to 0 and the first step divides 0 by 0; a parameter made with `torch.empty`; a hand-written update.

    ## What to try first
    Keep weights and optimizer state in float32 (autocast, not `.half()`); leave eps alone, or raise it; initialise
    parameters that you create from `torch.empty`.

    ## When this is wrong
    Weights spoilt by gradients that were already non-finite are reported as PM103.
    """
    told = False
    for bad in run.facts(BadParameter):
        told = True
        yield _from_step(bad)
    for case in cases(run, "PM104"):
        event = case.event
        if told or event.outside is None:
            return
        first = "never initialised" if event.step == 0 else "became non-finite in an earlier step, or was overwritten"
        if event.step == 0:
            remedy = "initialise it (torch.empty returns uninitialised memory)"
        elif any(device != "cpu" for census in run.facts(Census) for device in census.devices):
            # By default not every gradient of an accelerator is waited for before it is used.
            remedy = "paramedic run --on-nan stop checks every gradient on the device and names the line that spoilt it"
        else:
            remedy = "look at what else changes it: the optimizer's settings, a hand-written update"
        yield Finding(
            what=f"the {event.origin} {event.name} is not finite at step {event.step}, before the forward pass",
            why=f"it was non-finite before this step began: {first}",
            remedy=remedy,
            where=event.where,
            evidence=(
                Evidence(name="operation", value=event.op),
                Evidence(name="nan", value=event.outside.nan, limit="0"),
                Evidence(name="inf", value=event.outside.inf, limit="0"),
            ),
            confidence=0.85,
            severity=case.severity,
        )


def _from_step(event: BadParameter) -> Finding:
    settings = event.settings
    eps = settings.get("eps")
    half = event.dtype == "float16"
    why = "the gradients were finite, so the update itself produced it"
    remedy = "check the optimizer's settings, and anything else that writes to the weights"
    if eps is not None and (eps == 0 or (half and eps < TINY_IN_HALF)):
        nothing = f"eps={eps:g}" + (f" is 0 in {event.dtype}" if eps else "")
        why = f"{nothing}, so {event.optimizer} divides 0 by 0 where a gradient has always been 0"
        remedy = "keep the weights in float32 and use autocast" if half else "restore eps to its default, 1e-8"
    gradient = event.gradient
    return Finding(
        what=f"{event.optimizer}.step() made {listed(event.names)} non-finite at step {event.step}",
        why=why,
        remedy=remedy,
        where=event.where,
        evidence=(
            Evidence(name="tensors", value=event.bad, limit="0"),
            Evidence(name="gradients", value=_range(gradient), limit="finite"),
            *(Evidence(name=name, value=value) for name, value in settings.items() if name in ("lr", "eps")),
            *(Evidence(name=f"state_{name}", value=_range(value)) for name, value in event.state.items()),
        ),
        confidence=0.95 if event.gradients_checked else 0.7,
    )


def _range(ends: Sequence[float] | None) -> str:
    if not ends:
        return "unknown"
    low, high = f"{ends[0]:.4g}", f"{ends[-1]:.4g}"
    return low if low == high else f"from {low} to {high}"
