"""PM316."""

from collections.abc import Iterator

from paramedic.record.facts import Loader
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import at


@rule("PM316", "sampler-weight-mismatch", severity="error", needs=[Loader], causes=["PM207", "PM307", "PM319"])
def check(run: Run) -> Iterator[Finding]:
    """A sampler whose weights or indices do not match the dataset.

    `WeightedRandomSampler` wants one weight per *sample*. With one weight per class it only ever draws the first few
    samples.

    ## Why it hurts
    Nearly all of the data is never seen. The training loss goes to zero on the few samples that are, and the validation
    stays at chance.

    ## What to try first
    `WeightedRandomSampler(class_weights[labels], num_samples=len(labels))`.

    ## When this is wrong
    Weights for the first part of a dataset only, so that the rest is left out on purpose: use a `Subset`, which says
    so.
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
        elif fit.kind == "indices" and fit.highest is not None and fit.highest >= fit.size:
            yield Finding(
                what=f"SubsetRandomSampler draws index {fit.highest:,} of a dataset of {fit.size:,} samples",
                why="the indices belong to another dataset, or to the data before it was split",
                remedy="use indices of this very dataset: the sampler's indices apply to the dataset of the loader",
                where=at(loader, loader.sampler_at),
                evidence=(Evidence(name="highest_index", value=fit.highest, limit=f"< {fit.size:,}"),),
                confidence=0.97,
            )
