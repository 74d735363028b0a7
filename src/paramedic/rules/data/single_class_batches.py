"""PM319."""

from collections.abc import Iterator

from paramedic.record.facts import Batch, Labels, Loader, TrainForward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import label_batches


@rule("PM319", "single-class-batches", severity="warning", needs=[Loader, Batch, Labels], causes=["PM306"])
def check(run: Run, *, fewest: int = 6) -> Iterator[Finding]:
    """Each batch contains samples of one class only.

    ## Why it hurts
    Every step pulls the model towards one class, and BatchNorm sees statistics that no mixed batch has. The loss jumps
    from batch to batch.

    ## What to try first
    Shuffle the dataset, or use a batch sampler that mixes the classes.

    ## When this is wrong
    When single-class batches are intended, as in some continual-learning methods. Integers that are not the classes of
    a loss, such as lengths in batches of equal length or a task id, are not judged.

    ## Options
    `fewest`: fewest batches seen.
    """
    trained = {event.loader for event in run.facts(TrainForward)}
    judged = 0
    if not any(all(len(event.counts) == 1 for event in events) for events in label_batches(run)):
        return  # the loss sees several classes at a time, whatever the loader gives
    for loader in run.facts(Loader):
        # In the order of the data set itself, it is the data set that is sorted: PM306.
        if loader.number not in trained or (loader.sampler == "SequentialSampler" and not _own(loader)):
            continue
        batches = [b for b in run.facts(Batch) if b.loader == loader.number]
        found = [
            tensor.values
            for batch in batches
            for tensor in batch.tensors
            if "int" in tensor.dtype and len(tensor.shape) == 1 and tensor.shape[0] >= 4 and tensor.values
        ]
        judged += len(found) >= fewest
        if len(found) < fewest or len(found) > len(batches) or any(v.min != v.max for v in found):
            continue
        labels = {int(v.min) for v in found}
        if len(labels) > 1:
            yield Finding(
                what=f"all {len(found)} examined batches contain a single class each, of {len(labels)} classes seen",
                why="every step learns one class and forgets the others",
                remedy="mix the classes: DataLoader(..., shuffle=True), or a sampler that draws from all of them",
                where=loader.where,
                evidence=(Evidence(name="classes_per_batch", value=1, limit="> 1"),),
                confidence=0.9,
            )
    if not judged:
        raise Abstain("no batches with class labels were seen in training")


def _own(loader: Loader) -> bool:
    return bool(loader.own_batch_sampler)
