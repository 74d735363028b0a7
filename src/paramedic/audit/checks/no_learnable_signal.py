"""PM322 in data: simple models do no better than guessing."""

from collections.abc import Iterator

from paramedic.audit.audit import Audit
from paramedic.audit.checks.check import check
from paramedic.findings import Evidence, Finding
from paramedic.rules.rule import Abstain

CHANCE = 0.05  # p-value above which nothing counts as found
FEWEST = 200  # samples


@check("PM322")
def no_learnable_signal(audit: Audit) -> Iterator[Finding]:
    """A random forest (out of bag) and the nearest neighbour, tested against targets without relation to the inputs."""
    if audit.train.source.guessed:
        raise Abstain("the target was only guessed (set it with --label)")
    signal = audit.signal
    if signal is None or signal.size < FEWEST:
        raise Abstain("too few samples to tell, or no single target per sample")
    if signal.p_value <= CHANCE:
        return
    reached = (
        f"a random forest is right in {signal.score:.1%} of {signal.size:,} samples, guessing in {signal.guess:.1%}"
        if signal.task == "classification"
        else f"a random forest's predictions correlate with the targets by {signal.score:.2f} ({signal.size:,})"
    )
    yield Finding(
        what=f"simple models find no relation between inputs and targets: {reached}",
        why=f"shuffled targets score as well {signal.p_value:.0%} of the time",
        remedy="check that targets and inputs match, and that the inputs contain the answer at all",
        evidence=(
            Evidence(name="p_value", value=signal.p_value, limit=f"< {CHANCE:g}"),
            Evidence(name="nearest_neighbour", value=signal.neighbour),
        ),
        confidence=0.8,
        split="train",
    )
