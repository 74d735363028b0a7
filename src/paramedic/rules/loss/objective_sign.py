"""PM516."""

from collections.abc import Iterator

from paramedic.rules import Abstain, Event, Evidence, Finding, Run, rule
from paramedic.rules.experiments import Lab

ERRORS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy", "binary_cross_entropy_with_logits")


@rule("PM516", "objective-sign", severity="warning", needs=["backward"])
def check(run: Run) -> Iterator[Finding]:
    """An objective is pushed the wrong way: an error that is maximised, a clipped surrogate, the entropy of a policy.

    ## Why it hurts
    With the wrong sign the clipped objective of PPO takes the optimistic side, so nothing holds the policy back; and an
    entropy that is minimised makes the policy deterministic before it has explored anything.

    ## What to try first
    `-torch.min(ratio * adv, ratio.clamp(1 - eps, 1 + eps) * adv).mean()`, or `torch.max` of the negated products; and
    `loss - 0.01 * entropy`.

    ## When this is wrong
    When the entropy is to be minimised on purpose: only policies whose `log_prob` is trained as well are judged.
    """
    yield from _bottomless(run)
    policies = [op for op in run.events("op") if op["op"] == "log_prob"]
    for op in run.events("op"):
        if op["op"] == "clipped surrogate":
            wrong = (op["which"] == "min") == (op["slope"] > 0) and op["slope"] != 0
            if wrong:
                better = "-torch.min(a, b)" if op["which"] == "min" else "-torch.min(a, b), or torch.max(-a, -b)"
                yield Finding(
                    what=f"torch.{op['which']} of a ratio and its clipped version is "
                    f"{'minimised' if op['slope'] > 0 else 'maximised'} ({op.count} times)",
                    why="the pessimistic choice is the one that should be made: here the unclipped side always wins",
                    remedy=f"take the minus sign out of it: {better}.mean()",
                    where=op.where,
                    evidence=(Evidence(name="slope_of_the_loss", value=op["slope"], limit=str(-op["slope"])),),
                    confidence=0.92,
                )
        elif op["op"] == "entropy" and op["slope"] > 0 and policies and _both_ways(policies):
            yield Finding(
                what=f"the entropy of the policy ({op['class']}) is minimised ({op.count} times)",
                why="an entropy bonus should be subtracted from the loss; added, it ends exploration",
                remedy="loss = policy_loss - 0.01 * entropy",
                where=op.where,
                evidence=(Evidence(name="slope_of_the_loss", value=1, limit="-1"),),
                confidence=0.85,
            )


def _both_ways(policies: list[Event]) -> bool:
    """Whether actions are made more and less likely, as rewards do it; a likelihood is only ever raised."""
    return any(op["both_ways"] for op in policies) or {op["slope"] for op in policies} >= {-1, 1}


def _bottomless(run: Run) -> Iterator[Finding]:
    """Experiments show it: the loss falls and falls below zero, with the real labels and with permuted ones."""
    try:
        lab = Lab(run) if run.events("experiment") else None
    except Abstain:
        lab = None
    control = lab.get("permuted-labels") if lab is not None else None
    if lab is None or control is None or not (lab.base.bottomless and control.bottomless):
        return
    calls = [call for call in run.events("loss_call", phase="train") if call["function"] in ERRORS]
    if calls:
        yield Finding(
            what=f"the loss falls from {lab.base.first:.3g} to {lab.base.last:.3g}, with permuted labels to "
            f"{control.last:.3g}",
            why=f"{calls[0]['function']} cannot be negative, so its negative is trained: the error is maximised",
            remedy="take the minus sign away in front of the loss",
            where=calls[0].where,
            evidence=(lab.base.evidence("≥ 0"), control.evidence()),
            confidence=0.93,
        )
