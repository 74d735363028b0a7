"""PM408."""

from collections.abc import Iterator

from paramedic.record.facts import Chain, ModuleCall
from paramedic.rules import Evidence, Finding, Run, rule

_ON_PURPOSE = (
    "proj",
    "emb",
    "head",
    "lora",
    "adapter",
    "bottleneck",
    "down",
    "up",
    "reduce",
    "mix",
    "fuse",
    "to_",
    "expand",
)


@rule("PM408", "missing-nonlinearity", severity="warning", coverage=[ModuleCall])
def check(run: Run) -> Iterator[Finding]:
    """Two affine layers follow each other with nothing in between.

    ## Why it hurts
    Two matrices in a row are one matrix: the second layer adds parameters, but nothing that the first could not
    express. The network is shallower than it looks.

    ## What to try first
    Put an activation between them, or merge them into one layer.

    ## When this is wrong
    Factorisations through a narrow middle, projections, embeddings and heads are not reported if sizes or names show
    them; nor is an output that is also used elsewhere, as in graph attention.
    """
    for chain in run.facts(Chain):
        if chain.count < 2 or not _pointless(chain):
            continue
        first, second = chain.first_layer, chain.second_layer
        sizes = f"{first.in_} → {first.out} → {second.out}"
        yield Finding(
            what=f"the output of {chain.first} goes straight into {chain.module} ({sizes})",
            why="without an activation in between, the two layers can do no more than one",
            remedy="put an activation between them, such as torch.relu",
            where=chain.where,
            evidence=(Evidence(name="operations_between", value=0, limit="≥ 1"),),
            confidence=0.85,
        )


def _pointless(chain: Chain) -> bool:
    first, second = chain.first_layer, chain.second_layer
    if first.class_ != second.class_ or first.groups > 1 or second.groups > 1:
        return False
    if first.class_ != "Linear" and (first.kernel == 1 or second.kernel == 1):
        return False
    if first.out < min(first.in_, second.out):
        return False  # a narrow middle
    names = (chain.first.lower(), (chain.module or "").lower())
    parents = {name.rpartition(".")[0] for name in names}
    last = [name.rpartition(".")[2] for name in names]
    return len(parents) == 1 and not any(word in name for word in _ON_PURPOSE for name in last)
