"""PM416."""

import math
from collections.abc import Iterator

from paramedic.record.facts import Ended, Loader, Model, ModuleCall, TrainForward
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import shape


@rule("PM416", "batchnorm-batch-of-one", severity="error", needs=[Model])
def check(run: Run, *, few: int = 16) -> Iterator[Finding]:
    """BatchNorm in training mode gets a batch of one sample.

    ## Why it hurts
    One value per channel has no variance: torch raises an error, usually after a whole epoch, when the loader's last
    batch has one sample. With small feature maps it does not crash, but a handful of values from one image give
    unreliable running statistics for eval().

    ## What to try first
    `DataLoader(..., drop_last=True)`, another batch size, or GroupNorm/LayerNorm if batches are that small.

    ## When this is wrong
    Nothing is reported with `drop_last=True`, in eval mode, or in models without BatchNorm. Nor is training on one
    image at a time if it has many values per channel, or if the layer is never used in eval mode: there BatchNorm
    normalises each image separately, as pix2pix does on purpose.

    ## Options
    `few`: values per channel of a single sample below which its statistics are considered too noisy.
    """
    if not any(module.norm for model in run.facts(Model) for module in model.modules):
        return
    loader = _guilty_loader(run)
    crash = run.first(Ended)
    if crash is not None and "Expected more than 1 value per channel" in crash.message:
        yield Finding(
            what="BatchNorm got one value per channel in training mode: " + crash.message.rpartition("got ")[2],
            why=_why(loader) if loader else "a single value has no variance to normalise with",
            remedy="drop_last=True in the DataLoader, or a batch size that does not leave a single sample over",
            where=loader.where if loader else crash.where,
            evidence=(Evidence(name="values_per_channel", value=1, limit="≥ 2"),),
            confidence=0.98,
        )
        return
    calls = [call for call in run.facts(ModuleCall) if call.norm]
    evaluated = {call.module for call in calls if not call.training}
    for call in calls:
        if call.training and call.grad and call.module in evaluated and _rough(call, few):
            yield Finding(
                what=f"{call.module} normalises {shape(call.inputs[0].shape)} in training: one sample at a time",
                why="the batch statistics come from a few values, so training and evaluation differ",
                remedy="larger batches, or GroupNorm/LayerNorm",
                where=call.where,
                severity="warning",
                evidence=(
                    Evidence(name="batch", value=1, limit="≥ 2"),
                    Evidence(name="values_per_channel", value=_values(call), limit=f"≥ {few}"),
                ),
                confidence=0.8,
            )
            return
    if loader is not None and not _epoch_done(run, loader):
        yield Finding(
            what=_why(loader),
            why="BatchNorm in training mode fails on a batch of one sample; that batch is the last of the epoch",
            remedy="drop_last=True in the DataLoader, or another batch size",
            where=loader.where,
            severity="warning",
            evidence=(Evidence(name="last_batch", value=1, limit="≥ 2"),),
            confidence=0.85,
        )


def _guilty_loader(run: Run) -> Loader | None:
    trained = {event.loader for event in run.facts(TrainForward)}
    for loader in run.facts(Loader):
        size, batch = loader.size, loader.batch_size
        keeps_all = not loader.drop_last and not loader.own_batch_sampler
        if loader.number in trained and keeps_all and size and batch and batch > 1 and size % batch == 1:
            return loader
    return None


def _why(loader: Loader) -> str:
    return f"{loader.size:,} samples in batches of {loader.batch_size} leave a last batch of 1"


def _epoch_done(run: Run, loader: Loader) -> bool:
    return bool(loader.size and loader.batch_size and run.steps >= loader.size // loader.batch_size + 1)


def _rough(call: ModuleCall, few: int) -> bool:
    """A single sample with too few values to estimate mean and variance."""
    sizes = call.inputs[0].shape if call.inputs else []
    return len(sizes) > 1 and sizes[0] == 1 and _values(call) < few


def _values(call: ModuleCall) -> int:
    sizes = call.inputs[0].shape
    return int(math.prod([sizes[0], *sizes[2:]]))
