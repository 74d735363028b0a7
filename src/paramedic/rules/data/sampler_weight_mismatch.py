"""PM316."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.findings import Where
from paramedic.record.facts import Loader
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import argument_history, edited_at
from paramedic.rules.support import at
from paramedic.static.history import Link
from paramedic.static.program import statement_at

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


@rule(
    "PM316",
    "sampler-weight-mismatch",
    severity="error",
    needs=[Loader],
    causes=["PM207", "PM307", "PM319"],
    lasting=True,
)
def check(run: Run, *, torn: float = 0.01) -> Iterator[Finding]:
    """The sampler's weights or indices do not match the dataset.

    `WeightedRandomSampler` takes one weight per *sample*. Given one weight per class, it only ever draws the first few
    samples. Or there are as many weights as samples, but in another order: they were computed before the rows were
    shuffled or sorted.

    ## Why it hurts
    Nearly all of the data is never seen. The training loss goes to zero on the few samples that are, and validation
    stays at chance.

    ## What to try first
    `WeightedRandomSampler(class_weights[labels], num_samples=len(labels))`.

    ## When this is wrong
    Weights for only the first part of a dataset, to exclude the rest on purpose: use a `Subset` to make that explicit.
    Weights are compared with labels only if they are the inverse frequencies of exactly these classes.

    ## Options
    `torn`: share of the samples that must have the weight of another class.
    """
    for loader in run.facts(Loader):
        fit = loader.fit
        if fit is None or not fit.size:
            continue
        if fit.kind == "weights" and fit.entries != fit.size:
            what = f"WeightedRandomSampler got {fit.entries:,} weights for a dataset of {fit.size:,} samples"
            fewer = fit.entries < fit.size
            yield Finding(
                what=what,
                why=f"it draws positions in that list, so only samples 0 to {fit.entries - 1:,} are ever seen"
                if fewer
                else "it draws positions beyond the end of the dataset",
                remedy="give one weight per sample: weights = class_weights[labels]",
                where=at(loader, loader.sampler_at),
                evidence=(Evidence(name="weights", value=fit.entries, limit=f"{fit.size:,} samples"),),
                confidence=0.98,
            )
        elif fit.misplaced and fit.misplaced > torn * fit.size:
            yield Finding(
                what=f"{fit.misplaced:,} of {fit.size:,} samples have the sampler weight of another class",
                why="the weights are the inverse frequencies of these classes, but in another order than the samples, "
                "so batches are not balanced",
                remedy="compute the weights from the labels of the dataset itself, after it was shuffled or split",
                **edited_at(at(loader, loader.sampler_at), _weighed(run, at(loader, loader.sampler_at))),
                evidence=(Evidence(name="weights_of_another_class", value=fit.misplaced, limit="0"),),
                confidence=0.97,
            )
        elif fit.kind == "indices" and fit.highest is not None and fit.highest >= fit.size:
            yield Finding(
                what=f"SubsetRandomSampler draws index {fit.highest:,} of a dataset of {fit.size:,} samples",
                why="the indices belong to another dataset, or to the data before it was split",
                remedy="use indices into this dataset: the sampler indexes the loader's dataset",
                where=at(loader, loader.sampler_at),
                evidence=(Evidence(name="highest_index", value=fit.highest, limit=f"< {fit.size:,}"),),
                confidence=0.97,
            )


def _weighed(run: Run, where: Where) -> Link | None:
    """The statement that computes the weights, not one that takes them from a function beside other things."""
    links = argument_history(run, where, ["WeightedRandomSampler"], 0, "weights")
    return next((link for link in links if link.kind == "assigned" and not _is_unpacked(link)), None)


def _is_unpacked(link: Link) -> bool:
    """`train, valid, weights = prepare(table)`."""
    statement = statement_at(link.scope, link.line)
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple | ast.List)


# In an audit: the data itself, before any training.


def in_data(audit: Audit) -> Iterator[Finding]:
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
                remedy="use indices into this dataset",
                evidence=(Evidence(name="highest_index", value=highest, limit=f"< {size:,}"),),
                confidence=0.97,
                split=split.name,
            )
