"""PM516."""

from collections.abc import Iterator

from paramedic.rules import Event, Evidence, Finding, Run, rule


@rule("PM516", "objective-sign", severity="warning", needs=["backward"])
def check(run: Run) -> Iterator[Finding]:
    """An objective is pushed the wrong way: a clipped surrogate, or the entropy of a policy.

    ## Why it hurts
    With the wrong sign the clipped objective of PPO takes the optimistic side, so nothing holds the policy back; and an
    entropy that is minimised makes the policy deterministic before it has explored anything.

    ## What to try first
    `-torch.min(ratio * adv, ratio.clamp(1 - eps, 1 + eps) * adv).mean()`, or `torch.max` of the negated products; and
    `loss - 0.01 * entropy`.

    ## When this is wrong
    When the entropy is to be minimised on purpose: only policies whose `log_prob` is trained as well are judged.
    """
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
