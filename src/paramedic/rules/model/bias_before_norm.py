"""PM421."""

from collections.abc import Iterator
from itertools import pairwise

from paramedic.record.facts import Model
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import listed


@rule("PM421", "bias-before-norm", severity="note", needs=[Model])
def check(run: Run) -> Iterator[Finding]:
    """Layers have a bias that the BatchNorm right after them cancels.

    ## Why it hurts
    Hardly at all: the bias has no effect and costs a little memory and time.

    ## What to try first
    `bias=False` in the layer before the norm.

    ## When this is wrong
    When the norm will be removed or folded later. Only layers inside the same `nn.Sequential` are checked.
    """
    for model in run.facts(Model):
        modules = model.modules
        pairs = [
            (a.path, b.path)
            for a, b in pairwise(modules)
            if b.norm and "bias" in a.own_parameters and not a.children and _siblings(a.path, b.path)
        ]
        if pairs:
            yield Finding(
                what=f"{listed([first for first, _ in pairs])}: the bias is cancelled by the BatchNorm after it",
                why="the norm subtracts the mean, including the bias",
                remedy="bias=False for these layers",
                where=model.where,
                evidence=(Evidence(name="useless_biases", value=len(pairs), limit="0"),),
                confidence=0.7,
            )


def _siblings(a: str, b: str) -> bool:
    """Neighbours in a Sequential: the same parent and consecutive numbers."""
    (parent, _, first), (other, _, second) = a.rpartition("."), b.rpartition(".")
    return parent == other and first.isdigit() and second.isdigit() and int(second) == int(first) + 1
