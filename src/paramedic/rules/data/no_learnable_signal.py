"""PM322."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.rules import Abstain, Evidence, Finding, rule

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


@rule("PM322", "no-learnable-signal", severity="warning", reads="audit")
def check(audit: Audit, *, chance: float = 0.05, fewest: int = 200) -> Iterator[Finding]:
    """Simple models do no better than guessing on samples they have not seen.

    A random forest (out of bag) and the nearest neighbour, tested against targets that have nothing to do with the
    inputs. Found by `paramedic audit`.

    ## Why it hurts
    If neither finds anything, a network has little to find either: the time is better spent on the data.

    ## What to try first
    Check that the targets belong to the inputs, and that the inputs hold what a person would need to tell the answer.

    ## When this is wrong
    Raw audio, raw text and large images can hold a relation that only a large model sees; so can very weak relations in
    few samples.

    ## Options
    `chance`: the p-value above which nothing was found; `fewest`: samples below which nothing is said.
    """
    signal = audit.signal
    if signal is None or signal.size < fewest:
        raise Abstain("too few samples to tell, or no single target per sample")
    if signal.p_value <= chance:
        return
    reached = (
        f"a random forest is right in {signal.score:.1%} of {signal.size:,} samples, guessing in {signal.guess:.1%}"
        if signal.task == "classification"
        else f"a random forest's predictions correlate with the targets by {signal.score:.2f} ({signal.size:,})"
    )
    yield Finding(
        what=f"simple models find no relation between inputs and targets: {reached}",
        why=f"targets without any relation to the inputs would do as well in {signal.p_value:.0%} of all cases",
        remedy="check that targets and inputs belong together, and that the answer can be told from the inputs at all",
        evidence=(
            Evidence(name="p_value", value=signal.p_value, limit=f"< {chance:g}"),
            Evidence(name="nearest_neighbour", value=signal.neighbour),
        ),
        confidence=0.8,
        split="train",
    )
