"""PM615."""

from collections.abc import Iterator

from paramedic.record.facts import Model, Optimizer
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import listed


@rule("PM615", "weight-decay-on-norm", severity="note", needs=[Optimizer, Model])
def check(run: Run) -> Iterator[Finding]:
    """Weight decay also applies to weights of norm layers, although a group without decay exists.

    ## Why it hurts
    Usually little: scales of norm layers are pulled towards zero. But the line that groups the parameters does not do
    what it says, most often because it looks for a name (`LayerNorm.weight`) that the module does not have.

    ## What to try first
    Group by shape: `decay = [p for p in model.parameters() if p.ndim >= 2]`, and the rest without decay.

    ## When this is wrong
    With a single group nothing is reported: nothing was meant to be excluded.
    """
    shapes = {p.name: p.shape for model in run.facts(Model) for p in model.parameters}
    judged = 0
    for optimizer in run.facts(Optimizer):
        groups = optimizer.groups
        spared = [n for g in groups if not g.weight_decay for n in g.parameters if len(shapes.get(n, ())) == 1]
        decayed = [n for g in groups if g.weight_decay for n in g.parameters if len(shapes.get(n, ())) == 1]
        judged += bool(spared)
        norms = [name for name in decayed if name.endswith(".weight")]
        if not spared or not norms:
            continue
        decay = max(group.weight_decay for group in groups)
        yield Finding(
            what=f"{listed(norms)} have weight decay {decay:g}, while {len(spared)} other one-dimensional tensors "
            "are not",
            why="the condition that groups the parameters does not match these",
            remedy="put every parameter with p.ndim < 2 into the group with weight_decay=0",
            where=optimizer.where,
            evidence=(Evidence(name="decayed_norm_weights", value=len(norms), limit="0"),),
            confidence=0.8,
        )
    if not judged:
        raise Abstain("no optimizer has a group without weight decay")
