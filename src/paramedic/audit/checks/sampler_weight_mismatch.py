"""PM316 in data: a loader's sampler that does not fit its dataset."""

from collections.abc import Iterator

from paramedic.audit.audit import Audit
from paramedic.audit.checks.check import check
from paramedic.findings import Evidence, Finding
from paramedic.rules.rule import Abstain


@check("PM316")
def sampler_weight_mismatch(audit: Audit) -> Iterator[Finding]:
    """One weight per sample, and indices that exist."""
    loaders = [split for split in audit.splits if split.source.kind == "loader" and split.source.size is not None]
    if not loaders:
        raise Abstain("no DataLoader was given")
    for split in loaders:
        sampler, size = getattr(split.source.origin, "sampler", None), len(split.source.origin.dataset)
        weights, indices = getattr(sampler, "weights", None), getattr(sampler, "indices", None)
        if weights is not None and len(weights) != size:
            yield Finding(
                what=f"the sampler of {split.name} got {len(weights):,} weights for {size:,} samples",
                why=f"it draws positions in that list, so only samples 0 to {len(weights) - 1:,} are ever seen"
                if len(weights) < size
                else "it draws positions beyond the end of the dataset",
                remedy="give one weight per sample: weights = class_weights[labels]",
                evidence=(Evidence(name="weights", value=len(weights), limit=f"{size:,} samples"),),
                confidence=0.98,
                split=split.name,
            )
        highest = max((int(index) for index in indices), default=-1) if indices is not None else -1
        if highest >= size:
            yield Finding(
                what=f"the sampler of {split.name} draws index {highest:,} of a dataset of {size:,} samples",
                why="the indices belong to another dataset, or to the data before it was split",
                remedy="use indices of this very dataset",
                evidence=(Evidence(name="highest_index", value=highest, limit=f"< {size:,}"),),
                confidence=0.97,
                split=split.name,
            )
